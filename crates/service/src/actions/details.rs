//! What the person is shown of a proposal: made by us from what is proposed, never by the proposer.

use base::{AccountId, Money, Timestamp, TransactionId};
use calc::enrich::{UNKNOWN, clean};
use calc::paper::{Side, Size};
use db::params;
use serde::{Deserialize, Serialize};
use sources::market::calendar::Hours;
use wire::v1::{ActionDetails, Change, TradeAccount, TradeDetails};

use super::What;
use super::propose::{too_many_accounts, unknown_symbol};
use crate::classify::merchants::merchant_name;
use crate::classify::overrides::Override;
use crate::classify::rules::NewRule;
use crate::ledger::transactions::row::{StoredTransaction, transaction_columns};
use crate::trading::paper::orders::{Estimate, Order};
use crate::trading::paper::{ACCOUNTS_MAX, usd};
use crate::trading::quotes;
use crate::trading::quotes::{SourcedQuote, WhenClosed};
use crate::{App, Caller, Error, Result, Tx};

/// One of the two, by the kind of action.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    pub trade: Option<TradeDetails>,
    pub plain: Option<ActionDetails>,
}

/// The proposer's own words, which are shown as theirs.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) reason: Option<&'a str>,
    pub(super) proposer: &'a str,
}

impl Shown {
    pub(super) fn read(text: &str) -> Shown {
        serde_json::from_str(text).unwrap_or(Shown { trade: None, plain: None })
    }

    pub(super) fn write(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Error::internal(error.to_string()))
    }

    /// In a few words.
    pub fn title(&self) -> String {
        match (&self.trade, &self.plain) {
            (Some(trade), _) => trade.primary_action_label.clone(),
            (None, Some(plain)) => plain.title.clone(),
            (None, None) => "A proposal that cannot be read".to_owned(),
        }
    }
}

/// What is shown, and the amount that the policy goes by.
pub(super) fn describe(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    what: &What,
    priced: Option<SourcedQuote>,
    words: Words<'_>,
) -> Result<(Shown, Option<i64>)> {
    let plain = |title: String, summary: Option<String>, changes: Vec<Change>| {
        let reason_markdown = words.reason.map(str::to_owned);
        let plain = ActionDetails { title, summary_markdown: summary, reason_markdown, changes };
        Shown { trade: None, plain: Some(plain) }
    };
    match what {
        What::Trade { .. } => {
            let Some(order) = what.order() else { return Err(Error::internal("an order")) };
            let priced = priced.ok_or_else(|| unknown_symbol(&order.symbol))?;
            trade(app, tx, caller, &order, &priced, words)
        }
        What::PaperAccount { name, cash_minor } => {
            let count = tx.first(ACCOUNT_COUNT, params![caller.user], |row| row.get::<i64>(0))?;
            if count.unwrap_or(0) >= ACCOUNTS_MAX {
                return Err(too_many_accounts());
            }
            let cash = usd(*cash_minor).pretty();
            let title = format!("Open the paper account {name} with {cash}");
            let changes = vec![change("Name", None, name), change("Paper cash", None, &cash)];
            Ok((plain(title, Some("No real money moves.".to_owned()), changes), None))
        }
        What::Fix { transactions, word, always } => {
            let (changes, merchants) = fixed(tx, caller, transactions, word)?;
            let count = transactions.len();
            let many = if count == 1 { "transaction" } else { "transactions" };
            let verb = if word.counterparty.is_some() { "Rename" } else { "Recategorise" };
            let title = format!("{verb} {count} {many} to {}", word.text());
            let summary =
                always.then(|| format!("From now on, too: a rule for {}.", merchants.join(", ")));
            Ok((plain(title, summary, changes), None))
        }
        What::Rule(rule) => {
            let (of, changes) = ruled(tx, caller, rule)?;
            let title = format!("Make a rule: {of} is {}", rule.sets.text());
            Ok((plain(title, None, changes), None))
        }
        What::Transfer { from, to, amount, on } => {
            let from = account(tx, caller, "from_account_id", *from)?;
            let to = account(tx, caller, "to_account_id", *to)?;
            let title = format!("Move {} from {from} to {to}", amount.pretty());
            let summary = "Evenkeel cannot move money. If you agree, move it at your bank, then say \
                           here that it is done.";
            let mut changes = vec![
                change("From", None, &from),
                change("To", None, &to),
                change("Amount", None, &amount.pretty()),
            ];
            changes.extend(on.map(|it| change("On", None, &it.strftime("%-d %b %Y").to_string())));
            Ok((plain(title, Some(summary.to_owned()), changes), Some(amount.minor())))
        }
        What::Custom { title, summary, .. } => {
            Ok((plain(title.clone(), summary.clone(), Vec::new()), None))
        }
    }
}

fn trade(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    order: &Order,
    priced: &SourcedQuote,
    words: Words<'_>,
) -> Result<(Shown, Option<i64>)> {
    if caller.limited_to().is_some() {
        return Err(Error::NotFound("paper account"));
    }
    let price = priced.quote.price;
    let estimate = order.estimate(app, tx, caller.user, price)?;
    order.affordable(&estimate, price)?;
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
        proposed_by_label: words.proposer.to_owned(),
        top_markdown: None,
        bottom_markdown: Some(
            "It is filled at the price of that moment. If that differs by more than 2 % from what \
             you see here, nothing is traded."
                .to_owned(),
        ),
        reason_markdown: words.reason.map(str::to_owned),
        timing_disclosure: timing(app, order, price),
        money_movement_disclosure: Some("This is paper trading: no real money moves.".to_owned()),
        primary_action_label: order.title(),
        secondary_action_label: "Reject".to_owned(),
    };
    Ok((Shown { trade: Some(details), plain: None }, Some(amount_minor)))
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

/// What happens with a trade if the market is closed at this moment; nothing to tell where it is open.
pub fn timing_now(app: &App, action: &super::Action, price: base::Fixed9) -> Option<String> {
    timing(app, &action.what()?.order()?, price)
}

fn timing(app: &App, order: &Order, price: base::Fixed9) -> Option<String> {
    let Hours::Closed { opens_at } = quotes::hours(app) else { return None };
    if app.trading.when_closed == WhenClosed::LastPrice {
        return Some("The market is closed. It is filled at once, at the last price.".to_owned());
    }
    let aside = match order.side {
        Side::Buy => calc::paper::reserve(order.size, price)
            .map(|minor| format!(" with {} put aside", usd(minor).pretty())),
        Side::Sell => None,
    };
    Some(format!(
        "The market is closed. The order waits{} and is filled after the opening on {}.",
        aside.unwrap_or_default(),
        in_new_york(opens_at)
    ))
}

/// "+$2.10 (+1.14 %)".
pub fn change_display(priced: &SourcedQuote) -> Option<String> {
    let (price, close) = (priced.quote.price, priced.quote.previous_close?);
    let moved = price.billionths() - close.billionths();
    let sign = if moved > 0 { "+" } else { "" };
    let cents = |it: base::Fixed9| base::Fixed9::ONE.times_price(it, 2);
    let moved_text = base::Fixed9::from_billionths(moved).pretty_dollars();
    let percent = base::Percent::of(cents(price)? - cents(close)?, cents(close)?)?;
    let mut text = Vec::new();
    percent.write(&mut text);
    Some(format!("{sign}{moved_text} ({sign}{} %)", String::from_utf8_lossy(&text)))
}

pub fn change_direction(priced: &SourcedQuote) -> Option<&'static str> {
    let close = priced.quote.previous_close?;
    Some(match priced.quote.price.cmp(&close) {
        std::cmp::Ordering::Greater => "positive",
        std::cmp::Ordering::Less => "negative",
        std::cmp::Ordering::Equal => "neutral",
    })
}

/// "Demo market, Fri 13 Nov 2026, 16:00 in New York", and whether that is long ago.
pub fn as_of_label(priced: &SourcedQuote) -> String {
    let stale = if priced.is_stale { ", which is stale" } else { "" };
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

fn change(label: &str, before: Option<String>, after: &str) -> Change {
    Change { label: label.to_owned(), before, after: Some(after.to_owned()) }
}

/// Each transaction with what it is called now, and the merchants they are of.
fn fixed(
    tx: &mut Tx<'_>,
    caller: &Caller,
    transactions: &[TransactionId],
    word: &Override,
) -> Result<(Vec<Change>, Vec<String>)> {
    let mut changes = Vec::with_capacity(transactions.len());
    let mut merchants: Vec<String> = Vec::new();
    for id in transactions {
        let read = |row: &db::Row<'_>| {
            let row = StoredTransaction(row);
            let amount = Money::new(row.amount_minor()?, row.currency()?);
            let text = row.description()?.to_owned();
            let name = row.counterparty()?.map(str::to_owned);
            Ok((row.account_id()?, row.posted_on()?, amount, text, name, row.category()?))
        };
        let found = tx.first(TRANSACTION, params![caller.user, *id], read)?;
        let found = found.filter(|it| caller.may_see(it.0));
        let Some((_, posted_on, amount, text, name, category)) = found else {
            let message = format!("there is no transaction {id}");
            return Err(Error::invalid("payload.transaction_ids", message));
        };
        let merchant = merchant_name(&clean(&text).key);
        let shown = name.clone().unwrap_or_else(|| text.clone());
        let before = match word.counterparty {
            Some(_) => Some(shown.clone()),
            None => category.map(|it| it.label().to_owned()),
        };
        let label = format!("{}, {shown}, {}", posted_on.strftime("%-d %b %Y"), amount.pretty());
        changes.push(change(&label, before, &word.text()));
        if !merchants.contains(&merchant) {
            merchants.push(merchant);
        }
    }
    Ok((changes, merchants))
}

fn ruled(tx: &mut Tx<'_>, caller: &Caller, rule: &NewRule) -> Result<(String, Vec<Change>)> {
    let of = match (&rule.like, &rule.words) {
        (Some(like), None) => {
            let key = clean(like).key;
            if key == UNKNOWN {
                let message = "payload.like names no merchant; say words instead";
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
    let mut changes = vec![change("For", None, &of)];
    if let Some(id) = rule.account_id {
        changes.push(change("In", None, &account(tx, caller, "account_id", id)?));
    }
    changes.extend(rule.direction.map(|it| change("Direction", None, it.as_str())));
    changes.push(change("It is", None, &rule.sets.text()));
    Ok((of, changes))
}

fn account(tx: &mut Tx<'_>, caller: &Caller, member: &str, id: AccountId) -> Result<String> {
    let found = tx.first(ACCOUNT, params![caller.user, id], |row| row.get::<String>(0))?;
    let found = found.filter(|_| caller.may_see(id));
    let param = format!("payload.{member}");
    found.ok_or_else(|| Error::invalid(&param, format!("there is no account {id}")))
}

const ACCOUNT_COUNT: &str =
    "select cast(count(*) as bigint) from paper_accounts where user_id = $1";
const TRANSACTION: &str = concat!(
    "select ",
    transaction_columns!(),
    " from transactions t where user_id = $1 and id = $2 and state <> 'removed'"
);
const ACCOUNT: &str =
    "select coalesce(own_name, name) from accounts where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[ACCOUNT_COUNT, TRANSACTION, ACCOUNT];
