//! Foreign text made fit to be kept: PostgreSQL has no place for a zero character, and nobody has a use for one.

use base::draft::AccountDraft;

use super::Delivery;

pub(super) fn clean(delivery: &mut Delivery) {
    clean_word(&mut delivery.connection);
    clean_option(&mut delivery.institution);
    clean_option(&mut delivery.about.name);
    for incoming in &mut delivery.accounts {
        clean_account(&mut incoming.draft);
        incoming.known_as.iter_mut().for_each(|it| clean_word(&mut it.external_id));
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

fn clean_option(text: &mut Option<String>) {
    text.iter_mut().for_each(clean_word);
}

fn clean_word(text: &mut String) {
    if text.contains('\0') {
        text.retain(|it| it != '\0');
    }
}
