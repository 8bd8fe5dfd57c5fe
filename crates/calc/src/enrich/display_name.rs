//! Formats a key as a display name: BLUE BOTTLE as Blue Bottle.

/// Words that stay lower-case within a name.
const SMALL: [&str; 19] = [
    "OF", "AND", "THE", "DE", "DU", "DES", "LA", "LE", "VON", "DER", "DEN", "DI", "DEL", "VAN",
    "AT", "IN", "FOR", "TO", "UND",
];

/// Trailing words for the payment method, which are not part of the name.
const PAYMENT: [&str; 16] = [
    "PAYROLL", "PAYMENT", "PAYMENTS", "PMT", "PMTS", "PYMT", "AUTOPAY", "AUTO", "PAY", "WEB",
    "DIR", "DEP", "DIRECT", "INC", "LLC", "LTD",
];

pub fn display_name(key: &str) -> String {
    let mut words: Vec<&str> = key.split(' ').collect();
    while words.len() > 1 && words.last().is_some_and(|it| PAYMENT.contains(it)) {
        words.pop();
    }
    let mut name = String::with_capacity(key.len());
    for (index, word) in words.into_iter().enumerate() {
        if index > 0 {
            name.push(' ');
        }
        if index > 0 && SMALL.contains(&word) {
            name.extend(word.chars().flat_map(char::to_lowercase));
        } else if is_abbreviation(word) {
            name.push_str(word);
        } else {
            capitalize(word, &mut name);
        }
    }
    name
}

/// KFC, BMW, H&M, O2: cannot be pronounced, or are not all letters.
fn is_abbreviation(word: &str) -> bool {
    let has_vowel = word.contains(['A', 'E', 'I', 'O', 'U', 'Y']);
    let is_short = word.chars().count() <= 4;
    is_short && (!has_vowel || word.contains('&') || word.contains(char::is_numeric))
}

/// Capitalizes the start and the letter after each dash, ampersand or digit.
fn capitalize(word: &str, name: &mut String) {
    let mut inside = false;
    for letter in word.chars() {
        if inside {
            name.extend(letter.to_lowercase());
        } else {
            name.push(letter);
        }
        inside = letter.is_alphabetic();
    }
}
