//! What the actions of an investment account do to its cash.

use base::{Currency, Fixed9, Money};

use super::records::Record;
use crate::decimal::nine_places;
use crate::files::decimals::{Comma, amount, plain, quote};
use crate::files::ofx::tokens::clean;

enum Flow {
    In,
    Out,
    AsWritten,
    /// It moves securities only, or cash that comes from elsewhere or goes there at once.
    None,
}

/// The effect on cash, and a sentence that says what happened.
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
    let quantity = nine_places(&plain(quantity, Comma::Grouping)?)?;
    Some(Fixed9::from_billionths(quantity.billionths().abs()).to_string())
}

/// The words for an action, whether they count units, and how its amount moves cash. Those that end with X settle
/// with another account.
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
