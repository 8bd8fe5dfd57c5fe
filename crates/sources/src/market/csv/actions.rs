//! Parses `corporate-actions.csv` into splits and dividends.

use super::super::{ActionTerms, CorporateAction};
use super::SourceFile;
use super::prices::symbol_in;
use super::table::{Row, Table};

const MOST_ACTIONS: usize = 20_000;

pub(super) fn read(table: &Table<'_>, source: &mut SourceFile<'_>) -> Vec<CorporateAction> {
    for column in ["symbol", "ex_on", "kind"] {
        if table.column(&[column]).is_none() {
            source.warn(1, &format!("there is no column {column}"));
            return Vec::new();
        }
    }
    let mut found = Vec::new();
    for (number, row) in table.rows() {
        match row.map_err(str::to_owned).and_then(|row| action(&row)) {
            Ok(_) if found.len() >= MOST_ACTIONS => {
                source.warn(number, &format!("only the first {MOST_ACTIONS} lines are read"));
            }
            Ok(action) => found.push(action),
            Err(reason) => source.warn(number, &reason),
        }
    }
    found.sort_by(|a, b| (a.ex_on, &a.symbol).cmp(&(b.ex_on, &b.symbol)));
    found
}

fn action(row: &Row<'_>) -> Result<CorporateAction, String> {
    let (symbol, ex_on) = (symbol_in(row)?, row.day("ex_on")?);
    let terms = match row.text("kind").unwrap_or_default().to_lowercase().as_str() {
        "split" => {
            let (to, from) = row.text("ratio").and_then(ratio).ok_or("ratio must be like 4:1")?;
            ActionTerms::Split { to, from }
        }
        "dividend" => {
            let (each, pay_on) = (row.positive("amount")?, row.day("pay_on")?);
            if pay_on < ex_on {
                return Err("pay_on must not be before ex_on".to_owned());
            }
            ActionTerms::Dividend { each, pay_on }
        }
        _ => return Err("kind must be split or dividend".to_owned()),
    };
    Ok(CorporateAction { symbol, ex_on, terms })
}

fn ratio(text: &str) -> Option<(u32, u32)> {
    let (to, from) = text.split_once(':')?;
    let (to, from) = (to.trim().parse().ok()?, from.trim().parse().ok()?);
    (to > 0 && from > 0).then_some((to, from))
}
