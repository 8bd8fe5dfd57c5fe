//! The words of a bank's text, so that punctuation and case do not affect matching.

/// Words in capitals, split at everything but letters and digits. An apostrophe joins words: banks write `DUNKIN'`,
/// `DUNKIN` and `WENDYS` for the same shop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn of(text: &str) -> Words {
        let joined: String = text.chars().filter(|it| !matches!(it, '\'' | '’')).collect();
        let capitals = joined.to_uppercase();
        let parts = capitals.split(|it: char| !it.is_alphanumeric());
        Words(parts.filter(|it| !it.is_empty()).map(str::to_owned).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.iter().any(|it| it == word)
    }

    /// Whether all words of the other occur, in any order. An empty text is never contained.
    pub(super) fn has_all(&self, other: &Words) -> bool {
        !other.0.is_empty() && other.iter().all(|it| self.has(it))
    }

    /// Whether the other occurs as a phrase.
    pub(super) fn has_phrase(&self, other: &Words) -> bool {
        !other.0.is_empty() && self.0.windows(other.0.len()).any(|it| it == other.0)
    }
}
