//! Execution of approved actions: once, in one transaction with the effects, the event and the audit entry. A process that
//! crashes has done all of it or nothing, and the background step tries again.

use base::{ActionId, PaperAccountId, TimeZone, Timestamp, UserId};
use calc::paper::Side;
use db::params;
use serde_json::{Value, json};
use sources::market::calendar::Hours;
use webhooks::outbox;
use wire::v1::{Code, Event};

use super::action::{Action, Status};
use super::corrections::Applied;
use super::payload::{ActionPayload, Kind};
use super::{annotating, corrections, read};
use crate::access::users;
use crate::ledger::quotes::{self, SourcedQuote, WhenClosed};
use crate::platform::audit::{self, Actor, Note};
use crate::trading::paper::orders::{self, Order};
use crate::trading::paper::{self, usd};
use crate::{App, Caller, Error, Result, Tx};

/// How long a trade waits for a price while the market is open.
const PRICE_TIMEOUT_SECONDS: i64 = 900;

/// The next step for an approved action.
enum Plan {
    Execute(Option<SourcedQuote>),
    /// The market is closed: reserve cash and wait until it opens.
    Queue {
        opens_at: Timestamp,
        price: base::Fixed9,
    },
    /// There is no price yet; the next background step tries again.
    Wait,
    Fail(Failure),
}

struct Failure {
    code: &'static str,
    message: String,
}

/// The effect of an action: the result for the proposer, the text for the audit trail, and the data to undo it.
struct Effect {
    result: Value,
    details: String,
    inverse: Option<String>,
}

impl From<Applied> for Effect {
    fn from(applied: Applied) -> Effect {
        let Applied { result, details, inverse } = applied;
        Effect { result, details, inverse: Some(inverse) }
    }
}

/// Background step: executes actions that are approved and due.
pub async fn execute_once(app: &App) -> Result<usize> {
    let due = read::list_due(app, Status::Approved).await?;
    for (user, id) in &due {
        // A failure must not block the other actions.
        if let Err(error) = attempt(app, *user, *id).await {
            tracing::warn!(%id, %error, "approved action could not be executed yet");
        }
    }
    Ok(due.len())
}

/// The reason why an execution did not complete.
enum Stop {
    /// The rules do not allow it; the action fails.
    Refused(Failure),
    /// A temporary or internal error; the next step tries again.
    Retry(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        let (code, message) = match error {
            Error::Conflict { code, message } => (code.as_str(), message),
            Error::Invalid { message, .. } => (Code::ValidationError.as_str(), message),
            Error::NotFound(what) => {
                (Code::NotFound.as_str(), format!("this {what} no longer exists"))
            }
            other => return Stop::Retry(other),
        };
        let mut letters = message.chars();
        let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
        let message = format!("{first}{}. Nothing was done.", letters.as_str());
        Stop::Refused(Failure { code, message })
    }
}

impl From<db::Error> for Stop {
    fn from(error: db::Error) -> Stop {
        Stop::Retry(error.into())
    }
}

/// Executes one action if that is possible now. Several callers may try at once; the first claim wins.
pub(super) async fn attempt(app: &App, user: UserId, id: ActionId) -> Result<()> {
    // An action says the same in every time zone.
    let action = read::get(app, &Caller::owner(user, TimeZone::utc()), id).await?;
    if action.status != Status::Approved || action.kind().is_executed_by_person() {
        return Ok(());
    }
    let (mine, key) = (app.clone(), (user, id));
    let outcome = match plan(app, &action).await? {
        Plan::Wait => return Ok(()),
        Plan::Fail(failure) => Err(Stop::Refused(failure)),
        Plan::Queue { opens_at, price } => {
            app.db.write(move |tx| queue(&mine, tx, key, opens_at, price)).await
        }
        Plan::Execute(priced) => {
            app.db.write(move |tx| execute(&mine, tx, key, priced.as_ref())).await
        }
    };
    match outcome {
        Ok(()) => {}
        // A new transaction, because the one that was refused is rolled back.
        Err(Stop::Refused(failure)) => {
            let mine = app.clone();
            app.db.write(move |tx| fail(&mine, tx, key, failure)).await?;
        }
        Err(Stop::Retry(error)) => return Err(error),
    }
    app.changes.notify();
    Ok(())
}

async fn plan(app: &App, action: &Action) -> Result<Plan> {
    let Some(order) = action.payload().and_then(|it| it.order()) else {
        return Ok(Plan::Execute(None));
    };
    // Splits are booked first: shares from before a split must not be traded at a price from after it.
    paper::settle_splits(app, action.user, order.account, &order.symbol).await?;
    let priced = quotes::find(app, &order.symbol).await?;
    let now = app.db.now().await?;
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
    // A queued trade needs a price from after the opening.
    let since = action.due_at.filter(|_| is_queued).unwrap_or(Timestamp::MIN);
    let usable = priced.filter(|it| !it.is_stale && it.quote.at >= since);
    let waited = now.as_second() - action.due_at.or(action.decided_at).unwrap_or(now).as_second();
    let Some(priced) = usable else {
        let over = waited > PRICE_TIMEOUT_SECONDS;
        return Ok(if over { Plan::Fail(no_price(&order)) } else { Plan::Wait });
    };
    let price = priced.quote.price;
    match action.seen_price {
        Some(seen) if calc::paper::moved_too_far(seen, price) => Ok(Plan::Fail(Failure {
            code: "PRICE_MOVED",
            message: format!(
                "The price of {} moved from {} to {}, by more than 2%. Nothing was traded. It can be \
                 proposed again.",
                order.symbol,
                seen.pretty_dollars(),
                price.pretty_dollars()
            ),
        })),
        _ => Ok(Plan::Execute(Some(priced))),
    }
}

fn no_price(order: &Order) -> Failure {
    let message = format!("There was no current price for {}. Nothing was traded.", order.symbol);
    Failure { code: "NO_PRICE", message }
}

/// Reserves the cash of a buy until the market opens.
fn queue(
    app: &App,
    tx: &mut Tx<'_>,
    (user, id): (UserId, ActionId),
    opens_at: Timestamp,
    price: base::Fixed9,
) -> Result<(), Stop> {
    let now = app.clock.now();
    users::lock(tx, user)?;
    let due_by = tx.now()?;
    if tx.execute(QUEUE, params![user, id, now, opens_at, due_by])? == 0 {
        return Ok(());
    }
    let action = read::get_in(app, tx, user, id)?;
    let order = action.payload().and_then(|it| it.order()).filter(|_| action.is_unchanged());
    let order = order.ok_or_else(|| Stop::Refused(changed()))?;
    let minor = order.reserve(app, tx, (user, id), price)?;
    tx.execute(RESERVED, params![user, id, minor])?;
    let reserved = usd(minor).pretty();
    let details = match order.side {
        Side::Buy => {
            format!("{} waits for the market to open, with {reserved} reserved", order.title())
        }
        Side::Sell => format!("{} waits for the market to open", order.title()),
    };
    let note = Note::new(Actor::system(), "action.queue", details);
    Ok(audit::note(tx, user, now, note.about(id).digest(action.digest))?)
}

/// Claims the action, executes it, and records the result. The person is locked first, in the same order as everywhere,
/// to avoid deadlocks.
fn execute(
    app: &App,
    tx: &mut Tx<'_>,
    (user, id): (UserId, ActionId),
    priced: Option<&SourcedQuote>,
) -> Result<(), Stop> {
    let now = app.clock.now();
    users::lock(tx, user)?;
    let due_by = tx.now()?;
    if tx.execute(CLAIM, params![user, id, now, due_by])? == 0 {
        // Another process claimed it first.
        return Ok(());
    }
    let action = read::get_in(app, tx, user, id)?;
    if !action.is_unchanged() {
        return Err(Stop::Refused(changed()));
    }
    let Effect { result, details, inverse } = effect(app, tx, &action, priced)?;
    let result = result.to_string();
    tx.execute(DONE, params![user, id, now, result.as_str(), inverse.as_deref()])?;
    let note = Note::new(Actor::system(), "action.execute", details);
    Ok(record_execution(app, tx, &action, Status::Executed, note)?)
}

/// Claims the action, releases reserved cash, and records why it failed.
fn fail(
    app: &App,
    tx: &mut Tx<'_>,
    (user, id): (UserId, ActionId),
    failure: Failure,
) -> Result<()> {
    let now = app.clock.now();
    users::lock(tx, user)?;
    let due_by = tx.now()?;
    if tx.execute(CLAIM, params![user, id, now, due_by])? == 0 {
        return Ok(());
    }
    let action = read::get_in(app, tx, user, id)?;
    let Failure { code, message } = if action.is_unchanged() { failure } else { changed() };
    orders::release(app, tx, (user, id))?;
    tx.execute(FAILED, params![user, id, now, code, message.as_str()])?;
    let details = format!("Failed: {}. {message}", action.details().audit_title());
    let note = Note::new(Actor::system(), "action.fail", details);
    record_execution(app, tx, &action, Status::Failed, note)
}

fn changed() -> Failure {
    let message = "The proposal was changed after it was approved. Nothing was done.".to_owned();
    Failure { code: "CHANGED", message }
}

/// Writes the event and the audit entry of an execution.
fn record_execution(
    app: &App,
    tx: &mut Tx<'_>,
    action: &Action,
    status: Status,
    note: Note,
) -> Result<()> {
    let mut facts = action.facts();
    facts.status = status.as_str();
    outbox::append(&app.webhooks, tx, action.user, &[Event::ActionExecuted(facts)])?;
    let (mine, kind) = (app.clone(), action.kind().as_str());
    tx.on_commit(move || mine.meters.count_execution(status.as_str(), kind));
    let note = note.about(action.id).digest(action.digest);
    audit::note(tx, action.user, app.clock.now(), note)
}

fn effect(
    app: &App,
    tx: &mut Tx<'_>,
    action: &Action,
    priced: Option<&SourcedQuote>,
) -> Result<Effect> {
    let payload = action.payload();
    let payload = payload.ok_or_else(|| Error::internal("an action has an invalid payload"))?;
    Ok(match &payload {
        ActionPayload::Trade { .. } => trade(app, tx, action, &payload, priced)?,
        ActionPayload::PaperAccount { name, cash_minor } => {
            let (user, now) = (action.user, app.clock.now());
            let count = tx.first(ACCOUNT_COUNT, params![user], |row| row.get::<i64>(0))?;
            if count.unwrap_or(0) >= paper::ACCOUNTS_MAX {
                return Err(paper::too_many_accounts());
            }
            let cause = format!("action {}", action.id);
            let id: PaperAccountId =
                paper::open_account(app, tx, user, (name, *cash_minor, cause), now)?;
            let details =
                format!("Opened the paper account {name} with {}", usd(*cash_minor).pretty());
            Effect { result: json!({ "paper_account_id": id.to_string() }), details, inverse: None }
        }
        ActionPayload::Correction { transactions, sets, always } => {
            let values = (transactions.as_slice(), sets, *always);
            corrections::apply(app, tx, action.user, values)?.into()
        }
        ActionPayload::TransferLink { transactions } => {
            corrections::link_transfer(app, tx, action.user, *transactions)?.into()
        }
        ActionPayload::Split { transaction, parts } => {
            annotating::split(app, tx, action.user, *transaction, parts)?.into()
        }
        ActionPayload::Annotation { transactions, note, tags } => {
            let values = (note.as_deref(), tags);
            annotating::annotate(app, tx, action.user, transactions, values)?.into()
        }
        ActionPayload::Rule(rule) => corrections::create_rule(app, tx, action.user, rule)?.into(),
        ActionPayload::Transfer { .. } | ActionPayload::Custom { .. } => {
            return Err(Error::internal("only the person can execute this"));
        }
    })
}

fn trade(
    app: &App,
    tx: &mut Tx<'_>,
    action: &Action,
    payload: &ActionPayload,
    priced: Option<&SourcedQuote>,
) -> Result<Effect> {
    let missing = || Error::internal("a trade without an order or a price");
    let (order, priced) = (payload.order().ok_or_else(missing)?, priced.ok_or_else(missing)?);
    if action.reserved_minor.is_some() {
        orders::release(app, tx, (action.user, action.id))?;
    }
    let (id, fill) = order.fill(app, tx, (action.user, action.id), &priced.quote)?;
    let verb = match order.side {
        Side::Buy => "Bought",
        Side::Sell => "Sold",
    };
    let details = format!(
        "{verb} {} {} at {} for {} (paper trade)",
        fill.quantity,
        order.symbol,
        fill.price.pretty_dollars(),
        usd(fill.cash_minor).pretty()
    );
    Ok(Effect { result: json!({ "trade_id": id.to_string() }), details, inverse: None })
}

/// Records the outcome of an action that the person had to execute themselves.
pub(super) fn finish_by_hand(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    action: &Action,
    is_done: bool,
) -> Result<()> {
    debug_assert!(matches!(action.kind(), Kind::Transfer | Kind::Unknown));
    let (user, id, now) = (action.user, action.id, app.clock.now());
    let decided =
        Error::Conflict { code: Code::Conflict, message: "this was already confirmed".to_owned() };
    let title = action.details().audit_title();
    let (status, name, details) = if is_done {
        let result = json!({ "confirmed": true }).to_string();
        if tx.execute(CONFIRM, params![user, id, now, result.as_str()])? == 0 {
            return Err(decided);
        }
        (Status::Executed, "action.confirm", format!("Confirmed as done: {title}"))
    } else {
        let message = "You marked this as not done.";
        if tx.execute(GIVE_UP, params![user, id, now, message])? == 0 {
            return Err(decided);
        }
        (Status::Failed, "action.give_up", format!("Marked as not done: {title}"))
    };
    record_execution(app, tx, action, status, Note::new(caller, name, details))
}

const CLAIM: &str = "update actions set status = 'executing', updated_at = $3
    where user_id = $1 and id = $2 and status = 'approved' and due_at <= $4";
const QUEUE: &str = "update actions set due_at = $4, reserved_minor = 0, updated_at = $3
    where user_id = $1 and id = $2 and status = 'approved' and due_at <= $5
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
    &[CLAIM, QUEUE, RESERVED, DONE, FAILED, CONFIRM, GIVE_UP, ACCOUNT_COUNT];
