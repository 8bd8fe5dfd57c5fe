//! Banks of Europe.

use base::draft::AccountKind::Depository;

use super::super::mapping::Field::{
    Account, AccountName, Amount, Balance, Category, Counterparty, Currency, Date, Description,
    Direction, Id, Status,
};
use super::{Form, PLAIN, Preset};
use crate::files::DateOrder::DayFirst;
use crate::files::table_amount::DecimalMark::{Comma, Dot};

const EURO: Preset = Preset {
    kind: Some(Depository),
    currency: Some("EUR"),
    dates: Some(DayFirst),
    mark: Some(Comma),
    ..PLAIN
};

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "N26",
        institution: "N26",
        form: Form::Has(&[
            "booking date",
            "partner name",
            "partner iban",
            "type",
            "payment reference",
            "amount (eur)",
        ]),
        columns: &[
            (Date, "booking date"),
            (Counterparty, "partner name"),
            (Description, "partner name"),
            (Description, "payment reference"),
            (AccountName, "account name"),
            (Amount, "amount (eur)"),
            (Category, "category"),
        ],
        mark: Some(Dot),
        ..EURO
    },
    Preset {
        name: "N26, older",
        institution: "N26",
        form: Form::Has(&[
            "date",
            "payee",
            "account number",
            "transaction type",
            "payment reference",
            "amount (eur)",
        ]),
        columns: &[
            (Date, "date"),
            (Counterparty, "payee"),
            (Description, "payee"),
            (Description, "payment reference"),
            (Amount, "amount (eur)"),
            (Category, "category"),
        ],
        mark: Some(Dot),
        ..EURO
    },
    Preset {
        name: "Monzo",
        institution: "Monzo",
        form: Form::Has(&[
            "transaction id",
            "date",
            "time",
            "type",
            "name",
            "emoji",
            "amount",
            "currency",
            "local amount",
            "local currency",
        ]),
        columns: &[
            (Id, "transaction id"),
            (Date, "date"),
            (Counterparty, "name"),
            (Description, "description"),
            (Amount, "amount"),
            (Currency, "currency"),
            (Category, "category"),
            (Balance, "balance"),
        ],
        mark: Some(Dot),
        subtype: Some("checking"),
        ..EURO
    },
    Preset {
        name: "Starling",
        institution: "Starling",
        form: Form::Has(&["date", "counter party", "reference", "type", "amount (gbp)"]),
        columns: &[
            (Date, "date"),
            (Counterparty, "counter party"),
            (Description, "reference"),
            (Description, "counter party"),
            (Amount, "amount (gbp)"),
            (Balance, "balance (gbp)"),
            (Category, "spending category"),
        ],
        currency: Some("GBP"),
        mark: Some(Dot),
        subtype: Some("checking"),
        ..EURO
    },
    Preset {
        name: "ING, Netherlands",
        institution: "ING",
        form: Form::Has(&[
            "datum",
            "naam / omschrijving",
            "rekening",
            "tegenrekening",
            "af bij",
            "bedrag (eur)",
            "mededelingen",
        ]),
        columns: &[
            (Date, "datum"),
            (Counterparty, "naam / omschrijving"),
            (Description, "naam / omschrijving"),
            (Description, "mededelingen"),
            (Account, "rekening"),
            (Direction, "af bij"),
            (Amount, "bedrag (eur)"),
            (Balance, "saldo na mutatie"),
        ],
        out_words: &["af"],
        in_words: &["bij"],
        ..EURO
    },
    Preset {
        name: "ING, Netherlands, in English",
        institution: "ING",
        form: Form::Has(&[
            "date",
            "name / description",
            "account",
            "counterparty",
            "debit/credit",
            "amount (eur)",
            "notifications",
        ]),
        columns: &[
            (Date, "date"),
            (Counterparty, "name / description"),
            (Description, "name / description"),
            (Description, "notifications"),
            (Account, "account"),
            (Direction, "debit/credit"),
            (Amount, "amount (eur)"),
            (Balance, "resulting balance"),
        ],
        out_words: &["debit"],
        in_words: &["credit"],
        ..EURO
    },
    Preset {
        name: "Rabobank",
        institution: "Rabobank",
        form: Form::Has(&[
            "iban/bban",
            "munt",
            "volgnr",
            "datum",
            "bedrag",
            "saldo na trn",
            "naam tegenpartij",
            "omschrijving-1",
        ]),
        columns: &[
            (Account, "iban/bban"),
            (Currency, "munt"),
            (Id, "volgnr"),
            (Date, "datum"),
            (Amount, "bedrag"),
            (Balance, "saldo na trn"),
            (Counterparty, "naam tegenpartij"),
            (Description, "naam tegenpartij"),
            (Description, "omschrijving-1"),
            (Description, "omschrijving-2"),
            (Description, "omschrijving-3"),
        ],
        ..EURO
    },
    Preset {
        name: "ING, Germany",
        institution: "ING",
        form: Form::Has(&[
            "buchung",
            "auftraggeber/empfänger",
            "buchungstext",
            "verwendungszweck",
            "saldo",
            "betrag",
        ]),
        columns: &[
            (Date, "buchung"),
            (Counterparty, "auftraggeber/empfänger"),
            (Description, "auftraggeber/empfänger"),
            (Description, "buchungstext"),
            (Description, "verwendungszweck"),
            (Balance, "saldo"),
            (Amount, "betrag"),
            (Currency, "währung"),
        ],
        ..EURO
    },
    Preset {
        name: "DKB",
        institution: "DKB",
        form: Form::Has(&[
            "buchungsdatum",
            "wertstellung",
            "status",
            "zahlungspflichtige*r",
            "zahlungsempfänger*in",
            "verwendungszweck",
            "umsatztyp",
        ]),
        columns: &[
            (Date, "buchungsdatum"),
            (Status, "status"),
            (Counterparty, "zahlungsempfänger*in"),
            (Counterparty, "zahlungspflichtige*r"),
            (Description, "verwendungszweck"),
            (Amount, "betrag (€)"),
            (Amount, "betrag (eur)"),
            (Amount, "betrag"),
        ],
        pending_words: &["vorgemerkt"],
        ..EURO
    },
    Preset {
        name: "Sparkasse",
        institution: "Sparkasse",
        form: Form::Has(&[
            "auftragskonto",
            "buchungstag",
            "buchungstext",
            "verwendungszweck",
            "beguenstigter/zahlungspflichtiger",
            "betrag",
            "waehrung",
            "info",
        ]),
        columns: &[
            (Account, "auftragskonto"),
            (Date, "buchungstag"),
            (Counterparty, "beguenstigter/zahlungspflichtiger"),
            (Description, "beguenstigter/zahlungspflichtiger"),
            (Description, "buchungstext"),
            (Description, "verwendungszweck"),
            (Amount, "betrag"),
            (Currency, "waehrung"),
            (Status, "info"),
        ],
        pending_words: &["umsatz vorgemerkt"],
        ..EURO
    },
    Preset {
        name: "bunq",
        institution: "bunq",
        form: Form::Only(&["datum", "bedrag", "rekening", "tegenrekening", "naam", "omschrijving"]),
        columns: &[
            (Date, "datum"),
            (Amount, "bedrag"),
            (Account, "rekening"),
            (Counterparty, "naam"),
            (Description, "naam"),
            (Description, "omschrijving"),
        ],
        ..EURO
    },
];
