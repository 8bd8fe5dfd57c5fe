//! Extracts the merchant key from a bank's descriptor: the same for every way a bank writes a merchant, and different
//! for different merchants.

use super::descriptor_parser::{DescriptorParser, UNKNOWN, first_pass, second_pass};
use super::descriptors::{DESCRIPTORS, Processor};
use super::fold::fold;
use super::merchants::{Merchant, merchant};
use super::tokens::split;
use super::{anywhere, keywords};

/// A parsed descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanedDescriptor {
    /// Upper-case words with single spaces; the same for every purchase at a merchant.
    pub key: String,
    /// The known merchant of the key.
    pub merchant: Option<&'static Merchant>,
    /// The merchant's name is inside other words, which is good evidence only for a purchase.
    pub is_found_inside: bool,
    /// All words of the descriptor in the spelling of the key, for keywords and rules.
    pub text: String,
    pub processor: Option<Processor>,
    /// A payment between people, with a name.
    pub person: bool,
    /// The text has words typical of transfers between own accounts.
    pub transfer_words: bool,
    pub refund_words: bool,
}

/// Parses a descriptor and extracts its key. Cleaning a key gives the same key, and no descriptor gives an empty one.
pub fn clean(description: &str) -> CleanedDescriptor {
    let folded = fold(description);
    let tokens = split(&folded);
    let parser = DescriptorParser::new(&tokens, &DESCRIPTORS);
    let mut cleaned = without_merchant(&parser);
    // A person may have a merchant's name in front of another.
    cleaned.merchant = merchant(&cleaned.key).filter(|it| !cleaned.person || it.key == cleaned.key);
    name_behind_channel(&mut cleaned);
    let is_known = cleaned.merchant.is_some() || cleaned.key == UNKNOWN;
    if !is_known && !cleaned.person && !keywords::is_banks_own(&cleaned.key) {
        clean_again(&parser.into_strict(), &mut cleaned);
    }
    cleaned
}

/// Some banks write WITHDRAWAL or PAYMENT in front of every row. In front of a known merchant it is neither cash nor the
/// payment of a card.
fn name_behind_channel(cleaned: &mut CleanedDescriptor) {
    if cleaned.merchant.is_some() {
        return;
    }
    let words = ["WITHDRAWAL ", "PAYMENT "];
    let name = words.iter().find_map(|it| cleaned.key.strip_prefix(it));
    if let Some(merchant) = name.and_then(merchant) {
        cleaned.merchant = Some(merchant);
        merchant.key.clone_into(&mut cleaned.key);
    }
}

/// The second pass, for a key that no table knows: the wrapping of an unknown bank is removed, and then a known name may
/// be anywhere.
fn clean_again(parser: &DescriptorParser<'_>, cleaned: &mut CleanedDescriptor) {
    // The first key is read again too, so that cleaning a key changes nothing.
    let of_key = || {
        let tokens = split(&cleaned.key);
        let parser = DescriptorParser::new(&tokens, &DESCRIPTORS).into_strict();
        strict_key(&parser, &cleaned.key)
    };
    let shorter = strict_key(parser, &cleaned.key).or_else(of_key);
    if let Some(key) = shorter {
        cleaned.key = key;
        cleaned.merchant = merchant(&cleaned.key);
    }
    if cleaned.merchant.is_none() {
        let (start, _) = parser.peel();
        let names: Vec<&str> = parser.names(start).collect();
        cleaned.merchant = anywhere::merchant(&names);
        cleaned.is_found_inside = cleaned.merchant.is_some();
    }
    if let Some(merchant) = cleaned.merchant {
        merchant.key.clone_into(&mut cleaned.key);
    }
}

/// The key without the wrapping, if it is shorter and still a name.
fn strict_key(parser: &DescriptorParser<'_>, first: &str) -> Option<String> {
    let key = second_pass(parser);
    let is_name = key != UNKNOWN && !keywords::is_phrase(&key);
    (key.len() < first.len() && is_name).then_some(key)
}

/// The result of the first pass, before a merchant is looked up.
fn without_merchant(parser: &DescriptorParser<'_>) -> CleanedDescriptor {
    let (key, processor) = first_pass(parser);
    let (transfer_words, refund_words) = parser.hints();
    CleanedDescriptor {
        key,
        merchant: None,
        is_found_inside: false,
        text: parser.text(),
        processor,
        person: processor.is_some_and(Processor::is_between_people),
        transfer_words,
        refund_words,
    }
}
