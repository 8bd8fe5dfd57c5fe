//! Goals: amounts that the person saves or pays off, and the progress of each.

use std::collections::{BTreeSet, HashMap};

use base::draft::AccountKind;
use base::{AccountId, Currency, Date, GoalId, Money, Timestamp, words};
use calc::goals::{GoalInput, allocate};
pub use calc::goals::{Projection, project};
use db::params;
use webhooks::outbox;
use wire::json::{Day, Number};
use wire::v1::{self, Event, Scope};

use crate::ledger::spans::{Span, sample_days};
use crate::ledger::{accounts, balances, net_worth, rates};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result, Tx};

words!(
    /// In the order in which lists show them.
    Status { Active => "active", Paused => "paused", Completed => "completed", Cancelled => "cancelled" }
);
words!(Kind {
    Savings => "savings",
    EmergencyFund => "emergency_fund",
    DebtPayoff => "debt_payoff",
    Purchase => "purchase",
    Retirement => "retirement",
    NetWorth => "net_worth",
    Custom => "custom",
});
db::word_columns!(Kind, Status);

#[derive(Debug, Clone)]
pub struct Goal {
    pub id: GoalId,
    pub name: String,
    pub kind: Kind,
    pub status: Status,
    pub currency: Currency,
    pub target_minor: i64,
    /// None if it is not known.
    pub current_minor: Option<i64>,
    pub target_on: Option<Date>,
    /// The number of linked accounts that are not hidden.
    pub account_count: usize,
    /// The currencies whose missing exchange rate leaves amounts out of a net worth goal, or makes its value unknown.
    pub missing_rates: Vec<Currency>,
}

impl Goal {
    /// The progress in whole percent, at most 100. None if it is not known.
    pub fn percent_reached(&self) -> Option<i64> {
        let current = i128::from(self.current_minor?.max(0));
        Some((current * 100 / i128::from(self.target_minor.max(1))).min(100) as i64)
    }
}

impl From<&Goal> for v1::Goal {
    fn from(goal: &Goal) -> v1::Goal {
        let money = |minor| Number::from(Money::new(minor, goal.currency));
        v1::Goal {
            id: goal.id.to_string(),
            name: goal.name.clone(),
            goal_type: goal.kind.as_str(),
            status: goal.status.as_str(),
            currency: goal.currency.to_string(),
            target_amount: money(goal.target_minor),
            current_value: goal.current_minor.map(money),
            target_date: goal.target_on.map(Day),
        }
    }
}

#[derive(Debug, Clone)]
pub struct NewGoal {
    pub name: String,
    pub kind: Kind,
    pub status: Status,
    pub target: Money,
    /// The amount saved outside of linked accounts.
    pub saved_minor: i64,
    pub target_on: Option<Date>,
    pub accounts: Vec<AccountId>,
}

/// Goals by status, then by target date, those without a date last. Hidden accounts do not count.
pub async fn list(app: &App, caller: &Caller, status: Option<Status>) -> Result<Vec<Goal>> {
    caller.require(Scope::GoalsRead)?;
    let mut rows = app.db.all(LIST, params![caller.user], read).await?;
    let mut links = linked_balances(app, caller).await?;
    // A key that may not see an account must not learn its balance from a goal, or from the share left to other goals.
    rows.retain(|row| links.of(row.goal.id).iter().all(|link| caller.may_see(link.account_id)));
    links.0.values_mut().for_each(|of_goal| of_goal.retain(|it| !it.is_hidden));
    add_missing_starts(app, caller, &rows, &mut links).await?;
    let mut goals = with_progress(rows, &links);
    add_net_worth(app, caller, &mut goals).await?;
    goals.retain(|goal| status.is_none_or(|only| goal.status == only));
    goals.sort_by_key(|it| (it.status, it.target_on.is_none(), it.target_on, it.id));
    Ok(goals)
}

/// Reads from the history of an account what was owed when a debt goal began, where it was not known at that time.
async fn add_missing_starts(
    app: &App,
    caller: &Caller,
    rows: &[GoalRow],
    links: &mut Links,
) -> Result<()> {
    let mut missing: Vec<(GoalId, AccountId, Date)> = Vec::new();
    for row in rows.iter().filter(|it| it.goal.kind == Kind::DebtPayoff) {
        let began = caller.timezone.date_at(row.created_at);
        let unknown = links.of(row.goal.id).iter().filter(|it| it.start_minor.is_none());
        missing.extend(unknown.map(|it| (row.goal.id, it.account_id, began)));
    }
    for (goal, account, began) in missing {
        let start_minor = balances::on_day(app, caller, account, began).await?;
        let links = links.0.get_mut(&goal).into_iter().flatten();
        links.filter(|it| it.account_id == account).for_each(|it| it.start_minor = start_minor);
    }
    Ok(())
}

/// Sets the value of net worth goals, in their own currency. It is the net worth that the caller sees.
async fn add_net_worth(app: &App, caller: &Caller, goals: &mut [Goal]) -> Result<()> {
    if goals.iter().all(|it| it.kind != Kind::NetWorth) {
        return Ok(());
    }
    let worth = net_worth::current(app, caller).await?;
    let rates = rates::latest(app, caller, worth.currency).await?;
    for goal in goals.iter_mut().filter(|it| it.kind == Kind::NetWorth) {
        let convert = |minor| rates.convert(minor, worth.currency, goal.currency);
        goal.current_minor = worth.minor().and_then(convert);
        goal.missing_rates = worth.excluded.iter().map(|it| it.currency).collect();
        let is_unknown = goal.current_minor.is_none() && worth.minor().is_some();
        goal.missing_rates.extend(is_unknown.then_some(goal.currency));
    }
    Ok(())
}

/// The value of a goal over time, oldest first, from the balances of its accounts on each day. Its savings elsewhere
/// count as they are now, and a debt since the goal began.
pub async fn history(app: &App, caller: &Caller, id: GoalId) -> Result<Vec<(Date, i64)>> {
    let goal = list(app, caller, None).await?.into_iter().find(|it| it.id == id);
    let goal = goal.ok_or(Error::NotFound("goal"))?;
    let today = app.today(caller);
    if goal.kind == Kind::NetWorth {
        let series = net_worth::series(app, caller, Span::Year).await?;
        let fits = series.currency == goal.currency;
        return Ok(series.points.iter().filter(|_| fits).map(|it| (it.on, it.minor)).collect());
    }
    let rows = app.db.all(LIST, params![caller.user], read).await?;
    let mut links = linked_balances(app, caller).await?;
    links
        .0
        .values_mut()
        .for_each(|it| it.retain(|link| !link.is_hidden && caller.may_see(link.account_id)));
    add_missing_starts(app, caller, &rows, &mut links).await?;
    let began = rows.iter().find(|it| it.goal.id == id).map(|it| it.created_at);
    let year_ago = Span::Year.start(today).unwrap_or(today);
    let start = match (goal.kind, began) {
        (Kind::DebtPayoff, Some(at)) => caller.timezone.date_at(at).max(year_ago),
        _ => year_ago,
    };
    let days = sample_days(start, today);
    let accounts: BTreeSet<AccountId> =
        links.0.values().flatten().map(|it| it.account_id).collect();
    let mut balances: HashMap<(AccountId, Date), i64> = HashMap::new();
    let mut linked = accounts::list_all(app, caller).await?;
    linked.retain(|it| accounts.contains(&it.id));
    let histories = balances::read_histories(app, caller, &linked, Some(start)).await?;
    for (account, history) in linked.iter().zip(&histories) {
        for day in calc::balances::on_days(history, days.iter().copied()) {
            balances.insert((account.id, day.on), day.current_minor);
        }
    }
    let mut values = Vec::new();
    for on in days {
        for link in links.0.values_mut().flatten() {
            link.current_minor = balances.get(&(link.account_id, on)).copied();
        }
        let goals = with_progress(rows.clone(), &links);
        let value = goals.iter().find(|it| it.id == id).and_then(|it| it.current_minor);
        values.extend(value.map(|it| (on, it)));
    }
    Ok(values)
}

/// Deletes a goal. Its accounts stay as they are.
pub async fn delete(app: &App, caller: &Caller, id: GoalId) -> Result<()> {
    caller.require_owner("goal")?;
    let (mine, caller) = (app.clone(), caller.clone());
    let delete = move |tx: &mut Tx<'_>| {
        let now = mine.clock.now();
        let name = tx.first(NAME, params![caller.user, id], |row| row.get::<String>(0))?;
        let name = name.ok_or(Error::NotFound("goal"))?;
        tx.execute(DELETE, params![caller.user, id])?;
        announce(&mine, tx, &caller, id, Status::Cancelled)?;
        let details = format!("Deleted the goal {name}");
        audit::note(tx, caller.user, now, Note::new(&caller, "goal.delete", details).about(id))
    };
    app.db.write(delete).await
}

pub async fn create(app: &App, caller: &Caller, new: NewGoal) -> Result<GoalId> {
    caller.require_owner("goal")?;
    let (app, caller) = (app.clone(), caller.clone());
    let db = app.db.clone();
    db.write(move |tx| create_in(&app, tx, &caller, &new)).await
}

/// Creates a goal inside a transaction.
pub fn create_in(app: &App, tx: &mut Tx<'_>, caller: &Caller, new: &NewGoal) -> Result<GoalId> {
    let name = checked_name(new)?;
    let (id, now): (GoalId, Timestamp) = (app.ids.make(), app.clock.now());
    tx.execute(
        INSERT,
        params![
            caller.user,
            id,
            name,
            new.kind.as_str(),
            new.status.as_str(),
            new.target.currency().code(),
            new.target.minor(),
            new.saved_minor,
            new.target_on,
            now
        ],
    )?;
    for account in new.accounts.iter().collect::<BTreeSet<_>>() {
        link(tx, caller, id, *account)?;
    }
    announce(app, tx, caller, id, new.status)?;
    let note = Note::new(caller, "goal.create", format!("Created the goal {name}")).about(id);
    audit::note(tx, caller.user, now, note)?;
    Ok(id)
}

/// A goal with everything that the person can edit.
#[derive(Debug, Clone)]
pub struct Details {
    pub goal: Goal,
    pub saved_minor: i64,
    pub accounts: Vec<AccountId>,
}

pub async fn get(app: &App, caller: &Caller, id: GoalId) -> Result<Details> {
    let goals = list(app, caller, None).await?;
    let goal = goals.into_iter().find(|it| it.id == id).ok_or(Error::NotFound("goal"))?;
    let rows = app.db.all(LIST, params![caller.user], read).await?;
    let saved_minor = rows.iter().find(|it| it.goal.id == id).map_or(0, |it| it.saved_minor);
    let links = linked_balances(app, caller).await?;
    let accounts = links.of(id).iter().map(|it| it.account_id).collect();
    Ok(Details { goal, saved_minor, accounts })
}

/// Replaces the contents of a goal. Its currency cannot change, because the saved amount is in it.
pub async fn update(app: &App, caller: &Caller, id: GoalId, new: NewGoal) -> Result<()> {
    caller.require_owner("goal")?;
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| update_in(&mine, tx, &caller, id, &new)).await
}

fn update_in(app: &App, tx: &mut Tx<'_>, caller: &Caller, id: GoalId, new: &NewGoal) -> Result<()> {
    let name = checked_name(new)?;
    let (now, currency) = (app.clock.now(), new.target.currency());
    let values = params![
        caller.user,
        id,
        name,
        new.kind.as_str(),
        new.status.as_str(),
        new.target.minor(),
        new.saved_minor,
        new.target_on,
        now,
        currency.code()
    ];
    if tx.execute(UPDATE, values)? == 0 {
        return Err(Error::NotFound("goal"));
    }
    let chosen: BTreeSet<AccountId> = new.accounts.iter().copied().collect();
    let linked = tx.all(LINKED, params![caller.user, id], |row| row.get(0))?;
    let linked: BTreeSet<AccountId> = linked.into_iter().collect();
    for account in linked.difference(&chosen) {
        tx.execute(UNLINK, params![caller.user, id, *account])?;
    }
    // An account that stays linked keeps the balance at its start.
    for account in chosen.difference(&linked) {
        link(tx, caller, id, *account)?;
    }
    announce(app, tx, caller, id, new.status)?;
    let note = Note::new(caller, "goal.update", format!("Changed the goal {name}")).about(id);
    audit::note(tx, caller.user, now, note)
}

/// Sets the status of a goal: pauses, resumes, completes or cancels it.
pub async fn set_status(app: &App, caller: &Caller, id: GoalId, status: Status) -> Result<()> {
    caller.require_owner("goal")?;
    let (mine, caller) = (app.clone(), caller.clone());
    let save = move |tx: &mut Tx<'_>| {
        let now = mine.clock.now();
        if tx.execute(SET_STATUS, params![caller.user, id, status.as_str(), now])? == 0 {
            return Err(Error::NotFound("goal"));
        }
        announce(&mine, tx, &caller, id, status)?;
        let details = format!("Set a goal to {}", status.as_str());
        audit::note(tx, caller.user, now, Note::new(&caller, "goal.update", details).about(id))
    };
    app.db.write(save).await
}

fn announce(app: &App, tx: &mut Tx<'_>, caller: &Caller, id: GoalId, status: Status) -> Result<()> {
    let event = Event::GoalUpdated { goal_id: id.to_string(), status: status.as_str() };
    Ok(outbox::append(&app.webhooks, tx, caller.user, &[event])?)
}

/// Checks a goal, and returns its trimmed name.
fn checked_name(new: &NewGoal) -> Result<&str> {
    let name = new.name.trim();
    if name.is_empty() || name.chars().count() > 80 || name.contains(char::is_control) {
        return Err(Error::invalid("name", "name must have 1 to 80 characters on one line"));
    }
    if new.target.minor() <= 0 {
        return Err(Error::invalid("target_amount", "target_amount must be more than zero"));
    }
    if new.saved_minor < 0 {
        return Err(Error::invalid("saved_amount", "saved_amount must not be negative"));
    }
    Ok(name)
}

/// Links an account to a goal. Its balance now is the start of paying it off.
fn link(tx: &mut Tx<'_>, caller: &Caller, id: GoalId, account: AccountId) -> Result<()> {
    if tx.execute(LINK, params![caller.user, id, account])? == 0 {
        return Err(Error::invalid("accounts", "accounts names an unknown account"));
    }
    Ok(())
}

#[derive(Clone)]
struct GoalRow {
    goal: Goal,
    saved_minor: i64,
    created_at: Timestamp,
}

struct Link {
    account_id: AccountId,
    kind: AccountKind,
    currency: Currency,
    /// None if no balance is known.
    current_minor: Option<i64>,
    start_minor: Option<i64>,
    is_hidden: bool,
}

/// Computes the progress of each goal: its share of the linked accounts, or for a debt the amount paid off since the
/// start. Goals with the earliest target date get their share first, cancelled ones last. Accounts in another currency
/// than the goal do not count. Net worth goals are left without a value.
fn with_progress(mut rows: Vec<GoalRow>, links: &Links) -> Vec<Goal> {
    rows.sort_by_key(|GoalRow { goal, .. }| {
        (goal.status == Status::Cancelled, goal.target_on.is_none(), goal.target_on, goal.id)
    });
    let is_saving = |row: &GoalRow| !matches!(row.goal.kind, Kind::DebtPayoff | Kind::NetWorth);
    let saving: Vec<usize> = (0..rows.len()).filter(|it| is_saving(&rows[*it])).collect();
    let input = |row: &GoalRow| GoalInput {
        target_minor: row.goal.target_minor,
        saved_minor: row.saved_minor,
        accounts: links.counted(&row.goal).filter_map(known_worth).collect(),
    };
    let shares = allocate(&saving.iter().map(|it| input(&rows[*it])).collect::<Vec<_>>());
    for (index, minor) in saving.into_iter().zip(shares) {
        let row = &mut rows[index];
        let counted: Vec<&Link> = links.counted(&row.goal).collect();
        let is_unknown = !counted.is_empty() && counted.iter().all(|it| it.current_minor.is_none());
        row.goal.current_minor = (!is_unknown || row.saved_minor > 0).then_some(minor);
    }
    for row in rows.iter_mut().filter(|it| it.goal.kind == Kind::DebtPayoff) {
        let paid = |it: &Link| Some((it.start_minor? - it.current_minor?).max(0));
        let paid: Option<i64> = links.counted(&row.goal).map(paid).sum();
        row.goal.current_minor = paid.map(|it| (row.saved_minor + it).min(row.goal.target_minor));
    }
    for row in &mut rows {
        row.goal.account_count = links.of(row.goal.id).len();
    }
    rows.into_iter().map(|it| it.goal).collect()
}

/// An account's balance as it counts for a goal, negative for a debt.
fn known_worth(link: &Link) -> Option<(AccountId, i64)> {
    let balance = link.current_minor?;
    Some((link.account_id, if link.kind.is_debt() { -balance } else { balance }))
}

#[derive(Default)]
struct Links(HashMap<GoalId, Vec<Link>>);

impl Links {
    fn of(&self, goal: GoalId) -> &[Link] {
        self.0.get(&goal).map_or(&[], Vec::as_slice)
    }

    /// The linked accounts in the goal's currency.
    fn counted(&self, goal: &Goal) -> impl Iterator<Item = &Link> {
        self.of(goal.id).iter().filter(move |it| it.currency == goal.currency)
    }
}

async fn linked_balances(app: &App, caller: &Caller) -> Result<Links> {
    let mut links = Links::default();
    app.db
        .each(LINKS, params![caller.user], |row| {
            let link = Link {
                kind: row.word(1, "account kind", AccountKind::parse)?,
                currency: row.get(2)?,
                current_minor: row.get(3)?,
                start_minor: row.get(4)?,
                account_id: row.get(5)?,
                is_hidden: row.get::<Option<i64>>(6)?.is_some(),
            };
            links.0.entry(row.get(0)?).or_default().push(link);
            Ok(())
        })
        .await?;
    Ok(links)
}

fn read(row: &db::Row<'_>) -> db::Result<GoalRow> {
    let goal = Goal {
        id: row.get(0)?,
        name: row.get(1)?,
        kind: row.get(2)?,
        status: row.get(3)?,
        currency: row.get(4)?,
        target_minor: row.get(5)?,
        current_minor: None,
        target_on: row.get(7)?,
        account_count: 0,
        missing_rates: Vec::new(),
    };
    Ok(GoalRow { goal, saved_minor: row.get(6)?, created_at: row.get(8)? })
}

const LIST: &str =
    "select id, name, goal_type, status, currency, target_minor, saved_minor, target_on,
    created_at from goals where user_id = $1";
const INSERT: &str =
    "insert into goals (user_id, id, name, goal_type, status, currency, target_minor,
    saved_minor, target_on, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)";
const UPDATE: &str = "update goals set name = $3, goal_type = $4, status = $5, target_minor = $6,
    saved_minor = $7, target_on = $8, updated_at = $9
    where user_id = $1 and id = $2 and currency = $10";
const SET_STATUS: &str =
    "update goals set status = $3, updated_at = $4 where user_id = $1 and id = $2";
const LINKED: &str = "select account_id from goal_accounts where user_id = $1 and goal_id = $2";
const UNLINK: &str =
    "delete from goal_accounts where user_id = $1 and goal_id = $2 and account_id = $3";
const LINK: &str = "insert into goal_accounts (user_id, goal_id, account_id, start_minor)
    select user_id, $2, id, balance_current_minor from accounts where user_id = $1 and id = $3";
const LINKS: &str =
    "select g.goal_id, a.kind, a.currency, a.balance_current_minor, g.start_minor, a.id, a.hidden_at
    from goal_accounts g join accounts a on a.user_id = g.user_id and a.id = g.account_id
    where g.user_id = $1";

const NAME: &str = "select name from goals where user_id = $1 and id = $2";
const DELETE: &str = "delete from goals where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] =
    &[LIST, INSERT, UPDATE, SET_STATUS, LINKED, UNLINK, LINK, LINKS, NAME, DELETE];
