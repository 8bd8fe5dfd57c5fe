//! The effect of QIF investment actions on the cash of the account, and on its positions.

use base::draft::{TradeDraft, TradeKind};
use base::{Currency, Date, Fixed9, Money};

use super::records::Record;
use crate::files::ofx::tokens::clean;
use crate::files::plain_amount::{Comma, amount, plain, quote};
use crate::json_decimal::parse_json_decimal;

enum Flow {
    In,
    Out,
    AsWritten,
    /// Moves securities only, or cash from or to another account at once.
    None,
}

/// The effect on cash, and a description.
pub(super) fn cash_row(
    record: &Record<'_>,
    written: Option<&str>,
    currency: Currency,
) -> Result<(Money, String), String> {
    let action = record.number.unwrap_or("Cash");
    let (verb, counts, flow) = meaning(action)
        .ok_or_else(|| format!("the investment action {} is unknown", quote(action)))?;
    let minor = match (flow, written) {
        (Flow::None, _) => 0,
        (_, None) => return Err("the transaction has no amount (T)".to_owned()),
        (flow, Some(written)) => {
            let minor = amount(written, Comma::Grouping, currency)?.minor();
            match flow {
                Flow::In => minor.abs(),
                Flow::Out => -minor.abs(),
                _ => minor,
            }
        }
    };
    let count = record.quantity.filter(|_| counts).and_then(count);
    let words =
        [record.security, record.payee.or(record.memo).filter(|_| record.security.is_none())];
    let mut description = verb.to_owned();
    for word in count.as_deref().into_iter().chain(words.into_iter().flatten()) {
        description.push(' ');
        description.push_str(&clean(word));
    }
    Ok((Money::new(minor, currency), description.trim().to_owned()))
}

fn count(quantity: &str) -> Option<String> {
    units(quantity).map(|it| it.to_string())
}

fn units(quantity: &str) -> Option<Fixed9> {
    let quantity = parse_json_decimal(&plain(quantity, Comma::Grouping)?)?;
    Some(Fixed9::from_billionths(quantity.billionths().abs()))
}

/// A split is written as the new units for so many old ones.
const SPLIT_PER: i128 = 10 * 1_000_000_000;

/// The trade of a security, if the action is one whose effect on the position is known.
pub(super) fn trade(
    record: &Record<'_>,
    security: String,
    on: Date,
    currency: Currency,
) -> Option<TradeDraft> {
    let written = record.amount.or(record.precise_amount);
    let minor = written.and_then(|it| amount(it, Comma::Grouping, currency).ok());
    let minor = minor.map(|it| it.minor().abs());
    let kind = match record.number?.to_ascii_lowercase().as_str() {
        "buy" | "buyx" => TradeKind::Buy,
        "sell" | "sellx" => TradeKind::Sell,
        "reinvdiv" | "reinvint" | "reinvlg" | "reinvmd" | "reinvsh" => TradeKind::Reinvest,
        "stksplt" | "stksplit" => TradeKind::Split,
        // Shares that are added with an amount were bought elsewhere for it.
        "shrsin" if minor.is_some_and(|it| it > 0) => TradeKind::Buy,
        "shrsin" => TradeKind::TransferIn,
        "shrsout" => TradeKind::TransferOut,
        "rtrncap" | "rtrncapx" => TradeKind::ReturnOfCapital,
        _ => return None,
    };
    let (quantity, per) = match kind {
        TradeKind::ReturnOfCapital => (Fixed9::ZERO, None),
        TradeKind::Split => (units(record.quantity?)?, Some(Fixed9::from_billionths(SPLIT_PER))),
        _ => (units(record.quantity?)?, None),
    };
    let amount_minor = minor.filter(|_| kind != TradeKind::Split);
    Some(TradeDraft { external_id: None, security, on, kind, quantity, per, amount_minor })
}

/// The description of an action, whether it counts units, and its effect on cash. Actions that end with X settle with
/// another account.
fn meaning(action: &str) -> Option<(&'static str, bool, Flow)> {
    Some(match action.to_ascii_lowercase().as_str() {
        "buy" => ("Buy", true, Flow::Out),
        "buyx" => ("Buy", true, Flow::None),
        "cvrshrt" => ("Buy to cover", true, Flow::Out),
        "sell" => ("Sell", true, Flow::In),
        "sellx" => ("Sell", true, Flow::None),
        "shtsell" => ("Sell short", true, Flow::In),
        "div" => ("Dividend", false, Flow::AsWritten),
        "divx" => ("Dividend", false, Flow::None),
        "intinc" => ("Interest", false, Flow::AsWritten),
        "intincx" => ("Interest", false, Flow::None),
        "cglong" => ("Long-term capital gain", false, Flow::AsWritten),
        "cglongx" => ("Long-term capital gain", false, Flow::None),
        "cgshort" => ("Short-term capital gain", false, Flow::AsWritten),
        "cgshortx" => ("Short-term capital gain", false, Flow::None),
        "miscinc" => ("Income", false, Flow::AsWritten),
        "miscincx" => ("Income", false, Flow::None),
        "rtrncap" => ("Return of capital", false, Flow::AsWritten),
        "rtrncapx" => ("Return of capital", false, Flow::None),
        "miscexp" => ("Expense", false, Flow::Out),
        "miscexpx" => ("Expense", false, Flow::None),
        "margint" => ("Margin interest", false, Flow::Out),
        "margintx" => ("Margin interest", false, Flow::None),
        "reinvdiv" | "reinvint" | "reinvlg" | "reinvmd" | "reinvsh" => {
            ("Reinvest", true, Flow::None)
        }
        "stksplt" | "stksplit" => ("Split", false, Flow::None),
        "shrsin" => ("Transfer in", true, Flow::None),
        "shrsout" => ("Transfer out", true, Flow::None),
        "xin" | "contribx" => ("Transfer in", false, Flow::In),
        "xout" | "withdrwx" => ("Transfer out", false, Flow::Out),
        "cash" | "contrib" | "withdrw" => ("", false, Flow::AsWritten),
        _ => return None,
    })
}
