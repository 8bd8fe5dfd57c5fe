//! Amounts in the words of a search: "$42.10", ">100", "<50", "100..200". They are sizes, whether money in or out.

use base::Fixed9;

/// The least and the greatest size.
type Sizes = (Option<Fixed9>, Option<Fixed9>);

/// Splits a search into its text without the amount, and the sizes that it means. None if there is no amount. A number
/// without a currency sign or cents may be part of a name, so it is none.
pub(super) fn split(text: &str) -> Option<(String, Sizes)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (index, sizes) =
        words.iter().enumerate().find_map(|(index, word)| Some((index, sizes_of(word)?)))?;
    let rest: Vec<&str> = words[..index].iter().chain(&words[index + 1..]).copied().collect();
    Some((rest.join(" "), sizes))
}

fn sizes_of(word: &str) -> Option<Sizes> {
    if let Some(least) = word.strip_prefix('>') {
        return Some((Some(size(least)?), None));
    }
    if let Some(greatest) = word.strip_prefix('<') {
        return Some((None, Some(size(greatest)?)));
    }
    if let Some((least, greatest)) = word.split_once("..") {
        return Some((Some(size(least)?), Some(size(greatest)?)));
    }
    let has_sign = word.starts_with(SIGNS);
    let has_cents = word.rsplit_once('.').is_some_and(|(_, cents)| cents.len() == 2);
    let exact = size(word).filter(|_| has_sign || has_cents)?;
    Some((Some(exact), Some(exact)))
}

const SIGNS: [char; 4] = ['$', '€', '£', '¥'];

fn size(text: &str) -> Option<Fixed9> {
    let digits = text.trim_start_matches('=').trim_start_matches(SIGNS).replace(',', "");
    let is_plain = digits.starts_with(|it: char| it.is_ascii_digit());
    Fixed9::parse(&digits).ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        let shown = |it: Option<Fixed9>| it.map_or("-".to_owned(), |it| it.to_string());
        match split(text) {
            Some((rest, (least, greatest))) => {
                format!("{rest}|{}|{}", shown(least), shown(greatest))
            }
            None => "none".to_owned(),
        }
    }

    #[test]
    fn amounts_are_understood_anywhere_in_the_text() {
        assert_eq!(found("kroger $42.10"), "kroger|42.1|42.1");
        assert_eq!(found("42.10 kroger"), "kroger|42.1|42.1");
        assert_eq!(found(">1,000"), "|1000|-");
        assert_eq!(found("rent <=2000.50"), "rent|-|2000.5");
        assert_eq!(found("100..200 amazon"), "amazon|100|200");
    }

    #[test]
    fn names_are_left_alone() {
        for text in ["", "7-eleven", "store 44", "76", "v1.5", ">", "a..b", "$", "-42.10"] {
            assert_eq!(found(text), "none", "{text}");
        }
    }
}
