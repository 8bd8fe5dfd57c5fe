//! SEPA keys that banks write into the text of a transaction, such as `EREF+` before a reference and `SVWZ+` before the
//! purpose.

const KEYS: [&str; 12] = [
    "EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+",
    "COAM+", "OAMT+",
];

/// The shortest creditor identifier has this many characters.
const CREDITOR_CHARS_MIN: usize = 8;

/// The purpose (`SVWZ+`). If there is none: the text before the first SEPA key, and that after the creditor identifier
/// (`CRED+`), which banks write last and which has no spaces.
pub(crate) fn purpose(text: &str) -> String {
    if let Some((_, after)) = text.split_once("SVWZ+") {
        return before_key(after).trim().to_owned();
    }
    let creditor = text.split_once("CRED+").map(|(_, after)| before_key(after));
    let behind = creditor.and_then(|it| it.split_once(' ')).filter(|(creditor, _)| {
        creditor.len() >= CREDITOR_CHARS_MIN
            && creditor.bytes().all(|it| it.is_ascii_alphanumeric())
    });
    let behind = behind.map_or("", |(_, text)| text.trim());
    format!("{} {behind}", before_key(text).trim()).trim().to_owned()
}

/// The text before the first SEPA key.
fn before_key(text: &str) -> &str {
    let end = KEYS.iter().filter_map(|key| text.find(key)).min();
    &text[..end.unwrap_or(text.len())]
}

/// The text of a transaction from its lines. References are left out, unless there is nothing else.
pub(crate) fn text(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().map(|it| it.trim()).filter(|it| !it.is_empty()).collect();
    let joined = lines.join(" ");
    let purpose = match joined.contains("SVWZ+") {
        true => purpose(&joined),
        false => {
            let is_plain = |it: &&&str| !KEYS.iter().any(|key| it.starts_with(key));
            let plain: Vec<&str> = lines.iter().filter(is_plain).copied().collect();
            purpose(&plain.join(" "))
        }
    };
    if purpose.is_empty() { joined } else { purpose }
}

#[cfg(test)]
mod tests {
    use super::{purpose, text};

    #[test]
    fn references_are_left_out_of_the_text() {
        let of = |lines: &[&str]| text(&lines.iter().map(|it| it.to_string()).collect::<Vec<_>>());
        assert_eq!(of(&["Rent March", "Flat 3"]), "Rent March Flat 3");
        assert_eq!(of(&["EREF+123", "SVWZ+Rent March"]), "Rent March");
        assert_eq!(of(&["SVWZ+Rent March ABWA+Robin"]), "Rent March");
        assert_eq!(of(&["EREF+123", "Rent"]), "Rent");
        assert_eq!(of(&["Rent EREF+123"]), "Rent");
        assert_eq!(of(&["EREF+123"]), "EREF+123");
        assert_eq!(of(&[" ", ""]), "");
    }

    #[test]
    fn the_text_after_a_creditor_is_the_purpose() {
        assert_eq!(purpose("EREF+1 2 CRED+XX00ZZZ01234567890 Card May EREF+3"), "Card May");
        assert_eq!(purpose("Rent CRED+XX00ZZZ01234567890 May"), "Rent May");
        assert_eq!(purpose("CRED+XX00ZZZ01234567890 May SVWZ+Rent"), "Rent");
        assert_eq!(purpose("EREF+1 CRED+XX00ZZZ01234567890"), "");
        assert_eq!(purpose("CRED+XX 00 ZZZ"), "");
    }
}
