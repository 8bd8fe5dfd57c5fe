//! Describes a proposal for the person. The description is built from the payload; the proposer cannot write it.

use base::{AccountId, Date, Money, Timestamp, TransactionId};
use calc::enrich::{UNKNOWN, clean};
use calc::paper::{Side, Size};
use db::params;
use sources::market::calendar::Hours;
use wire::v1::{ActionDetails, Change, TradeAccount, TradeDetails};

use super::action::Action;
use super::annotating;
use super::display::ProposalDetails;
use super::named_transaction::{change, find_transaction};
use super::payload::ActionPayload;
use crate::classify::AmountRange;
use crate::classify::merchants::merchant_name;
use crate::classify::overrides::Override;
use crate::classify::rules::NewRule;
use crate::ledger::quotes::{self, SourcedQuote, WhenClosed};
use crate::trading::paper::orders::{Estimate, Order};
use crate::trading::paper::{self, ACCOUNTS_MAX, usd};
use crate::{App, Caller, Error, Result, Tx};

/// The proposer's name and reason, which are shown as theirs.
#[derive(Clone, Copy)]
pub(super) struct ProposerText<'a> {
    pub(super) reason: Option<&'a str>,
    pub(super) proposer: &'a str,
}

/// Returns the details for the person, and the amount that the approval policy applies to.
pub(super) fn describe(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    payload: &ActionPayload,
    priced: Option<SourcedQuote>,
    proposer_text: ProposerText<'_>,
) -> Result<(ProposalDetails, Option<i64>)> {
    let plain = |title: String, summary: Option<String>, changes: Vec<Change>| {
        let reason_markdown = proposer_text.reason.map(str::to_owned);
        let plain = ActionDetails { title, summary_markdown: summary, reason_markdown, changes };
        ProposalDetails { trade: None, plain: Some(plain) }
    };
    match payload {
        ActionPayload::Trade { .. } => {
            let Some(order) = payload.order() else {
                return Err(Error::internal("a trade has no order"));
            };
            let priced = priced.ok_or_else(|| quotes::unknown_symbol(&order.symbol))?;
            trade(app, tx, caller, &order, &priced, proposer_text)
        }
        ActionPayload::PaperAccount { name, cash_minor } => {
            let count = tx.first(ACCOUNT_COUNT, params![caller.user], |row| row.get::<i64>(0))?;
            if count.unwrap_or(0) >= ACCOUNTS_MAX {
                return Err(paper::too_many_accounts());
            }
            let cash = usd(*cash_minor).pretty();
            let title = format!("Open the paper account {name} with {cash}");
            let changes = vec![change("Name", None, name), change("Paper cash", None, &cash)];
            Ok((plain(title, Some("No real money moves.".to_owned()), changes), None))
        }
        ActionPayload::Correction { transactions, sets, always } => {
            let (changes, merchants) = describe_correction(tx, caller, transactions, sets)?;
            let count = transactions.len();
            let many = if count == 1 { "transaction" } else { "transactions" };
            let verb = if sets.counterparty.is_some() { "Rename" } else { "Recategorize" };
            let title = format!("{verb} {count} {many} to {}", sets.text());
            let summary = always.then(|| {
                format!("Also creates a rule for future transactions of {}.", merchants.join(", "))
            });
            Ok((plain(title, summary, changes), None))
        }
        ActionPayload::TransferLink { transactions } => {
            let changes = describe_link(tx, caller, *transactions)?;
            let title = "Mark two transactions as one transfer between your accounts".to_owned();
            let summary = "Transfers are neither income nor spending.".to_owned();
            Ok((plain(title, Some(summary), changes), None))
        }
        ActionPayload::Split { transaction, parts } => {
            let (title, changes) = annotating::describe_split(tx, caller, *transaction, parts)?;
            let summary = "Spending and income by category count the parts.".to_owned();
            Ok((plain(title, Some(summary), changes), None))
        }
        ActionPayload::Annotation { transactions, note, tags } => {
            let values = (note.as_deref(), tags);
            let (title, changes) =
                annotating::describe_annotation(tx, caller, transactions, values)?;
            Ok((plain(title, None, changes), None))
        }
        ActionPayload::Rule(rule) => {
            let (matched, changes) = describe_rule(tx, caller, rule)?;
            let title = format!("Create a rule: {matched} is {}", rule.sets.text());
            Ok((plain(title, None, changes), None))
        }
        ActionPayload::Transfer { from, to, amount, on } => {
            let (title, changes) = describe_transfer(tx, caller, (*from, *to), (*amount, *on))?;
            let summary = "Evenkeel cannot move money. If you approve, make the transfer at your \
                           bank, then confirm it here.";
            Ok((plain(title, Some(summary.to_owned()), changes), Some(amount.minor())))
        }
        ActionPayload::Custom { title, summary, .. } => {
            Ok((plain(title.clone(), summary.clone(), Vec::new()), None))
        }
    }
}

/// Shows a transfer that the person makes at their bank.
fn describe_transfer(
    tx: &mut Tx<'_>,
    caller: &Caller,
    (from, to): (AccountId, AccountId),
    (amount, on): (Money, Option<Date>),
) -> Result<(String, Vec<Change>)> {
    let from = account(tx, caller, "from_account_id", from)?;
    let to = account(tx, caller, "to_account_id", to)?;
    let title = format!("Move {} from {from} to {to}", amount.pretty());
    let mut changes = vec![
        change("From", None, &from),
        change("To", None, &to),
        change("Amount", None, &amount.pretty()),
    ];
    changes.extend(on.map(|it| change("On", None, &it.strftime("%-d %b %Y").to_string())));
    Ok((title, changes))
}

fn trade(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    order: &Order,
    priced: &SourcedQuote,
    proposer_text: ProposerText<'_>,
) -> Result<(ProposalDetails, Option<i64>)> {
    if caller.limited_to().is_some() {
        return Err(Error::NotFound("paper account"));
    }
    let price = priced.quote.price;
    let estimate = order.estimate(app, tx, caller.user, price)?;
    order.require_funds(&estimate, price)?;
    let amount_minor = estimate.fill.cash_minor;
    let (verb, label) = match order.side {
        Side::Buy => ("Buy", "Estimated cost"),
        Side::Sell => ("Sell", "Estimated proceeds"),
    };
    let quantity = estimate.fill.quantity;
    let input_mode = match order.size {
        Size::Shares(_) => "shares",
        Size::Cash(_) => "dollars",
    };
    let about = if input_mode == "dollars" { "About " } else { "" };
    let shares = if quantity == base::Fixed9::ONE { "share" } else { "shares" };
    let details = TradeDetails {
        kind: "paper_trade".to_owned(),
        account: trade_account(order, &estimate),
        symbol: order.symbol.clone(),
        security_name: priced.quote.name.clone(),
        side: order.side.as_str().to_owned(),
        side_label: verb.to_owned(),
        input_mode: input_mode.to_owned(),
        quantity: quantity.to_string(),
        quantity_display: format!("{about}{quantity} {shares}"),
        amount_label: label.to_owned(),
        current_price_display: Some(price.pretty_dollars()),
        price_change_display: change_display(priced),
        price_change_direction: change_direction(priced).map(str::to_owned),
        quote_as_of: Some(instant(priced.quote.at)),
        quote_as_of_label: Some(as_of_label(priced)),
        estimated_cost_display: Some(usd(amount_minor).pretty()),
        order_type_display: Some("Market order".to_owned()),
        proposed_by_label: proposer_text.proposer.to_owned(),
        top_markdown: None,
        bottom_markdown: Some(fill_terms(order, amount_minor)),
        reason_markdown: proposer_text.reason.map(str::to_owned),
        timing_disclosure: timing(app, order, price),
        money_movement_disclosure: Some("This is paper trading: no real money moves.".to_owned()),
        primary_action_label: order.title(),
        secondary_action_label: "Reject".to_owned(),
    };
    Ok((ProposalDetails { trade: Some(details), plain: None }, Some(amount_minor)))
}

/// How the order is filled, and why a sale for an amount of cash may bring another amount.
fn fill_terms(order: &Order, estimated_minor: i64) -> String {
    let terms = "The order is filled at the current price after you approve. If that price differs by \
                 more than 2% from the one shown here, nothing is traded.";
    let Size::Cash(minor) = order.size else { return terms.to_owned() };
    let (asked, estimated) = (usd(minor).pretty(), usd(estimated_minor).pretty());
    match order.side {
        Side::Buy => format!("{terms} It costs at most {asked}."),
        Side::Sell if estimated_minor < minor => format!(
            "{terms} All your shares bring {estimated} after slippage and rounding, which is less than \
             {asked}, so all of them are sold."
        ),
        Side::Sell => format!(
            "{terms} It brings exactly {asked}. If your shares are worth less by then, all of them are sold."
        ),
    }
}

fn trade_account(order: &Order, estimate: &Estimate) -> TradeAccount {
    let (label, amount) = match order.side {
        Side::Buy => ("Buying power", usd(estimate.account.cash_minor).pretty()),
        Side::Sell => ("Shares held", format!("{} {}", estimate.held, order.symbol)),
    };
    TradeAccount {
        id: order.account.to_string(),
        source: "paper".to_owned(),
        source_label: Some("Paper trading".to_owned()),
        display_name: estimate.account.name.clone(),
        subtitle: Some("Paper money".to_owned()),
        institution_name: None,
        icon_url: None,
        available_amount_label: label.to_owned(),
        available_amount_display: Some(amount),
        available_amount_state: "available".to_owned(),
    }
}

/// A sentence on what happens with a trade while the market is closed; `None` while it is open.
pub fn timing_now(app: &App, action: &Action, price: base::Fixed9) -> Option<String> {
    timing(app, &action.payload()?.order()?, price)
}

fn timing(app: &App, order: &Order, price: base::Fixed9) -> Option<String> {
    let Hours::Closed { opens_at } = quotes::hours(app) else { return None };
    if app.trading.when_closed == WhenClosed::LastPrice {
        return Some(
            "The market is closed. The order is filled immediately at the last price.".to_owned(),
        );
    }
    let reserved = match order.side {
        Side::Buy => order
            .cash_to_reserve(app, price)
            .map(|minor| format!(" with {} reserved", usd(minor).pretty())),
        Side::Sell => None,
    };
    Some(format!(
        "The market is closed. The order waits{} and is filled when the market opens on {}.",
        reserved.unwrap_or_default(),
        in_new_york(opens_at)
    ))
}

/// The change since the last close, such as "+$2.10 (+1.14%)".
pub fn change_display(priced: &SourcedQuote) -> Option<String> {
    let (price, close) = (priced.quote.price, priced.quote.previous_close?);
    let moved = price.billionths() - close.billionths();
    let sign = if moved > 0 { "+" } else { "" };
    let cents = |it: base::Fixed9| base::Fixed9::ONE.times_price(it, 2);
    let moved_text = base::Fixed9::from_billionths(moved).pretty_dollars();
    let percent = base::Percent::of(cents(price)? - cents(close)?, cents(close)?)?;
    let mut text = Vec::new();
    percent.write(&mut text);
    Some(format!("{sign}{moved_text} ({sign}{}%)", String::from_utf8_lossy(&text)))
}

pub fn change_direction(priced: &SourcedQuote) -> Option<&'static str> {
    let close = priced.quote.previous_close?;
    Some(match priced.quote.price.cmp(&close) {
        std::cmp::Ordering::Greater => "positive",
        std::cmp::Ordering::Less => "negative",
        std::cmp::Ordering::Equal => "neutral",
    })
}

/// The source and the time of a quote, such as "Demo market, Fri 13 Nov 2026, 16:00 in New York", and whether it is stale.
pub fn as_of_label(priced: &SourcedQuote) -> String {
    let stale = if priced.is_stale { " (stale)" } else { "" };
    format!("{}, {}{stale}", priced.source, in_new_york(priced.quote.at))
}

fn in_new_york(at: Timestamp) -> String {
    match at.in_tz("America/New_York") {
        Ok(there) => there.strftime("%a %-d %b %Y, %H:%M in New York").to_string(),
        Err(_) => instant(at),
    }
}

fn instant(at: Timestamp) -> String {
    let mut text = Vec::new();
    base::write_instant(&mut text, at.as_microsecond());
    String::from_utf8_lossy(&text).into_owned()
}

/// Lists the change to each transaction, and the merchants of the transactions.
fn describe_correction(
    tx: &mut Tx<'_>,
    caller: &Caller,
    transactions: &[TransactionId],
    sets: &Override,
) -> Result<(Vec<Change>, Vec<String>)> {
    let mut changes = Vec::with_capacity(transactions.len());
    let mut merchants: Vec<String> = Vec::new();
    for id in transactions {
        let found = find_transaction(tx, caller, IDS, *id)?;
        let merchant = merchant_name(&clean(&found.description).key);
        let before = match sets.counterparty {
            Some(_) => Some(found.name().to_owned()),
            None => found.category.map(|it| it.label().to_owned()),
        };
        changes.push(change(&found.label(), before, &sets.text()));
        if !merchants.contains(&merchant) {
            merchants.push(merchant);
        }
    }
    Ok((changes, merchants))
}

/// Shows both legs of a transfer: where the money left and where it arrived.
fn describe_link(
    tx: &mut Tx<'_>,
    caller: &Caller,
    [one, other]: [TransactionId; 2],
) -> Result<Vec<Change>> {
    let mut legs =
        [find_transaction(tx, caller, IDS, one)?, find_transaction(tx, caller, IDS, other)?];
    legs.sort_by_key(|it| it.amount.minor());
    let [from, to] = &legs;
    if from.amount.minor() >= 0 || to.amount.minor() <= 0 || from.account == to.account {
        let message = "payload.transaction_ids must name money that leaves one account and money \
                       that arrives in another";
        return Err(Error::invalid("payload.transaction_ids", message));
    }
    let from_account = account(tx, caller, "transaction_ids", from.account)?;
    let to_account = account(tx, caller, "transaction_ids", to.account)?;
    Ok(vec![
        change(&format!("Out of {from_account}"), None, &from.label()),
        change(&format!("Into {to_account}"), None, &to.label()),
    ])
}

fn describe_rule(
    tx: &mut Tx<'_>,
    caller: &Caller,
    rule: &NewRule,
) -> Result<(String, Vec<Change>)> {
    let matched = match (&rule.like, &rule.words) {
        (Some(like), None) => {
            let key = clean(like).key;
            if key == UNKNOWN {
                let message = "payload.like names no merchant; use words instead";
                return Err(Error::invalid("payload.like", message));
            }
            merchant_name(&key)
        }
        (None, Some(words)) if !words.trim().is_empty() => {
            format!("texts with {}", words.trim().to_uppercase())
        }
        _ => {
            let message = "payload must have words, or like (a description of such a transaction), \
                           and not both";
            return Err(Error::invalid("payload.words", message));
        }
    };
    let mut changes = vec![change("For", None, &matched)];
    if let Some(id) = rule.account_id {
        changes.push(change("In", None, &account(tx, caller, "account_id", id)?));
    }
    changes.extend(rule.direction.map(|it| change("Direction", None, it.as_str())));
    changes.extend(rule.amounts.map(|it| change("Amount", None, &amounts_text(it))));
    changes.push(change("It is", None, &rule.sets.text()));
    Ok((matched, changes))
}

/// "$5.00 to $10.00", "at least $5.00"
fn amounts_text(range: AmountRange) -> String {
    let text = |minor| Money::new(minor, range.currency).pretty();
    match (range.least_minor, range.most_minor) {
        (Some(least), Some(most)) if least == most => format!("exactly {}", text(least)),
        (Some(least), Some(most)) => format!("{} to {}", text(least), text(most)),
        (Some(least), None) => format!("at least {}", text(least)),
        (None, Some(most)) => format!("at most {}", text(most)),
        (None, None) => "any".to_owned(),
    }
}

fn account(tx: &mut Tx<'_>, caller: &Caller, member: &str, id: AccountId) -> Result<String> {
    let found = tx.first(ACCOUNT, params![caller.user, id], |row| row.get::<String>(0))?;
    let found = found.filter(|_| caller.may_see(id));
    let param = format!("payload.{member}");
    found.ok_or_else(|| Error::invalid(&param, format!("there is no account {id}")))
}

/// The member of a payload with several transactions.
const IDS: &str = "transaction_ids";
const ACCOUNT_COUNT: &str =
    "select cast(count(*) as bigint) from paper_accounts where user_id = $1";
const ACCOUNT: &str =
    "select coalesce(own_name, name) from accounts where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[ACCOUNT_COUNT, ACCOUNT];
