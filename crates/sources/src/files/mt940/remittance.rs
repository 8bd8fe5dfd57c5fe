//! Parses remittance information (`:86:`): German subfields, Dutch keys, or free text.

use crate::sepa;

/// The counterparty and the memo, as far as the field separates them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Remittance {
    pub(super) name: Option<String>,
    pub(super) memo: Option<String>,
}

/// The maximum length of a line; `SUBFIELD` is that of a German subfield.
const LINE: usize = 65;
const SUBFIELD: usize = 27;

pub(super) fn read(lines: &[&str]) -> Remittance {
    let first = lines.first().copied().unwrap_or_default();
    if is_german(first) {
        return german(&lines.concat());
    }
    if first.starts_with('/') {
        let words = dutch(&lines.concat());
        if words != Remittance::default() {
            return words;
        }
    }
    let mut memo = String::new();
    let mut is_full = true;
    for line in lines {
        append(&mut memo, line, is_full);
        is_full = line.chars().count() >= LINE;
    }
    Remittance { name: None, memo: kept(&memo) }
}

/// Appends a part. A part of maximum length continues in the next one, possibly within a word; after a shorter one a
/// space is added.
fn append(text: &mut String, part: &str, is_full: bool) {
    if !is_full && !text.is_empty() && !text.ends_with(' ') && !part.starts_with(' ') {
        text.push(' ');
    }
    text.push_str(part);
}

fn kept(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether the text begins with a three-digit business code and the first subfield mark.
fn is_german(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 6
        && bytes[..3].iter().all(u8::is_ascii_digit)
        && bytes[3] == b'?'
        && bytes[4..6].iter().all(u8::is_ascii_digit)
}

fn german(text: &str) -> Remittance {
    let (mut posting, mut purpose, mut name) = (String::new(), String::new(), String::new());
    let (mut purpose_full, mut name_full) = (true, true);
    for part in parts(text) {
        let Some((code, value)) = part.split_at_checked(2) else { continue };
        let is_full = value.chars().count() >= SUBFIELD;
        match code {
            "00" => posting = value.to_owned(),
            "32" | "33" => {
                append(&mut name, value, name_full);
                name_full = is_full;
            }
            code if ("20".."30").contains(&code) || ("60".."64").contains(&code) => {
                append(&mut purpose, value, purpose_full);
                purpose_full = is_full;
            }
            _ => {}
        }
    }
    let memo = kept(&sepa::purpose(&purpose)).or_else(|| kept(&posting));
    Remittance { name: kept(&name), memo }
}

/// The subfields: text after a question mark and two digits. Other question marks are part of the text.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |at: usize| {
        let next = text.as_bytes().get(at + 1..at + 3);
        next.is_some_and(|it| it.iter().all(u8::is_ascii_digit))
    };
    let marks: Vec<usize> =
        text.match_indices('?').map(|(at, _)| at).filter(|at| is_mark(*at)).collect();
    let ends: Vec<usize> = marks.iter().skip(1).copied().chain([text.len()]).collect();
    marks.into_iter().zip(ends).map(|(from, to)| &text[from + 1..to])
}

const KEYS: [&str; 26] = [
    "ADDR", "BENM", "BIC", "CNTP", "CSID", "EREF", "IBAN", "ID", "ISDT", "KREF", "MARF", "NAME",
    "ORDP", "PREF", "PURP", "REMI", "RTRN", "RTYP", "SVCL", "TRCD", "TRTP", "UCRD", "UDTR", "ULTC",
    "ULTD", "EXCH",
];

/// Parses the Dutch form: `/TRTP/SEPA OVERBOEKING/IBAN/.../NAME/.../REMI/...`
fn dutch(text: &str) -> Remittance {
    let mut sections: Vec<(&str, String)> = Vec::new();
    for part in text.split('/').skip(1) {
        match sections.last_mut() {
            _ if KEYS.contains(&part) => sections.push((part, String::new())),
            Some((_, value)) => {
                value.push_str(part);
                value.push('/');
            }
            None => {}
        }
    }
    let find = |key: &str| {
        let found = sections.iter().find(|(it, value)| *it == key && !value.is_empty());
        found.map(|(_, value)| value.trim_matches('/').trim())
    };
    // ING combines account number, bank, name and city of the counterparty in one section.
    let party = sections.iter().find(|(it, _)| *it == "CNTP").map(|(_, it)| it.as_str());
    let party = party.and_then(|it| it.split('/').nth(2)).and_then(kept);
    let name = find("NAME").and_then(kept).or(party);
    let memo = find("REMI").map(|it| it.strip_prefix("USTD//").unwrap_or(it)).and_then(kept);
    let memo = memo.or_else(|| find("TRTP").and_then(kept));
    let memo = memo.or_else(|| find("EREF").filter(|it| *it != "NOTPROVIDED").and_then(kept));
    Remittance { name, memo }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, memo: &str) -> Remittance {
        Remittance { name: kept(name), memo: kept(memo) }
    }

    #[test]
    fn german_subfields_are_joined() {
        let field = [
            "166?00GUTSCHRIFT?109310?20EREF+RG-4711?21SVWZ+Miete Maerz Wohnung,?22Nebenkoste",
            "n?30TESTDEFFXXX?31DE00123456780000001234?32Erika Beispiel-Musterfrau-S?33chmidt?34000",
        ];
        assert_eq!(
            read(&field),
            words("Erika Beispiel-Musterfrau-Schmidt", "Miete Maerz Wohnung, Nebenkosten")
        );
        assert_eq!(
            read(&["005?00LASTSCHRIFT?20Kunde 1?21Rechnung 2"]),
            words("", "Kunde 1 Rechnung 2")
        );
        assert_eq!(read(&["835?00ENTGELT?20"]), words("", "ENTGELT"));
        assert_eq!(read(&["177?20SVWZ+Warum? Darum?32Wer"]), words("Wer", "Warum? Darum"));
    }

    #[test]
    fn dutch_keys_are_parsed() {
        let field = [
            "/TRTP/SEPA OVERBOEKING/IBAN/NL00TEST0123456789/BIC/TESTNL2A/NAME/J",
            " VOORBEELD/REMI/FACTUUR 12/34/EREF/NOTPROVIDED",
        ];
        assert_eq!(read(&field), words("J VOORBEELD", "FACTUUR 12/34"));
        let party =
            "/EREF/E1//CNTP/NL00TEST0123456789/TESTNL2A/Winkel BV/Utrecht//REMI/USTD//Order 5/";
        assert_eq!(read(&[party]), words("Winkel BV", "Order 5"));
        assert_eq!(read(&["/TRTP/RENTE/EREF/NOTPROVIDED"]), words("", "RENTE"));
        assert_eq!(read(&["/nothing/of/that"]), words("", "/nothing/of/that"));
    }

    #[test]
    fn plain_text_continues_after_a_full_line() {
        let full = "x".repeat(64);
        assert_eq!(read(&[&format!("{full}a"), "b", "c"]), words("", &format!("{full}ab c")));
        assert_eq!(read(&[""]), Remittance::default());
        assert_eq!(read(&[]), Remittance::default());
    }
}
