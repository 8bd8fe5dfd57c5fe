//! Finds words in the text of a table.

use std::borrow::Cow;

/// Whether the text has one of the words or phrases, which are in small letters without accents, between other words.
pub(super) fn has_word(text: &str, words: &[&str]) -> bool {
    let text = plain(text);
    words.iter().any(|word| contains(&text, word))
}

/// Whether the text has all words of the other text, one behind the other.
pub(super) fn has_words(text: &str, words: &str) -> bool {
    let words = plain(words);
    !words.trim().is_empty() && contains(&plain(text), words.trim())
}

/// The text with a space around every word, in small letters, without accents.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 2);
    plain.push(' ');
    for letter in folded(text).chars() {
        match letter.is_alphanumeric() {
            true => plain.push(letter),
            false if plain.ends_with(' ') => {}
            false => plain.push(' '),
        }
    }
    if !plain.ends_with(' ') {
        plain.push(' ');
    }
    plain
}

/// Whether a text from `plain` has the word.
pub(super) fn contains(plain: &str, word: &str) -> bool {
    let bytes = plain.as_bytes();
    plain.match_indices(word).any(|(at, _)| {
        at.checked_sub(1).is_some_and(|it| bytes[it] == b' ')
            && bytes.get(at + word.len()) == Some(&b' ')
    })
}

fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    let fold = |letter: char| match letter {
        'ä' | 'à' | 'á' | 'â' | 'ã' | 'å' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'î' | 'ï' => 'i',
        'ö' | 'ó' | 'ô' | 'ø' => 'o',
        'ü' | 'ú' | 'û' | 'ù' => 'u',
        'ç' | 'č' => 'c',
        'ñ' => 'n',
        other => other,
    };
    Cow::Owned(text.chars().flat_map(char::to_lowercase).map(fold).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_between_other_words() {
        assert!(has_word("PAYMENT - THANK YOU", &["payment thank you"]));
        assert!(has_word("Crédit: DÉPÔT 5", &["depot"]));
        assert!(has_word("Visa", &["visa"]));
        assert!(!has_word("Visage", &["visa"]));
        assert!(!has_word("Trent", &["rent"]));
        assert!(!has_word("", &["rent"]));
        assert_eq!((plain("--"), plain("")), (" ".to_owned(), " ".to_owned()));
    }
}
