//! Carrying out what was approved: once, in one transaction with its effects, its event and its entry in the trail. A
//! process that dies on the way has done all of it or nothing; what it has not done, the background step does.

use base::{ActionId, PaperAccountId, Timestamp, UserId};
use calc::paper::Side;
use db::params;
use serde_json::{Value, json};
use sources::market::calendar::Hours;
use webhooks::outbox;
use wire::v1::{Code, Event};

use super::propose::too_many_accounts;
use super::{Action, Kind, Status, What, decide, fixes, read};
use crate::access::users;
use crate::platform::audit::{self, Actor, Note};
use crate::trading::paper::orders::{self, Order};
use crate::trading::paper::{self, usd};
use crate::trading::quotes::{self, SourcedQuote, WhenClosed};
use crate::{App, Caller, Error, Result, Tx};

/// What one background step takes on; the next one comes a second later.
const STEP_MAX: i64 = 200;
/// How long a trade waits for a price while the market is open.
const PATIENCE_SECONDS: i64 = 900;

/// What is to happen with an approved action now.
enum Plan {
    Execute(Option<SourcedQuote>),
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

/// Why the work on an action ends without being done.
enum Stop {
    /// By the rules; that is how the action ends.
    Refused(Failure),
    /// By something that may be better the next time.
    Trouble(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        let (code, message) = match error {
            Error::Conflict { code, message } => (code.as_str(), message),
            Error::Invalid { message, .. } => (Code::ValidationError.as_str(), message),
            Error::NotFound(what) => {
                (Code::NotFound.as_str(), format!("there is no such {what} any more"))
            }
            other => return Stop::Trouble(other),
        };
        let mut letters = message.chars();
        let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
        let message = format!("{first}{}. Nothing was done.", letters.as_str());
        Stop::Refused(Failure { code, message })
    }
}

impl From<db::Error> for Stop {
    fn from(error: db::Error) -> Stop {
        Stop::Trouble(error.into())
    }
}

/// Carries out one action if it can be now. Any number may try at once: the first claim wins.
pub(super) async fn attempt(app: &App, user: UserId, id: ActionId) -> Result<()> {
    let action = read::get(app, &Caller::owner(user), id).await?;
    if action.status != Status::Approved || action.kind().is_for_the_person() {
        return Ok(());
    }
    let (mine, whose) = (app.clone(), (user, id));
    let tried = match plan(app, &action).await? {
        Plan::Wait => return Ok(()),
        Plan::Fail(failure) => Err(Stop::Refused(failure)),
        Plan::Queue { opens_at, price } => {
            app.db.write(move |tx| queue(&mine, tx, whose, opens_at, price)).await
        }
        Plan::Execute(priced) => {
            app.db.write(move |tx| execute(&mine, tx, whose, priced.as_ref())).await
        }
    };
    match tried {
        Ok(()) => {}
        // In a transaction of its own: of what was refused half way nothing is left.
        Err(Stop::Refused(failure)) => {
            let mine = app.clone();
            app.db.write(move |tx| fail(&mine, tx, whose, failure)).await?;
        }
        Err(Stop::Trouble(error)) => return Err(error),
    }
    app.bell.ring();
    Ok(())
}

async fn plan(app: &App, action: &Action) -> Result<Plan> {
    let Some(order) = action.what().and_then(|it| it.order()) else {
        return Ok(Plan::Execute(None));
    };
    // Old shares must not be traded at a price of new ones.
    paper::settle_splits(app, action.user, order.account, &order.symbol).await?;
    let priced = quotes::find(app, &order.symbol).await?;
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
) -> Result<(), Stop> {
    let now = app.clock.now();
    users::lock(tx, user)?;
    if tx.execute(QUEUE, params![user, id, now, opens_at])? == 0 {
        return Ok(());
    }
    let action = read::get_in(app, tx, user, id)?;
    let order = action.what().and_then(|it| it.order()).filter(|_| action.is_as_shown());
    let order = order.ok_or_else(|| Stop::Refused(changed()))?;
    let minor = order.reserve(app, tx, (user, id), price)?;
    tx.execute(RESERVED, params![user, id, minor])?;
    let aside = usd(minor).pretty();
    let details = match order.side {
        Side::Buy => {
            format!("{} waits for the market to open, with {aside} put aside", order.title())
        }
        Side::Sell => format!("{} waits for the market to open", order.title()),
    };
    let note = Note::new(Actor::system(), "action.queue", details);
    Ok(audit::note(tx, user, now, note.about(id).digest(action.digest))?)
}

/// Claims the action, does the work, and writes down what was done. The person is locked first, as by whoever proposes:
/// two that take the same locks in another order would wait for each other.
fn execute(
    app: &App,
    tx: &mut Tx<'_>,
    (user, id): (UserId, ActionId),
    priced: Option<&SourcedQuote>,
) -> Result<(), Stop> {
    let now = app.clock.now();
    users::lock(tx, user)?;
    if tx.execute(CLAIM, params![user, id, now])? == 0 {
        // Somebody else was first.
        return Ok(());
    }
    let action = read::get_in(app, tx, user, id)?;
    if !action.is_as_shown() {
        return Err(Stop::Refused(changed()));
    }
    let Done { result, said, inverse } = effect(app, tx, &action, priced)?;
    let result = result.to_string();
    tx.execute(DONE, params![user, id, now, result.as_str(), inverse.as_deref()])?;
    let note = Note::new(Actor::system(), "action.execute", said);
    Ok(told(app, tx, &action, Status::Executed, note)?)
}

/// Claims the action, gives back what was put aside for it, and writes down why it failed.
fn fail(
    app: &App,
    tx: &mut Tx<'_>,
    (user, id): (UserId, ActionId),
    failure: Failure,
) -> Result<()> {
    let now = app.clock.now();
    users::lock(tx, user)?;
    if tx.execute(CLAIM, params![user, id, now])? == 0 {
        return Ok(());
    }
    let action = read::get_in(app, tx, user, id)?;
    let Failure { code, message } = if action.is_as_shown() { failure } else { changed() };
    orders::release(app, tx, (user, id))?;
    tx.execute(FAILED, params![user, id, now, code, message.as_str()])?;
    let said = format!("Failed: {}. {message}", action.details().title());
    let note = Note::new(Actor::system(), "action.fail", said);
    told(app, tx, &action, Status::Failed, note)
}

fn changed() -> Failure {
    let message = "The proposal was changed after it was approved. Nothing was done.".to_owned();
    Failure { code: "CHANGED", message }
}

fn told(app: &App, tx: &mut Tx<'_>, action: &Action, status: Status, note: Note) -> Result<()> {
    let mut facts = action.facts();
    facts.status = status.as_str();
    outbox::append(&app.webhooks, tx, action.user, &[Event::ActionExecuted(facts)])?;
    let note = note.about(action.id).digest(action.digest);
    audit::note(tx, action.user, app.clock.now(), note)
}

fn effect(
    app: &App,
    tx: &mut Tx<'_>,
    action: &Action,
    priced: Option<&SourcedQuote>,
) -> Result<Done> {
    let what = action.what().ok_or_else(|| Error::internal("an action that cannot be read"))?;
    Ok(match &what {
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
    })
}

fn trade(
    app: &App,
    tx: &mut Tx<'_>,
    action: &Action,
    what: &What,
    priced: Option<&SourcedQuote>,
) -> Result<Done> {
    let missing = || Error::internal("a trade without an order or a price");
    let (order, priced) = (what.order().ok_or_else(missing)?, priced.ok_or_else(missing)?);
    if action.reserved_minor.is_some() {
        orders::release(app, tx, (action.user, action.id))?;
    }
    let (id, fill) = order.fill(app, tx, (action.user, action.id), &priced.quote)?;
    let verb = match order.side {
        Side::Buy => "Bought",
        Side::Sell => "Sold",
    };
    let said = format!(
        "{verb} {} {} at {} for {}",
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
