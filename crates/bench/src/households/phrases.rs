//! Banks' texts for transfers between own accounts, with and without hints.

/// Templates for both legs of a transfer and of a card payment, and vague ones without a hint.
pub(super) struct Phrases {
    pub(super) out: &'static [&'static str],
    pub(super) into: &'static [&'static str],
    pub(super) card_out: &'static [&'static str],
    pub(super) card_in: &'static [&'static str],
    pub(super) vague_out: &'static [&'static str],
    pub(super) vague_in: &'static [&'static str],
}

pub(super) const AMERICAN: Phrases = Phrases {
    out: &[
        "Online Transfer to ...{mask} transaction#: {ref}",
        "{WORD} TRANSFER {code}",
        "ONLINE TRANSFER REF #{code} TO {WORD} XXXX{mask}",
        "{WORD} DES:MONEYLINK ID:{code}",
        "EXT TRNSFR TO {WORD} {ref}",
        "Funds Transfer to {name}",
    ],
    into: &[
        "Online Transfer from ...{mask} transaction#: {ref}",
        "TRANSFER FROM {WORD} {mask}",
        "{WORD} WEB XFER {code}",
        "Funds Transfer from {name}",
        "ACH TRANSFER FROM {WORD} {ref}",
    ],
    card_out: &[
        "{WORD} AUTOPAY {ref}",
        "{WORD} DES:EPAY ID:{code}",
        "Payment to {WORD} card ending in {mask}",
        "{WORD} CRCARDPMT {code}",
        "{WORD} ONLINE PMT {ref}",
    ],
    card_in: &[
        "PAYMENT THANK YOU",
        "AUTOMATIC PAYMENT - THANK YOU",
        "ONLINE PAYMENT, THANK YOU",
        "AUTOPAY {ref} RAUTOPAY AUTO-PMT",
        "INTERNET PAYMENT - THANK YOU",
    ],
    vague_out: &[
        "ACH DEBIT {ref}",
        "WEB PMT {code}",
        "ELECTRONIC WITHDRAWAL {ref}",
        "DEBIT {code}",
    ],
    vague_in: &["DEPOSIT {ref}", "ACH CREDIT {code}", "ELECTRONIC DEPOSIT {ref}", "CREDIT"],
};

pub(super) const EUROPEAN: Phrases = Phrases {
    out: &[
        "UEBERTRAG AUF KONTO {mask} {ref}",
        "VIREMENT VERS COMPTE {mask}",
        "Naar {name} {mask}",
        "TRASPASO A {WORD} {mask}",
        "GIROCONTO VERSO {WORD} {ref}",
    ],
    into: &[
        "UEBERTRAG VON KONTO {mask} {ref}",
        "VIREMENT DE COMPTE A COMPTE {mask}",
        "Van {name} {mask}",
        "TRASPASO DESDE {WORD} {mask}",
    ],
    card_out: &["KREDITKARTENABRECHNUNG {WORD} {mask}", "{WORD} CARTE DEBIT DIFFERE {ref}"],
    card_in: &["AUSGLEICH KREDITKARTE DANKE", "VOTRE REGLEMENT MERCI", "ZAHLUNG EINGEGANGEN DANKE"],
    vague_out: &["SEPA {ref}", "VIR {code}", "BOEKING {code}", "LASTSCHRIFT {ref}"],
    vague_in: &["GUTSCHRIFT {code}", "VIR RECU {ref}", "BIJSCHRIJVING {ref}", "ABONO {code}"],
};
