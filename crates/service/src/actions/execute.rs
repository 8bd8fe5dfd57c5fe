//! Carrying out what was approved: once, in one transaction with its effects, its event and its entry in the trail. A
//! process that dies on the way has done all of it or nothing; what it has not done, the background step does.

use base::{ActionId, PaperAccountId, Timestamp, UserId};
use calc::paper::Side;
use db::params;
use serde_json::{Value, json};
use sources::market::calendar::Hours;
use wire::v1::{Code, Event};

use super::propose::too_many_accounts;
use super::{Action, Kind, Status, What, decide, fixes, read};
use crate::audit::{self, Actor, Note};
use crate::paper::orders::Order;
use crate::paper::{self, usd};
use crate::quotes::{self, Priced, WhenClosed};
use crate::{App, Caller, Error, Result, Tx, outbox};

/// What one background step takes on; the next one comes a second later.
const STEP_MAX: i64 = 200;
/// How long a trade waits for a price while the market is open.
const PATIENCE_SECONDS: i64 = 900;

/// What is to happen with an approved action now.
enum Plan {
    Execute(Option<Priced>),
    /// The market is closed: put cash aside and wait for the opening.
    Queue {
        opens_at: Timestamp,
        price: base::Fixed9,
    },
    /// No price yet; the next step asks again.
    Wait,
    Fail(Failure),
}

struct Failure {
    code: &'static str,
    message: String,
}

/// What was done: for the proposer, for the trail, and for taking it back.
struct Done {
    result: Value,
    said: String,
    inverse: Option<String>,
}

/// Carries out what is approved and due; a background step.
pub async fn execute_once(app: &App) -> Result<usize> {
    let due = due(app, "approved").await?;
    for (user, id) in &due {
        // One that cannot be carried out must not keep the others waiting.
        if let Err(error) = attempt(app, *user, *id).await {
            tracing::warn!(%id, %error, "an approved action could not be carried out yet");
        }
    }
    Ok(due.len())
}

/// Writes down whose time is over; a background step. Nothing depends on it being on time.
pub async fn expire_once(app: &App) -> Result<usize> {
    let mut count = 0;
    for (user, id) in due(app, "pending_approval").await? {
        let mine = app.clone();
        let expired = app.db.write(move |tx| decide::expire(&mine, tx, user, id)).await?;
        count += usize::from(expired);
    }
    if count > 0 {
        app.bell.ring();
    }
    Ok(count)
}

async fn due(app: &App, status: &'static str) -> Result<Vec<(UserId, ActionId)>> {
    let values = params![status, app.clock.now(), STEP_MAX];
    Ok(app.db.all(DUE, values, |row| Ok((row.get(0)?, row.get(1)?))).await?)
}

/// Carries out one action if it can be now. Any number may try at once: the first claim wins.
pub(super) async fn attempt(app: &App, user: UserId, id: ActionId) -> Result<()> {
    let action = read::get(app, &Caller::owner(user), id).await?;
    if action.status != Status::Approved || action.kind().is_for_the_person() {
        return Ok(());
    }
    let plan = plan(app, &action).await?;
    let mine = app.clone();
    let work = move |tx: &mut Tx<'_>| match plan {
        Plan::Wait => Ok(()),
        Plan::Queue { opens_at, price } => queue(&mine, tx, (user, id), opens_at, price),
        Plan::Execute(priced) => {
            execute(&mine, tx, (user, id), |tx, action| effect(&mine, tx, action, priced.as_ref()))
        }
        Plan::Fail(failure) => execute(&mine, tx, (user, id), |tx, action| {
            release(&mine, tx, action)?;
            Ok(Err(failure))
        }),
    };
    app.db.write(work).await?;
    app.bell.ring();
    Ok(())
}

async fn plan(app: &App, action: &Action) -> Result<Plan> {
    let Some(order) = action.what().and_then(|it| it.order()) else {
        return Ok(Plan::Execute(None));
    };
    let priced = quotes::one(app, &order.symbol).await?;
    let now = app.clock.now();
    let is_queued = action.reserved_minor.is_some();
    if let (Hours::Closed { opens_at }, WhenClosed::Queue) =
        (quotes::hours(app), app.trading.when_closed)
    {
        let price = action.seen_price.or(priced.map(|it| it.quote.price));
        return Ok(match price {
            Some(price) if !is_queued => Plan::Queue { opens_at, price },
            _ => Plan::Fail(no_price(&order)),
        });
    }
    // Yesterday's last price is no answer to what it costs today.
    let since = action.due_at.filter(|_| is_queued).unwrap_or(Timestamp::MIN);
    let usable = priced.filter(|it| !it.is_stale && it.quote.at >= since);
    let waited = now.as_second() - action.due_at.or(action.decided_at).unwrap_or(now).as_second();
    let Some(priced) = usable else {
        let over = waited > PATIENCE_SECONDS;
        return Ok(if over { Plan::Fail(no_price(&order)) } else { Plan::Wait });
    };
    let price = priced.quote.price;
    match action.seen_price {
        Some(seen) if calc::paper::moved_too_far(seen, price) => Ok(Plan::Fail(Failure {
            code: "PRICE_MOVED",
            message: format!(
                "The price of {} moved from {} to {}, by more than 2 %. Nothing was traded; it can be \
                 proposed anew.",
                order.symbol,
                seen.pretty_dollars(),
                price.pretty_dollars()
            ),
        })),
        _ => Ok(Plan::Execute(Some(priced))),
    }
}

fn no_price(order: &Order) -> Failure {
    let message = format!("There was no fresh price of {}. Nothing was traded.", order.symbol);
    Failure { code: "NO_PRICE", message }
}

/// Puts the cash of a buy aside until the market opens.
fn queue(
    app: &App,
    tx: &mut Tx<'_>,
    (user, id): (UserId, ActionId),
    opens_at: Timestamp,
    price: base::Fixed9,
) -> Result<()> {
    let now = app.clock.now();
    if tx.execute(QUEUE, params![user, id, now, opens_at])? == 0 {
        return Ok(());
    }
    let action = read::get_in(app, tx, user, id)?;
    let Some(order) = action.what().and_then(|it| it.order()) else { return Ok(()) };
    match order.reserve(app, tx, (user, id), price) {
        Ok(minor) => {
            tx.execute(RESERVED, params![user, id, minor])?;
            let aside = usd(minor).pretty();
            let details = match order.side {
                Side::Buy => format!(
                    "{} waits for the market to open, with {aside} put aside",
                    order.title()
                ),
                Side::Sell => format!("{} waits for the market to open", order.title()),
            };
            let note = Note::new(Actor::system(), "action.queue", details);
            audit::note(tx, user, now, note.about(id).digest(action.digest))
        }
        Err(error) => {
            tx.execute(CLAIM, params![user, id, opens_at])?;
            finish(app, tx, &action, Err(failure(error)?))
        }
    }
}

/// Claims the action, does the work, and writes down how it ended.
fn execute(
    app: &App,
    tx: &mut Tx<'_>,
    (user, id): (UserId, ActionId),
    work: impl FnOnce(&mut Tx<'_>, &Action) -> Result<Result<Done, Failure>>,
) -> Result<()> {
    if tx.execute(CLAIM, params![user, id, app.clock.now()])? == 0 {
        // Somebody else was first.
        return Ok(());
    }
    let action = read::get_in(app, tx, user, id)?;
    if action.digest() != action.digest {
        let message =
            "The proposal was changed after it was approved. Nothing was done.".to_owned();
        return finish(app, tx, &action, Err(Failure { code: "CHANGED", message }));
    }
    let outcome = match work(tx, &action) {
        Ok(outcome) => outcome,
        Err(error) => Err(failure(error)?),
    };
    finish(app, tx, &action, outcome)
}

/// What the rules refuse is how it ends; what we could not do is tried again.
fn failure(error: Error) -> Result<Failure> {
    let (code, message) = match error {
        Error::Conflict { code, message } => (code.as_str(), message),
        Error::Invalid { message, .. } => (Code::ValidationError.as_str(), message),
        Error::NotFound(what) => {
            (Code::NotFound.as_str(), format!("there is no such {what} any more"))
        }
        other => return Err(other),
    };
    let mut letters = message.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    Ok(Failure { code, message: format!("{first}{}. Nothing was done.", letters.as_str()) })
}

fn finish(
    app: &App,
    tx: &mut Tx<'_>,
    action: &Action,
    outcome: Result<Done, Failure>,
) -> Result<()> {
    let (user, id, now) = (action.user, action.id, app.clock.now());
    let (status, said) = match outcome {
        Ok(Done { result, said, inverse }) => {
            let result = result.to_string();
            let values = params![user, id, now, result.as_str(), inverse.as_deref()];
            tx.execute(DONE, values)?;
            (Status::Executed, said)
        }
        Err(Failure { code, message }) => {
            tx.execute(FAILED, params![user, id, now, code, message.as_str()])?;
            (Status::Failed, format!("Failed: {}. {message}", action.details().title()))
        }
    };
    let name = if status == Status::Executed { "action.execute" } else { "action.fail" };
    told(app, tx, action, status, Note::new(Actor::system(), name, said))
}

fn told(app: &App, tx: &mut Tx<'_>, action: &Action, status: Status, note: Note) -> Result<()> {
    let mut facts = action.facts();
    facts.status = status.as_str();
    outbox::append(app, tx, action.user, &[Event::ActionExecuted(facts)])?;
    let note = note.about(action.id).digest(action.digest);
    audit::note(tx, action.user, app.clock.now(), note)
}

fn release(app: &App, tx: &mut Tx<'_>, action: &Action) -> Result<()> {
    match (action.what().and_then(|it| it.order()), action.reserved_minor) {
        (Some(order), Some(minor)) => order.release(app, tx, (action.user, action.id), minor),
        _ => Ok(()),
    }
}

fn effect(
    app: &App,
    tx: &mut Tx<'_>,
    action: &Action,
    priced: Option<&Priced>,
) -> Result<Result<Done, Failure>> {
    let what = action.what().ok_or_else(|| Error::internal("an action that cannot be read"))?;
    let done = match &what {
        What::Trade { .. } => trade(app, tx, action, &what, priced)?,
        What::PaperAccount { name, cash_minor } => {
            let (user, now) = (action.user, app.clock.now());
            let count = tx.first(ACCOUNT_COUNT, params![user], |row| row.get::<i64>(0))?;
            if count.unwrap_or(0) >= paper::ACCOUNTS_MAX {
                return Err(too_many_accounts());
            }
            let cause = format!("action {}", action.id);
            let id: PaperAccountId = paper::open(app, tx, user, (name, *cash_minor, cause), now)?;
            let said =
                format!("Opened the paper account {name} with {}", usd(*cash_minor).pretty());
            Done { result: json!({ "paper_account_id": id.to_string() }), said, inverse: None }
        }
        What::Fix { transactions, word, always } => {
            let applied = fixes::apply(app, tx, action.user, (transactions, word, *always))?;
            Done { result: applied.result, said: applied.said, inverse: Some(applied.inverse) }
        }
        What::Rule(rule) => {
            let applied = fixes::make_rule(app, tx, action.user, rule)?;
            Done { result: applied.result, said: applied.said, inverse: Some(applied.inverse) }
        }
        What::Transfer { .. } | What::Custom { .. } => {
            return Err(Error::internal("only the person can carry this out"));
        }
    };
    Ok(Ok(done))
}

fn trade(
    app: &App,
    tx: &mut Tx<'_>,
    action: &Action,
    what: &What,
    priced: Option<&Priced>,
) -> Result<Done> {
    let missing = || Error::internal("a trade without an order or a price");
    let (order, priced) = (what.order().ok_or_else(missing)?, priced.ok_or_else(missing)?);
    release(app, tx, action)?;
    let (id, fill) = order.fill(app, tx, (action.user, action.id), &priced.quote)?;
    let (verb, joined) = match order.side {
        Side::Buy => ("Bought", "for"),
        Side::Sell => ("Sold", "for"),
    };
    let said = format!(
        "{verb} {} {} at {} {joined} {}",
        fill.quantity,
        order.symbol,
        fill.price.pretty_dollars(),
        usd(fill.cash_minor).pretty()
    );
    Ok(Done { result: json!({ "trade_id": id.to_string() }), said, inverse: None })
}

/// The person says how it ended what they had to do themselves.
pub(super) fn finish_by_hand(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    action: &Action,
    is_done: bool,
) -> Result<()> {
    debug_assert!(matches!(action.kind(), Kind::Transfer | Kind::Unknown));
    let (user, id, now) = (action.user, action.id, app.clock.now());
    let taken =
        Error::Conflict { code: Code::Conflict, message: "this was settled already".to_owned() };
    let title = action.details().title();
    let (status, name, said) = if is_done {
        let result = json!({ "confirmed": true }).to_string();
        if tx.execute(CONFIRM, params![user, id, now, result.as_str()])? == 0 {
            return Err(taken);
        }
        (Status::Executed, "action.confirm", format!("Said that it is done: {title}"))
    } else {
        let message = "You said that it was not done.";
        if tx.execute(GIVE_UP, params![user, id, now, message])? == 0 {
            return Err(taken);
        }
        (Status::Failed, "action.give_up", format!("Said that it was not done: {title}"))
    };
    told(app, tx, action, status, Note::new(caller, name, said))
}

const DUE: &str = "select user_id, id from actions where status = $1 and due_at <= $2
    order by due_at, id limit $3";
const CLAIM: &str = "update actions set status = 'executing', updated_at = $3
    where user_id = $1 and id = $2 and status = 'approved' and due_at <= $3";
const QUEUE: &str = "update actions set due_at = $4, reserved_minor = 0, updated_at = $3
    where user_id = $1 and id = $2 and status = 'approved' and due_at <= $3
    and reserved_minor is null";
const RESERVED: &str = "update actions set reserved_minor = $3 where user_id = $1 and id = $2";
const DONE: &str = "update actions set status = 'executed', executed_at = $3, updated_at = $3,
    result = $4, inverse = $5, due_at = null
    where user_id = $1 and id = $2 and status = 'executing'";
const FAILED: &str = "update actions set status = 'failed', executed_at = null, updated_at = $3,
    error_code = $4, error_message = $5, due_at = null
    where user_id = $1 and id = $2 and status = 'executing'";
const CONFIRM: &str = "update actions set status = 'executed', executed_at = $3, updated_at = $3,
    result = $4 where user_id = $1 and id = $2 and status = 'approved'";
const GIVE_UP: &str = "update actions set status = 'failed', updated_at = $3,
    error_code = 'NOT_DONE', error_message = $4
    where user_id = $1 and id = $2 and status = 'approved'";
const ACCOUNT_COUNT: &str =
    "select cast(count(*) as bigint) from paper_accounts where user_id = $1";

pub(super) const STATEMENTS: &[&str] =
    &[DUE, CLAIM, QUEUE, RESERVED, DONE, FAILED, CONFIRM, GIVE_UP, ACCOUNT_COUNT];
