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
    if let Some(separator) = german_separator(first) {
        let text = lines.concat();
        // A question mark is the rule. Any other character could begin a number in a plain text.
        if separator == '?' || parts(&text, separator).nth(1).is_some() {
            return german(&text, separator);
        }
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
        // A time may be wrapped after the hour.
        let is_time = line.starts_with(':') && memo.ends_with(|it: char| it.is_ascii_digit());
        append(&mut memo, line, is_full || is_time);
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

/// The character before each subfield, if the text begins with a three-digit business code and a subfield: mostly a
/// question mark, and `>` or `<` at some banks.
fn german_separator(text: &str) -> Option<char> {
    let (business_code, rest) = text.split_at_checked(3)?;
    let separator = rest.chars().next()?;
    let code = rest.get(1..3)?;
    let is_separator = separator.is_ascii_punctuation() && !"+-.,:/'".contains(separator);
    let is_structured = is_separator && is_digits(business_code) && is_subfield(code);
    is_structured.then_some(separator)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit())
}

/// Whether a code is that of a subfield: text, bank, account, name. Polish banks add the IBAN as 38.
fn is_subfield(code: &str) -> bool {
    is_purpose(code) || matches!(code, "00" | "10" | "30" | "31" | "32" | "33" | "34" | "38")
}

fn is_purpose(code: &str) -> bool {
    is_digits(code) && (("20".."30").contains(&code) || ("60".."64").contains(&code))
}

fn german(text: &str, separator: char) -> Remittance {
    let (mut posting, mut purpose, mut name) = (String::new(), String::new(), String::new());
    let (mut purpose_full, mut name_full) = (true, true);
    for part in parts(text, separator) {
        let Some((code, value)) = part.split_at_checked(2) else { continue };
        let is_full = value.chars().count() >= SUBFIELD;
        match code {
            "00" => posting = value.to_owned(),
            "32" | "33" => {
                append(&mut name, value, name_full);
                name_full = is_full;
            }
            code if is_purpose(code) => {
                append(&mut purpose, value, purpose_full);
                purpose_full = is_full;
            }
            _ => {}
        }
    }
    let memo = kept(&sepa::purpose(&purpose)).or_else(|| kept(&posting));
    Remittance { name: kept(&name), memo }
}

/// The subfields: text after a separator and two digits. Other separators are part of the text, and so is one before
/// an unknown code in the purpose, where people write what they like.
fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut marks: Vec<usize> = Vec::new();
    let mut is_in_purpose = false;
    for (at, _) in text.match_indices(separator) {
        let Some(code) = text.get(at + 1..at + 3).filter(|it| is_digits(it)) else { continue };
        if is_subfield(code) || !is_in_purpose {
            marks.push(at);
            is_in_purpose = is_purpose(code);
        }
    }
    let ends: Vec<usize> = marks.iter().skip(1).copied().chain([text.len()]).collect();
    marks.into_iter().zip(ends).map(|(from, to)| &text[from + 1..to])
}

/// Parses the lines of `:NS:`, each with a two-digit code: 01 to 14 are the purpose, 15 and 16 the counterparty, 17 the
/// kind of posting.
pub(super) fn read_numbered(lines: &[String]) -> Remittance {
    let join = |codes: std::ops::RangeInclusive<&str>| {
        let parts = lines.iter().filter_map(|it| it.split_at_checked(2));
        let parts = parts.filter(|(code, _)| is_digits(code) && codes.contains(code));
        kept(&parts.map(|(_, value)| value.trim()).collect::<Vec<_>>().join(" "))
    };
    Remittance { name: join("15"..="16"), memo: join("01"..="14").or_else(|| join("17"..="17")) }
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
        let mut values = sections.iter().filter(|it| it.0 == key);
        values.find_map(|it| Some(it.1.trim_matches('/').trim()).filter(|it| !it.is_empty()))
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
    fn unknown_codes_are_text_in_the_purpose_only() {
        let field = "166?00GUTSCHRIFT?20SVWZ+Nr. 12?96,50 bezahlt?32Robin?99?34171";
        assert_eq!(read(&[field]), words("Robin", "Nr. 12?96,50 bezahlt"));
        assert_eq!(read(&["123?96,50 bezahlt"]), words("", "123?96,50 bezahlt"));
        assert_eq!(read(&["171?00EINZUG?681234?20Beitrag"]), words("", "Beitrag"));
    }

    #[test]
    fn the_fourth_character_separates_subfields() {
        let field =
            ["000>100123456789", ">20RENT OF THE HOUSE IN APRIL >21AND MAY", ">310123456789"];
        assert_eq!(read(&field), words("", "RENT OF THE HOUSE IN APRIL AND MAY"));
        let field = "020<00PRZELEW<20Czynsz<32Jan Przyklad<38PL00";
        assert_eq!(read(&[field]), words("Jan Przyklad", "Czynsz"));
        for plain in ["100,20 paid", "123.20 and 124.30", "100>20 items", "049+30+20", "100€20€30"]
        {
            assert_eq!(read(&[plain]), words("", plain), "{plain}");
        }
    }

    #[test]
    fn numbered_lines_are_joined() {
        let lines = ["01Invoice 12", "02of May", "15Erika", "16Beispiel", "17TRANSFER", "180001"];
        let lines = lines.map(str::to_owned);
        assert_eq!(read_numbered(&lines), words("Erika Beispiel", "Invoice 12 of May"));
        assert_eq!(read_numbered(&lines[4..]), words("", "TRANSFER"));
        assert_eq!(read_numbered(&["ä".to_owned(), String::new()]), Remittance::default());
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
        let twice = "/EREF/E1/ORDP//NAME/Winkel BV/REMI//REMI/Kassabon";
        assert_eq!(read(&[twice]), words("Winkel BV", "Kassabon"));
        assert_eq!(read(&["/nothing/of/that"]), words("", "/nothing/of/that"));
    }

    #[test]
    fn plain_text_continues_after_a_full_line() {
        let full = "x".repeat(64);
        assert_eq!(read(&[&format!("{full}a"), "b", "c"]), words("", &format!("{full}ab c")));
        assert_eq!(read(&["Card at 12", ":30:15 BAKERY"]), words("", "Card at 12:30:15 BAKERY"));
        assert_eq!(read(&[""]), Remittance::default());
        assert_eq!(read(&[]), Remittance::default());
    }
}
