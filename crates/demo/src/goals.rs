//! The demo user, and the household's goals: one of every kind and status.

use base::{Currency, Date, date_from_days};

use super::accounts::Account;
use super::calendar::add_months;
use super::world::World;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub email: String,
    pub preferred_name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalSeed {
    pub name: &'static str,
    /// savings, emergency_fund, debt_payoff, purchase, retirement, net_worth or custom.
    pub goal_type: &'static str,
    /// active, paused, completed or cancelled.
    pub status: &'static str,
    pub currency: Currency,
    pub target_minor: i64,
    pub target_on: Option<Date>,
    /// External ids of the accounts that count towards it.
    pub account_external_ids: Vec<String>,
}

pub(super) fn person(world: &World) -> Person {
    let name = world.people.first;
    Person {
        email: format!("{}@example.com", name.to_lowercase()),
        preferred_name: name.to_owned(),
    }
}

pub(super) fn goals(world: &World) -> Vec<GoalSeed> {
    let owed = -world.balance(Account::CarLoan, world.today);
    let emergency: &[Account] = &[Account::HighYield, Account::Savings];
    let goal = |name, goal_type, status, target_minor, months: Option<i32>, linked: &[Account]| {
        let id = |it: &Account| world.identity(*it).external_id.clone();
        GoalSeed {
            name,
            goal_type,
            status,
            currency: linked.first().map_or(Currency::USD, |it| it.currency()),
            target_minor,
            target_on: months.map(|it| date_from_days(add_months(world.today, it))),
            account_external_ids: linked.iter().map(id).collect(),
        }
    };
    vec![
        goal("Six months in hand", "emergency_fund", "active", 42_000_00, Some(14), emergency),
        goal("Pay off the car", "debt_payoff", "active", owed, Some(30), &[Account::CarLoan]),
        goal("Back to Lisbon", "purchase", "active", 2_400_00, Some(9), &[Account::Euro]),
        goal(
            "Retire at 62",
            "retirement",
            "active",
            850_000_00,
            Some(312),
            &[Account::Retirement, Account::Roth],
        ),
        goal("A quarter million", "net_worth", "active", 250_000_00, Some(48), &[]),
        goal("New laptop", "savings", "completed", 1_500_00, Some(-4), &[Account::Savings]),
        goal("Piano lessons", "custom", "paused", 900_00, None, &[]),
        goal("Kitchen remodel", "purchase", "cancelled", 18_000_00, Some(20), &[Account::Savings]),
        goal("Anniversary surprise", "savings", "active", 2_000_00, Some(5), &[Account::Gifts]),
    ]
}
