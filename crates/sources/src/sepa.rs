//! SEPA keys that banks write into the text of a transaction, such as `EREF+` before a reference and `SVWZ+` before the
//! purpose.

const KEYS: [&str; 12] = [
    "EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+",
    "COAM+", "OAMT+",
];

/// The purpose (`SVWZ+`), or the text before the first SEPA key.
pub(crate) fn purpose(text: &str) -> String {
    let first_key = |it: &str| KEYS.iter().filter_map(|key| it.find(key)).min().unwrap_or(it.len());
    let purpose = match text.split_once("SVWZ+") {
        Some((_, after)) => &after[..first_key(after)],
        None => &text[..first_key(text)],
    };
    purpose.trim().to_owned()
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
    use super::text;

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
}
