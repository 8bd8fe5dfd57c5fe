//! Cleans imported text: removes NUL characters, which PostgreSQL cannot store, and truncates overlong values, so that no
//! row fills a page or an API response. Ids must also fit into an index.

use base::draft::AccountDraft;
use sha2::{Digest as _, Sha256};

use super::request::ImportRequest;

pub(super) fn clean(request: &mut ImportRequest) {
    remove_nul(&mut request.connection);
    remove_nul_option(&mut request.institution);
    remove_nul_option(&mut request.file.name);
    for incoming in &mut request.accounts {
        clean_account(&mut incoming.draft);
        truncate(&mut incoming.draft);
        if let Some(link) = &mut incoming.link {
            remove_nul(&mut link.external_id);
            truncate_id(&mut link.external_id);
        }
    }
}

fn clean_account(account: &mut AccountDraft) {
    remove_nul(&mut account.external_id);
    remove_nul(&mut account.name);
    for text in [
        &mut account.mask,
        &mut account.subtype,
        &mut account.institution_name,
        &mut account.institution_logo,
        &mut account.apy_display,
    ] {
        remove_nul_option(text);
    }
    account.removed.iter_mut().for_each(remove_nul);
    for transaction in &mut account.transactions {
        remove_nul(&mut transaction.description);
        remove_nul_option(&mut transaction.external_id);
        remove_nul_option(&mut transaction.settles);
        remove_nul_option(&mut transaction.counterparty);
        remove_nul_option(&mut transaction.counterparty_logo_url);
    }
    for holding in account.holdings.iter_mut().flatten() {
        remove_nul(&mut holding.security.external_id);
        remove_nul(&mut holding.security.name);
        remove_nul_option(&mut holding.security.symbol);
    }
    for trade in &mut account.trades {
        remove_nul(&mut trade.security);
        remove_nul_option(&mut trade.external_id);
    }
}

/// Longer than the description of any bank, which has a few lines.
const DESCRIPTION_CHARS_MAX: usize = 2_000;
const NAME_CHARS_MAX: usize = 200;
/// PostgreSQL accepts index entries of about 2,700 bytes.
const ID_BYTES_MAX: usize = 500;

/// Truncates overlong values. A second call changes nothing.
pub(super) fn truncate(account: &mut AccountDraft) {
    truncate_id(&mut account.external_id);
    truncate_text(&mut account.name, NAME_CHARS_MAX);
    for text in [
        &mut account.mask,
        &mut account.subtype,
        &mut account.institution_name,
        &mut account.institution_logo,
        &mut account.apy_display,
    ] {
        text.iter_mut().for_each(|it| truncate_text(it, NAME_CHARS_MAX));
    }
    account.removed.iter_mut().for_each(truncate_id);
    for transaction in &mut account.transactions {
        truncate_text(&mut transaction.description, DESCRIPTION_CHARS_MAX);
        let ids = [&mut transaction.external_id, &mut transaction.settles];
        ids.into_iter().flatten().for_each(truncate_id);
        transaction.counterparty.iter_mut().for_each(|it| truncate_text(it, NAME_CHARS_MAX));
        let logo = &mut transaction.counterparty_logo_url;
        // Half a URL is useless, so it is dropped.
        logo.take_if(|it| it.len() > DESCRIPTION_CHARS_MAX);
    }
    for holding in account.holdings.iter_mut().flatten() {
        truncate_id(&mut holding.security.external_id);
        truncate_text(&mut holding.security.name, NAME_CHARS_MAX);
        holding.security.symbol.iter_mut().for_each(|it| truncate_text(it, NAME_CHARS_MAX));
    }
    for trade in &mut account.trades {
        truncate_id(&mut trade.security);
        trade.external_id.iter_mut().for_each(truncate_id);
    }
}

/// Shortens an overlong id to its beginning and a digest, which keeps ids with the same beginning apart.
pub(super) fn truncate_id(id: &mut String) {
    if id.len() > ID_BYTES_MAX {
        let digest = Sha256::digest(id.as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        id.truncate(id.floor_char_boundary(ID_BYTES_MAX - digest.len() - 1));
        id.push('~');
        id.push_str(&digest);
    }
}

fn truncate_text(text: &mut String, most: usize) {
    // Fewer bytes cannot be more characters.
    if text.len() > most {
        text.truncate(head(text, most).len());
        text.shrink_to_fit();
    }
}

/// The first `most` characters of a text.
pub(super) fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

fn remove_nul_option(text: &mut Option<String>) {
    text.iter_mut().for_each(remove_nul);
}

fn remove_nul(text: &mut String) {
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
    fn overlong_ids_stay_distinct_and_are_truncated_once() {
        let mut ids = ["a", "b"].map(|end| "é".repeat(600) + end);
        ids.iter_mut().for_each(truncate_id);
        assert_ne!(ids[0], ids[1]);
        assert!(ids.iter().all(|it| it.len() <= ID_BYTES_MAX && it.starts_with("éé")));
        let again = ids.clone().map(|mut it| {
            truncate_id(&mut it);
            it
        });
        assert_eq!(ids, again);
        let mut short = "x".repeat(ID_BYTES_MAX);
        truncate_id(&mut short);
        assert_eq!(short, "x".repeat(ID_BYTES_MAX));
    }

    #[test]
    fn names_are_truncated_between_characters() {
        let name = "ß".repeat(NAME_CHARS_MAX + 7);
        let mut account = AccountDraft::new("1", name, AccountKind::Other, Currency::USD);
        truncate(&mut account);
        assert_eq!(account.name, "ß".repeat(NAME_CHARS_MAX));
    }
}
