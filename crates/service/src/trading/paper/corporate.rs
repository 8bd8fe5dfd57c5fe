//! Corporate actions: splits and dividends, booked once in every account that held the shares.

use base::{Date, Fixed9, PaperAccountId, TimeZone, Timestamp, UserId};
use base::{date_from_days, days_from_date, divide_half_even};
use calc::paper::{self as sums, Position, entries};
use db::params;
use sources::market::{ActionTerms, CorporateAction, InstrumentKind, calendar};

use super::ledger::{EntryKind, LedgerEntry, LockedAccount, Security};
use crate::ledger::quotes;
use crate::{App, Error, Result, Tx};

/// How far back corporate actions are fetched, because the server may have been off for a while.
const LOOK_BACK_DAYS: i64 = 45;
/// How far ahead they are fetched, so that an announced split is known before anybody trades on its day.
const LOOK_AHEAD_DAYS: i64 = 14;
base::words!(
    /// The stored kind of a corporate action.
    CorporateKind {
        Split => "split",
        Dividend => "dividend",
    }
);
db::word_columns!(CorporateKind);

const SYMBOLS_MAX: i64 = 1_000;
const HOLDERS_MAX: i64 = 10_000;

/// Background step: fetches the corporate actions of all held shares, and books those that are due.
pub async fn settle_once(app: &App) -> Result<usize> {
    let today = last_started_day(app);
    let first = date_from_days(days_from_date(today) - LOOK_BACK_DAYS);
    let symbols: Vec<String> = app.db.all(SYMBOLS, params![SYMBOLS_MAX], |row| row.get(0)).await?;
    if !symbols.is_empty() {
        let last = date_from_days(days_from_date(today) + LOOK_AHEAD_DAYS);
        match app.trading.market.corporate_actions(symbols, first, last).await {
            Ok(actions) => store(app, actions).await?,
            Err(error) => tracing::warn!(error = error.0, "market returned no corporate actions"),
        }
    }
    let mut booked = 0;
    let oldest = days_from_date(first);
    for due in app.db.all(DUE, params![days_from_date(today), oldest, SYMBOLS_MAX], read).await? {
        booked += settle(app, &due).await?;
    }
    Ok(booked)
}

/// Books the splits of a symbol that an account does not have yet, before it trades.
pub(crate) async fn settle_splits(
    app: &App,
    user: UserId,
    account: PaperAccountId,
    symbol: &str,
) -> Result<()> {
    let today = days_from_date(last_started_day(app));
    let values = params![symbol, today, today - LOOK_BACK_DAYS];
    for due in app.db.all(SPLITS, values, read).await? {
        let Some(opens_at) = effective_at(app, &due) else { continue };
        let price = quotes::find(app, symbol).await?.map(|it| it.quote.price);
        let mine = app.clone();
        let work = move |tx: &mut Tx<'_>| {
            settle_account(&mine, tx, (user, account), &due, opens_at, price)
        };
        app.db.write(work).await?;
    }
    Ok(())
}

/// The date in UTC, which is never before that of the exchange. Whether the exchange has opened on it is checked later.
fn last_started_day(app: &App) -> Date {
    app.clock.today_in(TimeZone::utc())
}

/// When a corporate action took effect: the opening of its ex-day. `None` if that is in the future.
fn effective_at(app: &App, due: &CorporateAction) -> Option<Timestamp> {
    let opens_at = calendar::session_on(due.ex_on)?.opens_at;
    (opens_at <= app.clock.now()).then_some(opens_at)
}

async fn store(app: &App, actions: Vec<CorporateAction>) -> Result<()> {
    let now = app.clock.now();
    let save = move |tx: &mut Tx<'_>| {
        for it in &actions {
            let (kind, terms, pay_on) = match &it.terms {
                ActionTerms::Split { to, from } => {
                    (CorporateKind::Split, format!("{to}:{from}"), it.ex_on)
                }
                ActionTerms::Dividend { each, pay_on } => {
                    (CorporateKind::Dividend, each.to_string(), *pay_on)
                }
            };
            let (ex_on, pay_on) = (days_from_date(it.ex_on), days_from_date(pay_on));
            let values = params![&it.symbol, kind.as_str(), ex_on, terms.as_str(), pay_on, now];
            tx.execute(STORE, values)?;
        }
        Ok::<_, Error>(())
    };
    app.db.write(save).await
}

async fn settle(app: &App, due: &CorporateAction) -> Result<usize> {
    let Some(opens_at) = effective_at(app, due) else { return Ok(0) };
    let values = params![&due.symbol, HOLDERS_MAX];
    let holders = app.db.all(HOLDERS, values, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    let price = quotes::find(app, &due.symbol).await?.map(|it| it.quote.price);
    let mut booked = 0;
    for (user, account) in holders {
        let (mine, due) = (app.clone(), due.clone());
        let work = move |tx: &mut Tx<'_>| {
            settle_account(&mine, tx, (user, account), &due, opens_at, price)
        };
        booked += usize::from(app.db.write(work).await?);
    }
    Ok(booked)
}

fn settle_account(
    app: &App,
    tx: &mut Tx<'_>,
    (user, account): (UserId, PaperAccountId),
    due: &CorporateAction,
    opens_at: Timestamp,
    price: Option<Fixed9>,
) -> Result<bool> {
    let now = app.clock.now();
    let Some(mut open) = LockedAccount::find(tx, user, account)? else { return Ok(false) };
    let symbol = due.symbol.as_str();
    let (kind, name) = find_security(tx, (user, account), symbol)?;
    let security = Some(Security { symbol, name: name.as_deref(), kind });
    let before = held_before(tx, (user, account), due, opens_at)?;
    let entry = match &due.terms {
        ActionTerms::Dividend { each, .. } => {
            let minor = sums::dividend(before, *each);
            if minor == 0 {
                return Ok(false);
            }
            LedgerEntry {
                kind: EntryKind::Dividend,
                cause: format!("dividend {symbol} {}", due.ex_on),
                security,
                quantity: Some(before),
                price: Some(*each),
                legs: entries::dividend(minor),
            }
        }
        ActionTerms::Split { to, from } => {
            let held = open.position(tx, symbol)?;
            let old = part_before_split(held, before);
            let (Some(price), true) = (price, old.quantity > Fixed9::ZERO) else {
                return Ok(false);
            };
            let split = sums::split(old, *to, *from, price);
            let billionths = held.quantity.billionths() - old.quantity.billionths()
                + split.position.quantity.billionths();
            let position = old;
            LedgerEntry {
                kind: EntryKind::Split,
                cause: split_cause(due),
                security,
                quantity: Some(Fixed9::from_billionths(billionths)),
                price: None,
                legs: entries::split(symbol, position, &split),
            }
        }
    };
    Ok(open.book(app, tx, &entry, now)?.is_some())
}

/// The cause of a split's entry. The causes of one symbol sort by date.
fn split_cause(due: &CorporateAction) -> String {
    format!("split {} {}", due.symbol, due.ex_on)
}

/// The part of a position that was held before the split. Shares bought since are already counted in new shares.
fn part_before_split(held: Position, before: Fixed9) -> Position {
    if before >= held.quantity || before <= Fixed9::ZERO {
        return if before <= Fixed9::ZERO { Position::default() } else { held };
    }
    let share = i128::from(held.basis_minor) * before.billionths();
    let basis = divide_half_even(share, held.quantity.billionths());
    Position { quantity: before, basis_minor: i64::try_from(basis).unwrap_or(held.basis_minor) }
}

/// The number of shares held at the opening, from the ledger. An earlier split counts even if it was booked late.
fn held_before(
    tx: &mut Tx<'_>,
    (user, account): (UserId, PaperAccountId),
    due: &CorporateAction,
    opens_at: Timestamp,
) -> Result<Fixed9> {
    let read = |row: &db::Row<'_>| {
        let amount: &str = row.get(0)?;
        let decode = |_| db::Error::Decode { column: 0, reason: "not an amount".to_owned() };
        amount.parse::<i128>().map_err(decode)
    };
    let own = split_cause(due);
    let values = params![user, account, &due.symbol, opens_at, own.as_str()];
    let legs = tx.all(SHARES_BEFORE, values, read)?;
    Ok(Fixed9::from_billionths(legs.iter().sum()))
}

fn find_security(
    tx: &mut Tx<'_>,
    (user, account): (UserId, PaperAccountId),
    symbol: &str,
) -> Result<(InstrumentKind, Option<String>)> {
    let read = |row: &db::Row<'_>| {
        Ok((row.word(0, "kind of security", InstrumentKind::parse)?, row.get(1)?))
    };
    let found = tx.first(SECURITY, params![user, account, symbol], read)?;
    Ok(found.unwrap_or((InstrumentKind::Equity, None)))
}

fn read(row: &db::Row<'_>) -> db::Result<CorporateAction> {
    let invalid = || db::Error::Decode { column: 3, reason: "invalid terms".to_owned() };
    let (kind, terms): (CorporateKind, &str) = (row.get(1)?, row.get(3)?);
    let day = |column: usize| row.get::<i64>(column).map(date_from_days);
    let terms = match kind {
        CorporateKind::Split => {
            let (to, from) = terms.split_once(':').ok_or_else(invalid)?;
            let number = |text: &str| text.parse::<u32>().map_err(|_| invalid());
            ActionTerms::Split { to: number(to)?, from: number(from)? }
        }
        CorporateKind::Dividend => {
            let each = Fixed9::parse(terms).map_err(|_| invalid())?;
            ActionTerms::Dividend { each, pay_on: day(4)? }
        }
    };
    Ok(CorporateAction { symbol: row.get(0)?, ex_on: day(2)?, terms })
}

const SYMBOLS: &str = "select distinct symbol from paper_entries where symbol is not null
    order by symbol limit $1";
const STORE: &str = "insert into corporate_actions (symbol, kind, ex_on, terms, pay_on, told_at)
    values ($1, $2, $3, $4, $5, $6) on conflict (symbol, kind, ex_on) do nothing";
const DUE: &str = "select symbol, kind, ex_on, terms, pay_on from corporate_actions
    where pay_on <= $1 and pay_on >= $2 order by ex_on, symbol, kind limit $3";
const SPLITS: &str = "select symbol, kind, ex_on, terms, pay_on from corporate_actions
    where symbol = $1 and kind = 'split' and ex_on <= $2 and ex_on >= $3 order by ex_on limit 100";
const HOLDERS: &str = "select distinct user_id, account_id from paper_entries where symbol = $1
    order by user_id, account_id limit $2";
const SHARES_BEFORE: &str = "select l.amount from paper_legs l
    join paper_entries e on e.user_id = l.user_id and e.account_id = l.account_id
    and e.number = l.number
    where l.user_id = $1 and l.account_id = $2 and l.symbol = $3 and l.book = 'shares'
    and (e.booked_at < $4 or (e.kind = 'split' and e.cause < $5)) limit 1000000";
const SECURITY: &str = "select kind, name from paper_positions
    where user_id = $1 and account_id = $2 and symbol = $3";

pub(super) const STATEMENTS: &[&str] =
    &[SYMBOLS, STORE, DUE, SPLITS, HOLDERS, SHARES_BEFORE, SECURITY];
