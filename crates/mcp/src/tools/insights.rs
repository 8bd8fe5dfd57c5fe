//! Tools for figures that are computed from transactions: recurring streams, income, scores, goals and card benefits.

use base::Fixed9;
use serde::Serialize;
use service::Result;
use service::insights::recurring::{self, Filter, Status};
use service::insights::{benefits, income, scores};
use service::ledger::{Direction, goals};
use wire::json::Number;
use wire::v1::{self, Scope};

use crate::arguments::{Argument, Takes};
use crate::object::{Object, project};
use crate::tool::Type::{
    List, Number as Digits, Object as Record, OptionalNumber, OptionalText, Text,
};
use crate::tool::{ACCOUNT_ID, CURSOR, Call, Kind, Needs, Tool};

const STREAM_FIELDS: &[&str] = &[
    "id",
    "name",
    "account_id",
    "account_name",
    "currency",
    "cash_flow_direction",
    "stream_type",
    "category_label",
    "frequency",
    "status",
    "confidence",
    "average_amount",
    "last_amount",
    "monthly_amount",
    "first_date",
    "last_date",
    "next_expected_date",
    "occurrence_count",
    "transaction_ids",
    "price_changes",
    "missed_dates",
];
const STREAM_DEFAULT: &[&str] = &[
    "id",
    "name",
    "currency",
    "cash_flow_direction",
    "stream_type",
    "frequency",
    "status",
    "last_amount",
    "monthly_amount",
    "next_expected_date",
    "price_changes",
];

pub(super) static LIST_RECURRING: Tool = Tool {
    name: "list_recurring",
    title: "Recurring payments",
    description: "Paychecks, bills and subscriptions, with totals for an average month. Amounts are positive; \
        cash_flow_direction says which way.",
    needs: Needs::All(&[Scope::RecurringRead]),
    kind: Kind::Reads,
    arguments: &[
        Argument::optional(
            "status",
            Takes::OneOf(&["active", "ended", "all"]),
            "active by default",
        ),
        Argument::optional("direction", Takes::OneOf(&["inflow", "outflow"]), ""),
        ACCOUNT_ID,
        Argument::optional("fields", Takes::SomeOf(STREAM_FIELDS), ""),
        CURSOR,
    ],
    output: &[
        ("as_of", Text),
        ("totals", Record),
        ("streams", List),
        ("next_cursor", OptionalText),
        ("note", Text),
    ],
    call: |call| Box::pin(list_recurring(call)),
};

async fn list_recurring(call: &Call<'_>) -> Result<Object> {
    let filter = Filter {
        status: match call.arguments.text("status")?.as_deref() {
            Some("all") => None,
            Some("ended") => Some(Status::Ended),
            _ => Some(Status::Active),
        },
        account_id: call.arguments.id("account_id")?,
        direction: call.arguments.text("direction")?.as_deref().and_then(Direction::parse),
    };
    let fields = call.arguments.some_of("fields", STREAM_DEFAULT)?;
    let listed = recurring::list(call.app, call.caller, filter).await?;
    let shown = v1::Recurring::from(&listed);
    let mut object = Object::new();
    object.put("as_of", &shown.as_of)?;
    object.put("totals", &shown.totals)?;
    call.put_list(&mut object, "streams", &shown.streams, |it| project(it, &fields))?;
    Ok(object)
}

pub(super) static GET_INCOME: Tool = Tool {
    name: "get_income",
    title: "Income",
    description: "Monthly income and how it is used: expenses, debt, emergency fund, investments. All amounts are monthly, \
        in the base currency.",
    needs: Needs::All(&[Scope::IncomeRead]),
    kind: Kind::Reads,
    arguments: &[],
    output: &[
        ("generated_at", Text),
        ("window", Record),
        ("monthly_income", OptionalNumber),
        ("variability", Record),
        ("expenses", Record),
        ("debt", Record),
        ("emergency_fund", Record),
        ("investments", Record),
        ("unallocated", OptionalNumber),
        ("unclassified", OptionalNumber),
        ("excluded", List),
    ],
    call: |call| Box::pin(get_income(call)),
};

async fn get_income(call: &Call<'_>) -> Result<Object> {
    Object::of(&income::get(call.app, call.caller).await?)
}

pub(super) static GET_SCORES: Tool = Tool {
    name: "get_scores",
    title: "Scores",
    description: "Financial health scores from 0 to 100 with their reasons and what would raise them. They are no credit \
        scores.",
    needs: Needs::All(&[Scope::ScoresRead]),
    kind: Kind::Reads,
    arguments: &[],
    output: &[
        ("observation_date", Text),
        ("evenkeel", Digits),
        ("recovery", Digits),
        ("capacity", Digits),
        ("baseline", Digits),
        ("band", Text),
        ("reasons", List),
        ("largest_drag", OptionalText),
        ("next_steps", List),
        ("coverage", Text),
    ],
    call: |call| Box::pin(get_scores(call)),
};

#[derive(Serialize)]
struct Reason<'a> {
    component: &'a str,
    part: &'a str,
    text: &'a str,
    points: Number,
    lost: Number,
}

async fn get_scores(call: &Call<'_>) -> Result<Object> {
    let observed = scores::get(call.app, call.caller).await?;
    let points = |hundredths: i64| {
        Number::from(Fixed9::from_billionths(i128::from(hundredths) * 10_000_000))
    };
    let why = &observed.explanation;
    let reasons: Vec<Reason<'_>> = why
        .reasons
        .iter()
        .map(|it| Reason {
            component: &it.component,
            part: &it.part,
            text: &it.text,
            points: points(it.points_hundredths),
            lost: points(it.lost_hundredths),
        })
        .collect();
    let mut object = Object::of(&v1::Scores::from(&observed))?;
    object.put("band", &why.band)?;
    object.put("reasons", &reasons)?;
    object.put("largest_drag", &why.largest_drag)?;
    object.put("next_steps", &why.next_steps)?;
    object.put("coverage", &why.coverage)?;
    Ok(object)
}

pub(super) static LIST_GOALS: Tool = Tool {
    name: "list_goals",
    title: "Goals",
    description: "Saving and debt goals with how far they are.",
    needs: Needs::All(&[Scope::GoalsRead]),
    kind: Kind::Reads,
    arguments: &[
        Argument::optional(
            "status",
            Takes::OneOf(&["active", "paused", "completed", "cancelled"]),
            "",
        ),
        CURSOR,
    ],
    output: &[("goals", List), ("next_cursor", OptionalText), ("note", Text)],
    call: |call| Box::pin(list_goals(call)),
};

async fn list_goals(call: &Call<'_>) -> Result<Object> {
    let status = call.arguments.text("status")?.as_deref().and_then(goals::Status::parse);
    let found = goals::list(call.app, call.caller, status).await?;
    let mut object = Object::new();
    let write = |it: &goals::Goal| project(&v1::Goal::from(it), GOAL_FIELDS);
    call.put_list(&mut object, "goals", &found, write)?;
    Ok(object)
}

const GOAL_FIELDS: &[&str] = &[
    "id",
    "name",
    "goal_type",
    "status",
    "currency",
    "target_amount",
    "current_value",
    "target_date",
];

const BENEFIT_FIELDS: &[&str] = &[
    "id",
    "account_name",
    "name",
    "description",
    "category",
    "benefit_type",
    "frequency",
    "currency",
    "total_amount",
    "used_amount",
    "remaining_amount",
    "expires_on",
    "days_until_expiry",
    "status",
    "activation_required",
    "activated",
    "observable",
];
const BENEFIT_DEFAULT: &[&str] = &[
    "account_name",
    "name",
    "frequency",
    "currency",
    "total_amount",
    "remaining_amount",
    "expires_on",
    "status",
    "activation_required",
    "activated",
];

pub(super) static LIST_BENEFITS: Tool = Tool {
    name: "list_benefits",
    title: "Card benefits",
    description: "Credits and perks of the person's cards in their current period, with what is left.",
    needs: Needs::All(&[Scope::BenefitsRead]),
    kind: Kind::Reads,
    arguments: &[
        Argument::optional(
            "expiring_in_days",
            Takes::Whole { least: 1, most: 365, default: None },
            "Only those with something left that end within as many days.",
        ),
        Argument::optional("fields", Takes::SomeOf(BENEFIT_FIELDS), ""),
        CURSOR,
    ],
    output: &[
        ("totals", Record),
        ("benefits", List),
        ("next_cursor", OptionalText),
        ("note", Text),
    ],
    call: |call| Box::pin(list_benefits(call)),
};

async fn list_benefits(call: &Call<'_>) -> Result<Object> {
    let fields = call.arguments.some_of("fields", BENEFIT_DEFAULT)?;
    let mut object = Object::new();
    let rows: Vec<v1::Benefit> = match call.arguments.whole("expiring_in_days")? {
        Some(days) => {
            let found = benefits::expiring(call.app, call.caller, days).await?;
            let mut totals = Object::new();
            totals.put("count", &found.count)?;
            totals.put("remaining_amount", &found.remaining_amount)?;
            totals.put("excluded", &found.excluded)?;
            object.put_json("totals", totals.finish()?.as_bytes());
            found.benefits
        }
        None => {
            let found = benefits::summary(call.app, call.caller).await?;
            object.put("totals", &found.totals)?;
            found.cards.into_iter().flat_map(|it| it.benefits).collect()
        }
    };
    call.put_list(&mut object, "benefits", &rows, |it| project(it, &fields))?;
    Ok(object)
}
