//! Descriptors of many transactions, each cleaned once. Cleaning is the dearest part of classifying and depends on the
//! text alone, so it can be done before a transaction of the database begins.

use std::borrow::Cow;
use std::collections::HashMap;

use super::clean::{CleanedDescriptor, clean};

#[derive(Debug, Clone, Default)]
pub struct CleanedTexts {
    by_text: HashMap<Box<str>, CleanedDescriptor>,
}

impl CleanedTexts {
    pub fn is_empty(&self) -> bool {
        self.by_text.is_empty()
    }

    /// The cleaned descriptor; cleaned now if it is not one of these.
    pub fn get(&self, text: &str) -> Cow<'_, CleanedDescriptor> {
        match self.by_text.get(text) {
            Some(cleaned) => Cow::Borrowed(cleaned),
            None => Cow::Owned(clean(text)),
        }
    }
}

impl<'a> FromIterator<&'a str> for CleanedTexts {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> CleanedTexts {
        let mut by_text: HashMap<Box<str>, CleanedDescriptor> = HashMap::new();
        for text in texts {
            if !by_text.contains_key(text) {
                by_text.insert(text.into(), clean(text));
            }
        }
        CleanedTexts { by_text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cleaned_alike_whether_it_was_collected_or_not() {
        let texts = ["SQ *BLUE BOTTLE COFFEE 0423", "AMZN Mktp US*2K4", "", "ACH DEBIT GAS CO 1"];
        let collected: CleanedTexts = texts.into_iter().chain(texts).collect();
        for text in texts.into_iter().chain(["NOT COLLECTED 12"]) {
            assert_eq!(*collected.get(text), clean(text), "{text}");
        }
        assert_eq!(collected.by_text.len(), texts.len());
    }
}
