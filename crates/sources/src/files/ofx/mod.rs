//! OFX 1 (SGML), OFX 2 (XML) and QFX: bank, card and investment statements.

mod amounts;
mod lines;
mod position;
mod row;
mod statement;
mod status;
mod tags;
#[cfg(test)]
mod tests;
pub(super) mod tokens;
mod trade;
mod values;
mod walk;

use super::text::decode;
use super::{FileContents, FileError, FileQuestion, Format, ParseOptions};
use statement::BalanceDay;
use walk::Walker;

/// How many bytes are examined to recognize the format.
const OPENING: usize = 4_096;

/// Tags that only OFX files begin with; a fragment may begin within a file.
const SIGNS: [&str; 10] = [
    "OFXHEADER",
    "<?OFX",
    "<OFX>",
    "<OFX ",
    "<BANKMSGSRSV1>",
    "<STMTRS>",
    "<CCSTMTRS>",
    "<INVSTMTRS>",
    "<BANKTRANLIST>",
    "<STMTTRN>",
];

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    // In UTF-16, every other byte is zero.
    let opening = bytes.iter().take(OPENING).filter(|it| **it != 0);
    let opening: String = opening.map(|it| char::from(it.to_ascii_uppercase())).collect();
    SIGNS.iter().any(|it| opening.contains(it))
}

pub(super) fn read(bytes: &[u8], options: &ParseOptions) -> Result<FileContents, FileError> {
    let text = decode(bytes);
    let mut walk = Walker::over(&text, options);
    let format = if walk.is_intuit { Format::Qfx } else { Format::Ofx };
    if walk.statements.is_empty() && walk.rejected.count == 0 {
        let reason = match walk.refusals.first() {
            Some((_, words)) => words.clone(),
            None => "there is no statement in it".to_owned(),
        };
        return Err(FileError::Broken { format, reason });
    }
    for (line, words) in std::mem::take(&mut walk.refusals) {
        walk.rejected.add(line, words);
    }
    let fallback = BalanceDay {
        made_on: walk.made_at.as_deref().and_then(values::date),
        today: options.today,
    };
    let names_all = walk.statements.iter().all(|it| it.names_currency);
    let assumed_currency = (!names_all).then_some(options.default_currency());
    if !names_all && options.chosen_currency.is_none() {
        walk.notes.assume_currency(options.currency, None);
    }
    let (mut accounts, mut questions) = (Vec::new(), Vec::new());
    for statement in walk.statements {
        let (account, is_ambiguous) =
            statement.finish(&walk.securities, &walk.institution, fallback, &mut walk.rejected);
        if is_ambiguous {
            questions.push(FileQuestion::CardBalance { account: accounts.len() });
        }
        accounts.push(account);
    }
    walk.rejected.rows.sort_by_key(|it| it.line);
    walk.notes.sort();
    Ok(FileContents {
        format,
        accounts,
        rejected: walk.rejected,
        questions,
        notes: walk.notes,
        assumed_currency,
    })
}
