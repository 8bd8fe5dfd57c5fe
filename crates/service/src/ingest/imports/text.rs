//! Foreign text made fit to be kept. PostgreSQL has no place for a zero character, and nobody has a use for one. What is
//! longer than any bank writes is cut, so that no row fills a page or an answer of the API; ids must also fit into an
//! index.

use base::draft::AccountDraft;
use sha2::{Digest as _, Sha256};

use super::Delivery;

pub(super) fn clean(delivery: &mut Delivery) {
    clean_word(&mut delivery.connection);
    clean_option(&mut delivery.institution);
    clean_option(&mut delivery.about.name);
    for incoming in &mut delivery.accounts {
        clean_account(&mut incoming.draft);
        bound(&mut incoming.draft);
        if let Some(known_as) = &mut incoming.known_as {
            clean_word(&mut known_as.external_id);
            bound_id(&mut known_as.external_id);
        }
    }
}

fn clean_account(account: &mut AccountDraft) {
    clean_word(&mut account.external_id);
    clean_word(&mut account.name);
    for text in [
        &mut account.mask,
        &mut account.subtype,
        &mut account.institution_name,
        &mut account.institution_logo,
        &mut account.apy_display,
    ] {
        clean_option(text);
    }
    account.removed.iter_mut().for_each(clean_word);
    for transaction in &mut account.transactions {
        clean_word(&mut transaction.description);
        clean_option(&mut transaction.external_id);
        clean_option(&mut transaction.settles);
        clean_option(&mut transaction.counterparty);
        clean_option(&mut transaction.counterparty_logo_url);
    }
    for holding in account.holdings.iter_mut().flatten() {
        clean_word(&mut holding.security.external_id);
        clean_word(&mut holding.security.name);
        clean_option(&mut holding.security.symbol);
    }
}

/// Longer than the words of any bank, which give a payment a few lines.
const DESCRIPTION_CHARS_MAX: usize = 2_000;
const NAME_CHARS_MAX: usize = 200;
/// An index of PostgreSQL takes entries of some 2,700 bytes.
const ID_BYTES_MAX: usize = 500;

/// Cuts what is too long. Doing it twice changes nothing more.
pub(super) fn bound(account: &mut AccountDraft) {
    bound_id(&mut account.external_id);
    cut(&mut account.name, NAME_CHARS_MAX);
    for text in [
        &mut account.mask,
        &mut account.subtype,
        &mut account.institution_name,
        &mut account.institution_logo,
        &mut account.apy_display,
    ] {
        text.iter_mut().for_each(|it| cut(it, NAME_CHARS_MAX));
    }
    account.removed.iter_mut().for_each(bound_id);
    for transaction in &mut account.transactions {
        cut(&mut transaction.description, DESCRIPTION_CHARS_MAX);
        let ids = [&mut transaction.external_id, &mut transaction.settles];
        ids.into_iter().flatten().for_each(bound_id);
        transaction.counterparty.iter_mut().for_each(|it| cut(it, NAME_CHARS_MAX));
        let logo = &mut transaction.counterparty_logo_url;
        // Half an address leads nowhere.
        logo.take_if(|it| it.len() > DESCRIPTION_CHARS_MAX);
    }
    for holding in account.holdings.iter_mut().flatten() {
        bound_id(&mut holding.security.external_id);
        cut(&mut holding.security.name, NAME_CHARS_MAX);
        holding.security.symbol.iter_mut().for_each(|it| cut(it, NAME_CHARS_MAX));
    }
}

/// An id that is too long keeps its beginning, and a digest tells it from others with the same one.
pub(super) fn bound_id(id: &mut String) {
    if id.len() > ID_BYTES_MAX {
        let digest = Sha256::digest(id.as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        id.truncate(id.floor_char_boundary(ID_BYTES_MAX - digest.len() - 1));
        id.push('~');
        id.push_str(&digest);
    }
}

fn cut(text: &mut String, most: usize) {
    // As many bytes as that cannot be more characters.
    if text.len() > most {
        text.truncate(head(text, most).len());
        text.shrink_to_fit();
    }
}

/// The first `most` characters of a text.
pub(super) fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

fn clean_option(text: &mut Option<String>) {
    text.iter_mut().for_each(clean_word);
}

fn clean_word(text: &mut String) {
    if text.contains('\0') {
        text.retain(|it| it != '\0');
    }
}

#[cfg(test)]
mod tests {
    use base::Currency;
    use base::draft::{AccountDraft, AccountKind};

    use super::*;

    #[test]
    fn ids_that_are_too_long_stay_apart_and_are_cut_once() {
        let mut ids = ["a", "b"].map(|end| "é".repeat(600) + end);
        ids.iter_mut().for_each(bound_id);
        assert_ne!(ids[0], ids[1]);
        assert!(ids.iter().all(|it| it.len() <= ID_BYTES_MAX && it.starts_with("éé")));
        let again = ids.clone().map(|mut it| {
            bound_id(&mut it);
            it
        });
        assert_eq!(ids, again);
        let mut short = "x".repeat(ID_BYTES_MAX);
        bound_id(&mut short);
        assert_eq!(short, "x".repeat(ID_BYTES_MAX));
    }

    #[test]
    fn names_are_cut_between_characters() {
        let name = "ß".repeat(NAME_CHARS_MAX + 7);
        let mut account = AccountDraft::new("1", name, AccountKind::Other, Currency::USD);
        bound(&mut account);
        assert_eq!(account.name, "ß".repeat(NAME_CHARS_MAX));
    }
}
