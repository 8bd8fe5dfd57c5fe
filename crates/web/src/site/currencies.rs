//! The currency options of a form: common currencies by name, then all other codes.

use base::Currency;

/// The most common currencies, shown first.
const COMMON: [(&str, &str); 12] = [
    ("USD", "US dollar"),
    ("EUR", "Euro"),
    ("GBP", "British pound"),
    ("CAD", "Canadian dollar"),
    ("AUD", "Australian dollar"),
    ("CHF", "Swiss franc"),
    ("JPY", "Japanese yen"),
    ("NZD", "New Zealand dollar"),
    ("SEK", "Swedish krona"),
    ("NOK", "Norwegian krone"),
    ("DKK", "Danish krone"),
    ("PLN", "Polish zloty"),
];

/// Each option as its code and label.
pub(crate) fn options() -> Vec<(String, String)> {
    let common = COMMON.iter().map(|(code, name)| (code.to_string(), format!("{code}: {name}")));
    let rest = Currency::codes().filter(|it| COMMON.iter().all(|(code, _)| code != it));
    common.chain(rest.map(|it| (it.to_owned(), it.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_currency_can_be_chosen_and_each_once() {
        let mut codes: Vec<String> = options().into_iter().map(|(code, _)| code).collect();
        assert!(codes.iter().all(|it| Currency::parse(it).is_ok()));
        let count = codes.len();
        codes.sort();
        codes.dedup();
        assert_eq!((codes.len(), count), (Currency::codes().count(), count));
    }
}
