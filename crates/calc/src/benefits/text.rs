//! The words of a bank's text, so that punctuation and case never decide a match.

/// Words in capitals, split at everything that is no letter or digit. An apostrophe joins: banks
/// write `DUNKIN'`, `DUNKIN` and `WENDYS` for the same shop.
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

    /// Whether every word of the other is here, in any order. No words are in nothing.
    pub(super) fn has_all(&self, other: &Words) -> bool {
        !other.0.is_empty() && other.iter().all(|it| self.has(it))
    }

    /// Whether the other stands here in one piece.
    pub(super) fn has_phrase(&self, other: &Words) -> bool {
        !other.0.is_empty() && self.0.windows(other.0.len()).any(|it| it == other.0)
    }
}
