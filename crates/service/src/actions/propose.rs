//! Creating proposals: the payload is validated, described for the person, and stored.

use base::{Timestamp, TransactionId};
use db::params;
use webhooks::outbox;
use wire::v1::{Event, Scope};

use super::action::{Action, Proposer, Status, digest};
use super::describe::{self, ProposerText};
use super::display::ProposalDetails;
use super::payload::ActionPayload;
use super::{policy, read};
use crate::classify::overrides::{Override, TRANSACTIONS_MAX};
use crate::ledger::annotations::NOTE_LENGTH_MAX;
use crate::ledger::quotes::{self, SourcedQuote};
use crate::platform::audit::{self, Note};
use crate::trading::paper;
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
    pub payload: ActionPayload,
    pub description: Option<String>,
    /// The proposer's reason, in Markdown.
    pub reason: Option<String>,
    /// A shorter validity than the policy's.
    pub expires_in_seconds: Option<i64>,
}

impl From<ActionPayload> for NewAction {
    fn from(payload: ActionPayload) -> NewAction {
        NewAction { payload, description: None, reason: None, expires_in_seconds: None }
    }
}

/// A validated proposal, ready to be saved in a transaction.
pub struct PreparedAction {
    caller: Caller,
    new: NewAction,
    priced: Option<SourcedQuote>,
}

pub async fn propose(app: &App, caller: &Caller, new: NewAction) -> Result<Action> {
    let (mine, prepared) = (app.clone(), prepare(app, caller, new).await?);
    let action = app.db.write(move |tx| prepared.save(&mine, tx)).await?;
    app.changes.notify();
    Ok(action)
}

/// Does everything that needs no transaction: checks the scopes, validates the payload, and fetches the price.
pub async fn prepare(app: &App, caller: &Caller, mut new: NewAction) -> Result<PreparedAction> {
    caller.require_all(required_scopes(&new.payload))?;
    validate(&mut new)?;
    let priced = match &new.payload {
        ActionPayload::Trade { account, symbol, .. } => {
            paper::settle_splits(app, caller.user, *account, symbol).await?;
            quotes::find(app, symbol).await?
        }
        _ => None,
    };
    Ok(PreparedAction { caller: caller.clone(), new, priced })
}

/// The scopes that a proposal takes. Some take a read scope too, because the response describes the person's data.
fn required_scopes(payload: &ActionPayload) -> &'static [Scope] {
    match payload {
        ActionPayload::Trade { .. } | ActionPayload::PaperAccount { .. } => &[Scope::PaperTrade],
        ActionPayload::Correction { .. }
        | ActionPayload::TransferLink { .. }
        | ActionPayload::Split { .. }
        | ActionPayload::Annotation { .. } => &[Scope::ActionsWrite, Scope::TransactionsRead],
        ActionPayload::Transfer { .. } => &[Scope::ActionsWrite, Scope::AccountsRead],
        ActionPayload::Rule(_) | ActionPayload::Custom { .. } => &[Scope::ActionsWrite],
    }
}

impl PreparedAction {
    /// Checks the current limits, describes the proposal, and stores it.
    pub fn save(self, app: &App, tx: &mut Tx<'_>) -> Result<Action> {
        let PreparedAction { caller, new, priced } = self;
        let (user, now) = (caller.user, app.clock.now());
        let policy = policy::find_in(app, tx, user)?;
        let life = life(policy.life_seconds, new.expires_in_seconds)?;
        // Locks the person early, so that two proposals at once are counted one after the other.
        crate::access::users::lock(tx, user)?;
        let (proposer, proposer_label) = proposer(tx, &caller)?;
        check_daily_limit(tx, &caller, proposer, (policy.proposals_a_day, now))?;
        let text = ProposerText { reason: new.reason.as_deref(), proposer: &proposer_label };
        let (details, amount_minor) =
            describe::describe(app, tx, &caller, &new.payload, priced, text)?;
        let payload = new.payload.to_json();
        let expires_at = now.as_microsecond() + life * 1_000_000;
        let mut action = Action {
            user,
            id: app.ids.make::<base::kinds::Action>(),
            thread: app.ids.make::<base::kinds::Thread>(),
            action_type: new.payload.action_type(),
            status: Status::PendingApproval,
            payload_json: payload.to_string(),
            details_json: details.to_json()?,
            description: new.description,
            reason: new.reason,
            account: new.payload.order().map(|it| it.account),
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
        record_proposal(app, tx, &caller, &action, &details)?;
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
            &action.payload_json,
            &action.details_json,
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

/// Writes the event and the audit entry of a new proposal.
fn record_proposal(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    action: &Action,
    details: &ProposalDetails,
) -> Result<()> {
    outbox::append(&app.webhooks, tx, action.user, &[Event::ActionCreated(action.facts())])?;
    let mut actor = audit::Actor::from(caller);
    actor.label = Some(action.proposer_label.clone());
    let text = format!("Proposed: {}", details.audit_title());
    let note = Note::new(actor, "action.create", text).about(action.id).digest(action.digest);
    audit::note(tx, action.user, action.created_at, note)
}

fn life(policy_seconds: i64, requested: Option<i64>) -> Result<i64> {
    match requested {
        None => Ok(policy_seconds),
        Some(seconds) if (1..=policy_seconds).contains(&seconds) => Ok(seconds),
        Some(_) => Err(Error::invalid(
            "expires_in_seconds",
            format!("expires_in_seconds must be a whole number from 1 to {policy_seconds}"),
        )),
    }
}

/// The proposer, and the name that the person knows it by.
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

fn check_daily_limit(
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
    let recent = tx.all(MADE_SINCE, params![caller.user, &own[..], since, most], read)?;
    match recent.last() {
        Some(oldest) if recent.len() as i64 >= most => {
            // The time at which the oldest proposal that counts is a day old, rounded up.
            let wait_microseconds = oldest + DAY_MICROSECONDS - now.as_microsecond();
            let retry_after_seconds = (wait_microseconds + 999_999).div_euclid(1_000_000).max(1);
            Err(Error::ProposalLimit { most, retry_after_seconds })
        }
        _ => Ok(()),
    }
}

fn validate_paper_account(name: &str, cash_minor: i64) -> Result<()> {
    if name.is_empty() {
        return Err(Error::invalid("name", "name must have 1 to 80 characters on one line"));
    }
    validate_text("name", Some(name), NAME_LENGTH_MAX, false)?;
    if !(1..=CASH_MINOR_MAX).contains(&cash_minor) {
        let message = "starting_cash_balance must be from 0.01 to 1000000000";
        return Err(Error::invalid("starting_cash_balance", message));
    }
    Ok(())
}

fn validate(new: &mut NewAction) -> Result<()> {
    validate_text("description", new.description.as_deref(), DESCRIPTION_LENGTH_MAX, false)?;
    validate_text("reason_markdown", new.reason.as_deref(), MARKDOWN_LENGTH_MAX, true)?;
    match &mut new.payload {
        ActionPayload::Trade { symbol, size, .. } => {
            *symbol = quotes::parse_symbol(symbol)?;
            validate_size(*size)
        }
        ActionPayload::PaperAccount { name, cash_minor } => {
            *name = name.trim().to_owned();
            validate_paper_account(name, *cash_minor)
        }
        ActionPayload::Correction { transactions, sets, .. } => {
            validate_transactions(transactions)?;
            validate_override(sets)
        }
        // `describe` compares the parts with the transaction.
        ActionPayload::Split { parts, .. } => parts.iter().try_for_each(|it| {
            validate_text("payload.splits.note", Some(&it.note), NOTE_LENGTH_MAX, false)
        }),
        ActionPayload::Annotation { transactions, note, tags } => {
            validate_transactions(transactions)?;
            if note.is_none() && tags.is_empty() {
                return Err(Error::invalid(
                    "payload.note",
                    "payload.note or payload.tags must be given",
                ));
            }
            validate_text("payload.note", note.as_deref(), NOTE_LENGTH_MAX, true)
        }
        // `describe` reads the two and refuses those that cannot be a transfer.
        ActionPayload::TransferLink { .. } => Ok(()),
        ActionPayload::Rule(rule) => {
            validate_text("like", rule.like.as_deref(), LIKE_LENGTH_MAX, false)?;
            validate_text("words", rule.words.as_deref(), WORDS_LENGTH_MAX, false)?;
            validate_override(&rule.sets)
        }
        ActionPayload::Transfer { from, to, amount, .. } => {
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
        ActionPayload::Custom { title, summary, facts } => {
            *title = title.trim().to_owned();
            if title.is_empty() {
                let message = "payload.title must describe the proposal in a few words";
                return Err(Error::invalid("payload.title", message));
            }
            validate_text("payload.title", Some(title), TITLE_LENGTH_MAX, false)?;
            validate_text(
                "payload.summary_markdown",
                summary.as_deref(),
                MARKDOWN_LENGTH_MAX,
                true,
            )?;
            if facts.as_ref().is_some_and(|it| it.len() > FACTS_LENGTH_MAX) {
                let message = "payload.data must have at most 16,000 bytes";
                return Err(Error::invalid("payload.data", message));
            }
            Ok(())
        }
    }
}

/// Sorts the ids, each once, and limits how many there are.
fn validate_transactions(transactions: &mut Vec<TransactionId>) -> Result<()> {
    transactions.sort_unstable();
    transactions.dedup();
    if transactions.is_empty() || transactions.len() > TRANSACTIONS_MAX {
        let message =
            format!("payload.transaction_ids must name 1 to {TRANSACTIONS_MAX} transactions");
        return Err(Error::invalid("payload.transaction_ids", message));
    }
    Ok(())
}

fn validate_override(values: &Override) -> Result<()> {
    validate_text("counterparty_name", values.counterparty.as_deref(), NAME_LENGTH_MAX, false)?;
    values.check()
}

fn validate_size(size: calc::paper::Size) -> Result<()> {
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

/// Validates text that the person sees when they decide. Invisible characters and those that change the direction of text
/// are refused.
fn validate_text(name: &str, value: Option<&str>, longest: usize, lines: bool) -> Result<()> {
    let Some(value) = value else { return Ok(()) };
    if value.chars().count() > longest {
        return Err(Error::invalid(name, format!("{name} must have at most {longest} characters")));
    }
    let allowed = |it: char| lines && matches!(it, '\n' | '\r' | '\t');
    if value.contains(|it: char| (it.is_control() && !allowed(it)) || is_invisible(it)) {
        let message = format!("{name} must not contain control or direction characters");
        return Err(Error::invalid(name, message));
    }
    Ok(())
}

/// Whether a character is invisible, such as one that changes the direction of text.
fn is_invisible(letter: char) -> bool {
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
