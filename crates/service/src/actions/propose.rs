//! Proposing: what is asked for is checked against the present, put into words for the person, and written down once.

use base::{PaperAccountId, Timestamp};
use db::params;
use sha2::{Digest as _, Sha256};
use webhooks::outbox;
use wire::v1::{Code, Event, Scope};

use super::details::{self, Shown};
use super::{Action, Proposer, Status, What, policy, read};
use crate::classify::overrides::{Override, TRANSACTIONS_MAX};
use crate::platform::audit::{self, Note};
use crate::trading::paper;
use crate::trading::quotes::{self, SourcedQuote};
use crate::{App, Caller, Credential, Error, Result, Tx};

const DESCRIPTION_LENGTH_MAX: usize = 200;
const TITLE_LENGTH_MAX: usize = 120;
const MARKDOWN_LENGTH_MAX: usize = 4_000;
const FACTS_LENGTH_MAX: usize = 16_000;
const LIKE_LENGTH_MAX: usize = 500;
const WORDS_LENGTH_MAX: usize = 100;
const NAME_LENGTH_MAX: usize = 80;
/// A billion dollars.
const CASH_MINOR_MAX: i64 = 100_000_000_000;
const DAY_MICROSECONDS: i64 = 86_400_000_000;

pub struct NewAction {
    pub what: What,
    pub description: Option<String>,
    /// Why, in the proposer's words.
    pub reason: Option<String>,
    /// A shorter life than the policy gives.
    pub expires_in_seconds: Option<i64>,
}

impl From<What> for NewAction {
    fn from(what: What) -> NewAction {
        NewAction { what, description: None, reason: None, expires_in_seconds: None }
    }
}

/// A proposal that was looked at, and waits for a transaction to be written in.
pub struct Prepared {
    caller: Caller,
    new: NewAction,
    priced: Option<SourcedQuote>,
}

pub async fn propose(app: &App, caller: &Caller, new: NewAction) -> Result<Action> {
    let (mine, prepared) = (app.clone(), prepare(app, caller, new).await?);
    let action = app.db.write(move |tx| prepared.save(&mine, tx)).await?;
    app.bell.ring();
    Ok(action)
}

/// Everything that takes no transaction: whether the caller may, whether it makes sense, and what the market says.
pub async fn prepare(app: &App, caller: &Caller, mut new: NewAction) -> Result<Prepared> {
    for scope in scopes(&new.what) {
        caller.require(*scope)?;
    }
    check(&mut new)?;
    let priced = match &new.what {
        What::Trade { account, symbol, .. } => {
            paper::settle_splits(app, caller.user, *account, symbol).await?;
            quotes::find(app, symbol).await?
        }
        _ => None,
    };
    Ok(Prepared { caller: caller.clone(), new, priced })
}

/// Besides the right to propose: what the person is shown may not tell the proposer more than it could read.
fn scopes(what: &What) -> &'static [Scope] {
    match what {
        What::Trade { .. } | What::PaperAccount { .. } => &[Scope::PaperTrade],
        What::Fix { .. } => &[Scope::ActionsWrite, Scope::TransactionsRead],
        What::Transfer { .. } => &[Scope::ActionsWrite, Scope::AccountsRead],
        What::Rule(_) | What::Custom { .. } => &[Scope::ActionsWrite],
    }
}

impl Prepared {
    /// Checks what may change from moment to moment, and writes the proposal down.
    pub fn save(self, app: &App, tx: &mut Tx<'_>) -> Result<Action> {
        let Prepared { caller, new, priced } = self;
        let (user, now) = (caller.user, app.clock.now());
        let policy = policy::of_in(app, tx, user)?;
        let life = life(policy.life_seconds, new.expires_in_seconds)?;
        // The lock that the audit trail takes, taken early: two proposals at once are counted one after the other.
        crate::access::users::lock(tx, user)?;
        let (proposer, proposer_label) = proposer(tx, &caller)?;
        within_a_day(tx, &caller, proposer, (policy.proposals_a_day, now))?;
        let words = details::Words { reason: new.reason.as_deref(), proposer: &proposer_label };
        let (shown, amount_minor) = details::describe(app, tx, &caller, &new.what, priced, words)?;
        let payload = new.what.write();
        let expires_at = now.as_microsecond() + life * 1_000_000;
        let mut action = Action {
            user,
            id: app.ids.make::<base::kinds::Action>(),
            thread: app.ids.make::<base::kinds::Thread>(),
            action_type: new.what.action_type(),
            status: Status::PendingApproval,
            payload: payload.to_string(),
            details: shown.write()?,
            description: new.description,
            reason: new.reason,
            account: new.what.order().map(|it| it.account),
            amount_minor,
            digest: [0; 32],
            proposer,
            proposer_id: caller.credential_id(),
            proposer_label,
            created_at: now,
            updated_at: now,
            expires_at: Timestamp::from_microsecond(expires_at).unwrap_or(Timestamp::MAX),
            decided_at: None,
            decision_method: None,
            rejection_reason: None,
            seen_price: None,
            due_at: None,
            reserved_minor: None,
            executed_at: None,
            error_code: None,
            error_message: None,
            result: None,
            inverse: None,
            undone_at: None,
            needs_passkey: false,
        };
        action.digest = digest(&action);
        insert(tx, &action)?;
        told(app, tx, &caller, &action, &shown)?;
        read::get_in(app, tx, user, action.id)
    }
}

fn insert(tx: &mut Tx<'_>, action: &Action) -> Result<()> {
    tx.execute(
        INSERT,
        params![
            action.user,
            action.id,
            action.thread,
            action.action_type.as_str(),
            action.kind().as_str(),
            action.status.as_str(),
            &action.payload,
            &action.details,
            &action.description,
            &action.reason,
            action.account,
            action.amount_minor,
            &action.digest[..],
            action.proposer.as_str(),
            &action.proposer_id[..],
            &action.proposer_label,
            action.created_at,
            action.expires_at
        ],
    )?;
    Ok(())
}

fn told(app: &App, tx: &mut Tx<'_>, caller: &Caller, action: &Action, shown: &Shown) -> Result<()> {
    outbox::append(&app.webhooks, tx, action.user, &[Event::ActionCreated(action.facts())])?;
    let mut actor = audit::Actor::from(caller);
    actor.label = Some(action.proposer_label.clone());
    let details = format!("Proposed: {}", shown.title());
    let note = Note::new(actor, "action.create", details).about(action.id).digest(action.digest);
    audit::note(tx, action.user, action.created_at, note)
}

/// Over everything that the person is shown and that will be done, so that neither can change unnoticed.
pub(super) fn digest(action: &Action) -> [u8; 32] {
    let mut hash = Sha256::new();
    let account = action.account.as_ref().map(PaperAccountId::as_bytes);
    let expires_at = action.expires_at.as_microsecond().to_be_bytes();
    let created_at = action.created_at.as_microsecond().to_be_bytes();
    let fields: [Option<&[u8]>; 14] = [
        Some(action.user.as_bytes()),
        Some(action.id.as_bytes()),
        Some(action.thread.as_bytes()),
        Some(action.action_type.as_str().as_bytes()),
        Some(action.payload.as_bytes()),
        Some(action.details.as_bytes()),
        action.description.as_deref().map(str::as_bytes),
        action.reason.as_deref().map(str::as_bytes),
        account.map(|it| &it[..]),
        Some(&created_at),
        Some(&expires_at),
        Some(action.proposer.as_str().as_bytes()),
        Some(&action.proposer_id),
        Some(action.proposer_label.as_bytes()),
    ];
    for field in fields {
        hash.update(field.map_or(-1, |it| it.len() as i64).to_be_bytes());
        hash.update(field.unwrap_or_default());
    }
    hash.update(action.amount_minor.unwrap_or(i64::MIN).to_be_bytes());
    hash.finalize().into()
}

fn life(policy_seconds: i64, wanted: Option<i64>) -> Result<i64> {
    match wanted {
        None => Ok(policy_seconds),
        Some(seconds) if (1..=policy_seconds).contains(&seconds) => Ok(seconds),
        Some(_) => Err(Error::invalid(
            "expires_in_seconds",
            format!("expires_in_seconds must be a whole number from 1 to {policy_seconds}"),
        )),
    }
}

/// Who proposes, by the name that the person gave them.
fn proposer(tx: &mut Tx<'_>, caller: &Caller) -> Result<(Proposer, String)> {
    let name = |row: &db::Row<'_>| row.get::<String>(0);
    let (proposer, found) = match &caller.credential {
        Credential::Key { id, .. } => {
            (Proposer::Key, tx.first(KEY_NAME, params![caller.user, *id], name)?)
        }
        Credential::Grant { id, .. } => {
            (Proposer::App, tx.first(APP_NAME, params![caller.user, *id], name)?)
        }
        Credential::Session { .. } | Credential::Owner => {
            (Proposer::Person, Some("You".to_owned()))
        }
    };
    Ok((proposer, found.unwrap_or_else(|| "An unknown key".to_owned())))
}

fn within_a_day(
    tx: &mut Tx<'_>,
    caller: &Caller,
    proposer: Proposer,
    (most, now): (i64, Timestamp),
) -> Result<()> {
    if proposer == Proposer::Person {
        return Ok(());
    }
    let own = caller.credential_id();
    let since = now.as_microsecond() - DAY_MICROSECONDS;
    let read = |row: &db::Row<'_>| row.get::<i64>(0);
    let made = tx.all(MADE_SINCE, params![caller.user, &own[..], since, most], read)?;
    match made.last() {
        Some(oldest) if made.len() as i64 >= most => {
            let seconds = (oldest + DAY_MICROSECONDS - now.as_microsecond()) / 1_000_000 + 1;
            Err(Error::Limited {
                retry_after_seconds: seconds.max(1),
                what: "proposals in a day, by what the person allows",
            })
        }
        _ => Ok(()),
    }
}

fn check(new: &mut NewAction) -> Result<()> {
    text("description", new.description.as_deref(), DESCRIPTION_LENGTH_MAX, false)?;
    text("reason_markdown", new.reason.as_deref(), MARKDOWN_LENGTH_MAX, true)?;
    match &mut new.what {
        What::Trade { symbol, size, .. } => {
            *symbol = quotes::parse_symbol(symbol)?;
            checked_size(*size)
        }
        What::PaperAccount { name, cash_minor } => {
            *name = name.trim().to_owned();
            if name.is_empty() {
                return Err(Error::invalid(
                    "name",
                    "name must have 1 to 80 characters on one line",
                ));
            }
            text("name", Some(name), NAME_LENGTH_MAX, false)?;
            if !(1..=CASH_MINOR_MAX).contains(cash_minor) {
                let message = "starting_cash_balance must be from 0.01 to 1000000000";
                return Err(Error::invalid("starting_cash_balance", message));
            }
            Ok(())
        }
        What::Fix { transactions, word, .. } => {
            transactions.sort_unstable();
            transactions.dedup();
            if transactions.is_empty() || transactions.len() > TRANSACTIONS_MAX {
                let message = format!(
                    "payload.transaction_ids must name 1 to {} transactions",
                    TRANSACTIONS_MAX
                );
                return Err(Error::invalid("payload.transaction_ids", message));
            }
            checked_override(word)
        }
        What::Rule(rule) => {
            text("like", rule.like.as_deref(), LIKE_LENGTH_MAX, false)?;
            text("words", rule.words.as_deref(), WORDS_LENGTH_MAX, false)?;
            checked_override(&rule.sets)
        }
        What::Transfer { from, to, amount, .. } => {
            if from == to {
                let message = "payload.to_account_id must differ from payload.from_account_id";
                return Err(Error::invalid("payload.to_account_id", message));
            }
            if amount.minor() <= 0 {
                let message = "payload.amount must be greater than 0";
                return Err(Error::invalid("payload.amount", message));
            }
            Ok(())
        }
        What::Custom { title, summary, facts } => {
            *title = title.trim().to_owned();
            if title.is_empty() {
                let message = "payload.title must say in a few words what is asked";
                return Err(Error::invalid("payload.title", message));
            }
            text("payload.title", Some(title), TITLE_LENGTH_MAX, false)?;
            text("payload.summary_markdown", summary.as_deref(), MARKDOWN_LENGTH_MAX, true)?;
            if facts.as_ref().is_some_and(|it| it.len() > FACTS_LENGTH_MAX) {
                let message = "payload.data must have at most 16,000 bytes";
                return Err(Error::invalid("payload.data", message));
            }
            Ok(())
        }
    }
}

fn checked_override(values: &Override) -> Result<()> {
    text("counterparty_name", values.counterparty.as_deref(), NAME_LENGTH_MAX, false)?;
    values.check()
}

fn checked_size(size: calc::paper::Size) -> Result<()> {
    match size {
        calc::paper::Size::Shares(quantity) if quantity <= base::Fixed9::ZERO => {
            Err(Error::invalid("quantity", "quantity must be greater than 0"))
        }
        calc::paper::Size::Cash(minor) if minor <= 0 => {
            Err(Error::invalid("notional", "notional must be greater than 0"))
        }
        _ => Ok(()),
    }
}

/// Text is shown to a person who is about to decide: nothing in it may hide or turn around what stands beside it.
fn text(name: &str, value: Option<&str>, longest: usize, lines: bool) -> Result<()> {
    let Some(value) = value else { return Ok(()) };
    if value.chars().count() > longest {
        return Err(Error::invalid(name, format!("{name} must have at most {longest} characters")));
    }
    let allowed = |it: char| lines && matches!(it, '\n' | '\r' | '\t');
    if value.contains(|it: char| (it.is_control() && !allowed(it)) || is_unseen(it)) {
        let message = format!("{name} must not contain control or direction characters");
        return Err(Error::invalid(name, message));
    }
    Ok(())
}

/// Letters without a shape of their own: they turn text around, break lines, or say what only a machine reads.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// What a symbol without a price is answered with.
pub(super) fn unknown_symbol(symbol: &str) -> Error {
    let message = format!("the market here knows no price of {symbol}");
    Error::Conflict { code: Code::UnknownSymbol, message }
}

pub(super) fn too_many_accounts() -> Error {
    let message = format!("{} paper accounts are the most one can have", paper::ACCOUNTS_MAX);
    Error::Conflict { code: Code::Conflict, message }
}

const INSERT: &str = "insert into actions (user_id, id, thread_id, action_type, kind, status, payload,
    details, description, reason, account_id, amount_minor, digest, proposer, proposer_id,
    proposer_label, created_at, updated_at, expires_at, due_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17, $18, $18)";
const KEY_NAME: &str = "select name from api_keys where user_id = $1 and id = $2";
const APP_NAME: &str = "select c.name from oauth_grants g
    join oauth_clients c on c.id = g.client_id where g.user_id = $1 and g.id = $2";
const MADE_SINCE: &str = "select created_at from actions
    where user_id = $1 and proposer_id = $2 and created_at > $3 order by created_at desc limit $4";

pub(super) const STATEMENTS: &[&str] = &[INSERT, KEY_NAME, APP_NAME, MADE_SINCE];
