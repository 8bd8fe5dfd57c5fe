//! The trades in a brokerage's table: rows with an action, a security and a number of units. Their amounts, from which
//! the cost of a position follows, are those of the rows themselves.

use base::Fixed9;
use base::draft::{TradeDraft, TradeKind, TransactionDraft};

use super::cells::{Cells, cell};
use super::titles::separated;
use super::words::plain;
use crate::files::table_amount::DecimalMark;
use crate::json_decimal::parse_json_decimal;

/// The columns of a table with trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TradeColumns {
    action: usize,
    symbol: Option<usize>,
    /// The name of the security, for rows without a symbol.
    name: Option<usize>,
    quantity: usize,
}

/// A trade of a row, without its day and amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowTrade {
    pub(super) kind: TradeKind,
    pub(super) security: String,
    pub(super) quantity: Fixed9,
}

impl RowTrade {
    /// The trade with the day and the amount of its row. The fee is not part of the row's amount.
    pub(super) fn draft(self, row: &TransactionDraft, fee_minor: i64) -> TradeDraft {
        let minor = row.amount.minor().checked_abs();
        let amount_minor = match self.kind {
            TradeKind::Sell => minor.and_then(|it| it.checked_sub(fee_minor)),
            TradeKind::Buy | TradeKind::Reinvest => minor.and_then(|it| it.checked_add(fee_minor)),
            _ => None,
        };
        TradeDraft {
            external_id: row.external_id.clone(),
            security: self.security,
            on: row.authorized_on.unwrap_or(row.posted_on),
            kind: self.kind,
            quantity: self.quantity,
            per: None,
            amount_minor,
        }
    }
}

/// Titles by their meaning, the better ones first.
const ACTIONS: &[&str] = &[
    "action",
    "transaction type",
    "transactiontype",
    "activity type",
    "trans type",
    "activity",
    "trans code",
    "type",
];
const SYMBOLS: &[&str] =
    &["symbol", "ticker", "symbol cusip", "instrument", "fund", "asset", "cusip", "isin"];
const NAMES: &[&str] = &[
    "investment name",
    "security description",
    "security name",
    "security",
    "investment",
    "fund name",
    "description",
];
const QUANTITIES: &[&str] = &[
    "quantity",
    "shares",
    "qty",
    "units",
    "number of shares",
    "shares unit",
    "quantity transacted",
];

impl TradeColumns {
    /// The columns, if the titles have an action, a security and a number of units.
    pub(super) fn find(titles: &[String]) -> Option<TradeColumns> {
        let plain: Vec<String> = titles.iter().map(|it| words(&separated(it))).collect();
        let find =
            |known: &[&str]| known.iter().find_map(|it| plain.iter().position(|title| title == it));
        let (symbol, name) = (find(SYMBOLS), find(NAMES));
        let action = find(ACTIONS).filter(|it| Some(*it) != name)?;
        let found = TradeColumns { action, symbol, name, quantity: find(QUANTITIES)? };
        (symbol.is_some() || name.is_some()).then_some(found)
    }

    /// The columns that say what was done with which security, for the description of a row.
    pub(super) fn texts(&self) -> impl Iterator<Item = usize> {
        [Some(self.action), self.symbol].into_iter().flatten()
    }

    /// The trade of a row. None for rows that move no units.
    pub(super) fn read(&self, cells: Cells<'_>, mark: DecimalMark) -> Option<RowTrade> {
        let quantity = number(cell(cells, Some(self.quantity)), mark)?;
        let security = [self.symbol, self.name].into_iter().map(|it| cell(cells, it));
        let security = security.into_iter().find(|it| !it.is_empty() && *it != "--")?;
        if quantity == Fixed9::ZERO {
            return None;
        }
        let kind = kind(&words(cell(cells, Some(self.action))), quantity > Fixed9::ZERO)?;
        let quantity = Fixed9::from_billionths(quantity.billionths().abs());
        Some(RowTrade { kind, security: security.to_uppercase(), quantity })
    }
}

/// The meaning of an action, or nothing if it moves no units. Units that move in a way that is not known come or go at an
/// unknown cost, so that the cost of the position is unknown and never wrong.
fn kind(action: &str, is_positive: bool) -> Option<TradeKind> {
    // Behind the action, some brokers write the name of the security.
    const WORDS: usize = 3;
    let has = |known: &[&str]| action.split(' ').take(WORDS).any(|it| known.contains(&it));
    let other = if is_positive { TradeKind::TransferIn } else { TradeKind::TransferOut };
    let is_other = has(&[
        "cancel",
        "cancelled",
        "canceled",
        "short",
        "open",
        "close",
        "cover",
        "split",
        "merger",
    ]) || has(&["assigned", "exercised", "expired", "correction", "adjustment"]);
    if is_other {
        Some(other)
    } else if has(&["reinvest", "reinvested", "reinvestment", "drip"]) {
        Some(TradeKind::Reinvest)
    } else if has(&["buy", "bought", "purchase", "purchased", "contribution", "contributions"]) {
        Some(TradeKind::Buy)
    } else if has(&["sell", "sold", "sale", "redemption"]) {
        Some(TradeKind::Sell)
    } else if has(&[
        "dividend",
        "div",
        "interest",
        "tax",
        "fee",
        "fees",
        "gain",
        "cap",
        "term",
        "lieu",
        "deposit",
        "withdrawal",
    ]) {
        None
    } else {
        Some(other)
    }
}

/// The words before parentheses, in small letters.
fn words(text: &str) -> String {
    plain(text.split(['(', '[']).next().unwrap_or_default()).trim().to_owned()
}

fn number(text: &str, mark: DecimalMark) -> Option<Fixed9> {
    let (point, grouping) = match mark {
        DecimalMark::Dot => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    let (text, is_negative) = match text.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        Some(inside) => (inside, true),
        None => (text, false),
    };
    let text = text.trim_start_matches('+');
    let plain: String = text
        .chars()
        .filter(|it| *it != grouping && *it != ' ')
        .map(|it| if it == point { '.' } else { it })
        .collect();
    let found =
        parse_json_decimal(&plain).filter(|_| plain.contains(|it: char| it.is_ascii_digit()))?;
    Some(if is_negative { Fixed9::from_billionths(-found.billionths()) } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{fixtures, read as read_file};
    use proptest::prelude::*;

    /// One line for each trade of a table.
    fn trades(table: &str) -> Vec<String> {
        let contents = read_file(table.as_bytes(), &fixtures::options()).unwrap();
        let trades = contents.accounts.iter().flat_map(|it| &it.draft.trades);
        let shown = |it: &base::draft::TradeDraft| {
            let amount = it.amount_minor.map_or("?".to_owned(), |it| it.to_string());
            format!("{} {} {} {} {amount}", it.on, it.kind.as_str(), it.security, it.quantity)
        };
        trades.map(shown).collect()
    }

    #[test]
    fn the_tables_of_brokers_have_trades() {
        let schwab = "\"Date\",\"Action\",\"Symbol\",\"Description\",\"Quantity\",\"Price\",\"Fees & Comm\",\"Amount\"\n\
            \"01/31/2024\",\"Buy\",\"QXB\",\"QUINTERO INDEX ETF\",\"1,200\",\"$10.00\",\"$0.50\",\"-$12000.50\"\n\
            \"02/05/2024\",\"Sell\",\"QXB\",\"QUINTERO INDEX ETF\",\"200\",\"$11.00\",\"\",\"$2200.00\"\n\
            \"02/06/2024\",\"Reinvest Dividend\",\"QXB\",\"QUINTERO INDEX ETF\",\"\",\"\",\"\",\"$22.00\"\n\
            \"02/06/2024\",\"Reinvest Shares\",\"QXB\",\"QUINTERO INDEX ETF\",\"2.5\",\"$8.80\",\"\",\"-$22.00\"\n\
            \"02/07/2024\",\"Stock Split\",\"QXB\",\"QUINTERO INDEX ETF\",\"1002.5\",\"\",\"\",\"$0.00\"\n";
        assert_eq!(
            trades(schwab),
            [
                "2024-01-31 buy QXB 1200 1200050",
                "2024-02-05 sell QXB 200 220000",
                "2024-02-06 reinvest QXB 2.5 2200",
                "2024-02-07 transfer_in QXB 1002.5 ?",
            ]
        );
        let fidelity = "Run Date,Action,Symbol,Description,Type,Quantity,Price ($),Commission ($),Fees ($),Amount ($),Settlement Date\n\
            01/31/2024,YOU BOUGHT QUINTERO INDEX (QXB) (Cash),QXB,QUINTERO INDEX,Cash,10,20,,,-200,02/02/2024\n\
            02/13/2024,YOU SOLD QUINTERO INDEX (QXB) (Cash),QXB,QUINTERO INDEX,Cash,-4,25,,,100,02/15/2024\n\
            02/14/2024,DIVIDEND RECEIVED QUINTERO INDEX (QXB),QXB,QUINTERO INDEX,Cash,0,,,,3.5,\n\
            02/14/2024,REINVESTMENT QUINTERO INDEX (QXB),QXB,QUINTERO INDEX,Cash,0.14,25,,,-3.5,\n";
        assert_eq!(
            trades(fidelity),
            [
                "2024-01-31 buy QXB 10 20000",
                "2024-02-13 sell QXB 4 10000",
                "2024-02-14 reinvest QXB 0.14 350",
            ]
        );
        let vanguard = "Account Number,Trade Date,Settlement Date,Transaction Type,Transaction Description,Investment Name,Symbol,Shares,Share Price,Net Amount\n\
            77120044,2024-01-31,2024-02-02,Buy,Buy,Quintero Index Admiral,QXBAX,10.5,20,-210.00\n\
            77120044,2024-02-05,2024-02-07,Sell,Sell,Quintero Index Admiral,QXBAX,-0.5,22,11.00\n";
        assert_eq!(
            trades(vanguard),
            ["2024-02-02 buy QXBAX 10.5 21000", "2024-02-07 sell QXBAX 0.5 1100"]
        );
        let etrade = "TransactionDate,TransactionType,SecurityType,Symbol,Quantity,Amount,Price,Commission,Description\n\
            01/31/24,Bought,EQ,QXB,10,-204.95,20,4.95,QUINTERO INDEX\n\
            02/13/24,Sold,EQ,QXB,-10,245.05,25,4.95,QUINTERO INDEX\n\
            02/14/24,Dividend,EQ,QXB,0,9.00,0,0,QUINTERO INDEX\n";
        assert_eq!(trades(etrade), ["2024-01-31 buy QXB 10 20495", "2024-02-13 sell QXB 10 24505"]);
    }

    #[test]
    fn units_that_move_in_another_way_have_no_known_cost() {
        let unknown = [("sell short", false), ("buy to open", true), ("cancel buy", true)];
        let unknown = unknown.into_iter().chain([("journaled shares", true), ("", false)]);
        for (action, is_positive) in unknown {
            let other = if is_positive { TradeKind::TransferIn } else { TradeKind::TransferOut };
            assert_eq!(kind(action, is_positive), Some(other), "{action}");
        }
        for action in ["qualified dividend", "cash in lieu", "nra tax", "long term cap gain"] {
            assert_eq!(kind(action, true), None, "{action}");
        }
    }

    #[test]
    fn a_bank_statement_has_no_trades() {
        let table = "Date,Type,Description,Amount\n01/31/2024,Buy,KROGER,-12.00\n02/13/2024,Buy,SHELL,-9.00\n";
        assert_eq!(trades(table), Vec::<String>::new());
    }

    proptest! {
        /// However a quantity is written, it is the same number.
        #[test]
        fn quantities_are_read_exactly(whole in 0..9_999_999_i128, fraction in 0..1_000_i128, is_comma: bool) {
            let number_of = Fixed9::from_billionths(whole * 1_000_000_000 + fraction * 1_000_000);
            let (point, mark) = if is_comma { (',', DecimalMark::Comma) } else { ('.', DecimalMark::Dot) };
            let grouping = if is_comma { '.' } else { ',' };
            let grouped: String = whole.to_string().chars().rev().enumerate().fold(String::new(), |mut text, (at, digit)| {
                if at > 0 && at % 3 == 0 { text.insert(0, grouping); }
                text.insert(0, digit);
                text
            });
            prop_assert_eq!(number(&format!("{grouped}{point}{fraction:03}"), mark), Some(number_of));
            prop_assert_eq!(number(&format!("+{whole}{point}{fraction:03}"), mark), Some(number_of));
            let negative = Fixed9::from_billionths(-number_of.billionths());
            prop_assert_eq!(number(&format!("({grouped}{point}{fraction:03})"), mark), Some(negative));
            prop_assert_eq!(number(&format!("-{grouped}{point}{fraction:03}"), mark), Some(negative));
        }
    }
}
