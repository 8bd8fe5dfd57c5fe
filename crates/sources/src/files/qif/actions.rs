//! The effect of QIF investment actions on the cash of the account.

use base::{Currency, Fixed9, Money};

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
    let quantity = parse_json_decimal(&plain(quantity, Comma::Grouping)?)?;
    Some(Fixed9::from_billionths(quantity.billionths().abs()).to_string())
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
        "stksplt" => ("Split", false, Flow::None),
        "shrsin" => ("Transfer in", true, Flow::None),
        "shrsout" => ("Transfer out", true, Flow::None),
        "xin" | "contribx" => ("Transfer in", false, Flow::In),
        "xout" | "withdrwx" => ("Transfer out", false, Flow::Out),
        "cash" | "contrib" | "withdrw" => ("", false, Flow::AsWritten),
        _ => return None,
    })
}
