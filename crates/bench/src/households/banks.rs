//! The description formats of institutions, each with its own noise.

/// A bank's name and description templates. Parts are named in braces, and filled by
/// [`super::descriptions::DescriptionParts`].
pub(super) struct Bank {
    pub(super) name: &'static str,
    /// Its name on the statements of other banks.
    pub(super) short_name: &'static str,
    /// Template of a card payment in a shop.
    pub(super) shop: &'static str,
    /// Template of a card on file or an online payment.
    pub(super) online: &'static str,
    /// Template of a direct debit.
    pub(super) debit: &'static str,
    /// Template of a credit to the account.
    pub(super) credit: &'static str,
}

const fn bank(names: [&'static str; 2], templates: [&'static str; 4]) -> Bank {
    let [name, short_name] = names;
    let [shop, online, debit, credit] = templates;
    Bank { name, short_name, shop, online, debit, credit }
}

pub(super) const AMERICAN: &[Bank] = &[
    bank(
        ["Chase", "CHASE"],
        [
            "{m} #{store} {CITY} {st}",
            "{m} {phone} {st}",
            "{m}  PAYMENT    {ref}      WEB ID: {id}",
            "{m}      PPD ID: {id}",
        ],
    ),
    bank(
        ["Bank of America", "BK OF AMER"],
        [
            "CHECKCARD {mmdd} {m} {store} {CITY} {st} {ref}{id}",
            "CHECKCARD {mmdd} {m} {phone} {st} {ref}{id} RECURRING",
            "{m} DES:PAYMENT ID:{code} INDN:MORGAN,ALEX CO ID:{id} WEB",
            "{m} DES:DEPOSIT ID:{code} INDN:MORGAN,ALEX CO ID:{id} PPD",
        ],
    ),
    bank(
        ["Wells Fargo", "WELLS FARGO"],
        [
            "PURCHASE AUTHORIZED ON {mm/dd} {m} {store} {CITY} {st} S{ref} CARD {mask}",
            "RECURRING PAYMENT AUTHORIZED ON {mm/dd} {m} {phone} {st} S{ref} CARD {mask}",
            "{m} {mmdd} {code} ALEX MORGAN",
            "{m} {mmdd} {code} ALEX MORGAN",
        ],
    ),
    bank(
        ["Citi", "CITI CARD ONLINE"],
        ["{m22} {city13}{st}", "{m22} {phone}   {st}", "ACH DEBIT {m} {code}", "ACH CREDIT {m}"],
    ),
    bank(
        ["Capital One", "CAPITAL ONE"],
        ["{m} {store}", "{m}", "Withdrawal from {m}", "Deposit from {m}"],
    ),
    bank(
        ["U.S. Bank", "US BANK"],
        [
            "DEBIT PURCHASE -VISA {m} {store} {CITY} {st}",
            "DEBIT PURCHASE -VISA {m} {phone} {st}",
            "ELECTRONIC WITHDRAWAL {m}",
            "ELECTRONIC DEPOSIT {m}",
        ],
    ),
    bank(
        ["PNC", "PNC BANK"],
        [
            "{mask} DEBIT CARD PURCHASE {m} {store} {CITY} {st}",
            "{mask} RECURRING DEBIT CARD {m} {phone}",
            "DIRECT PAYMENT - ACH WEB-{code} {m}",
            "DIRECT DEPOSIT - {m} {code}",
        ],
    ),
    bank(
        ["Navy Federal", "NFCU"],
        [
            "POS Debit- {mask} {n} {store} {City} {st}",
            "POS Debit- {mask} {n} {phone} {st}",
            "Paid To - {n} Chk {id}",
            "Deposit - ACH Paid From {n}",
        ],
    ),
    bank(
        ["Redwood Credit Union", "REDWOOD CU"],
        [
            "POS WITHDRAWAL {m} {store} {CITY} {st}US",
            "EXTERNAL WITHDRAWAL {m} - {code}",
            "EXTERNAL WITHDRAWAL {m} ID {id}",
            "EXTERNAL DEPOSIT {m} ID {id}",
        ],
    ),
    bank(
        ["American Express", "AMEX EPAYMENT"],
        ["AplPay {m} {store} {CITY} {st}", "{m} {phone} {st}", "{m} {ref}", "{m} {ref}"],
    ),
    bank(
        ["Discover", "DISCOVER"],
        ["{m} {store} {CITY} {st}", "{m} {phone} {st}{code}", "{m} {ref}", "{m} {ref}"],
    ),
];

pub(super) const EUROPEAN: &[Bank] = &[
    bank(
        ["Sparkasse", "SPARKASSE"],
        [
            "{m}//{CITY}/DE {dd.mm.yyyy} Debitk.{mask} Ref {ref}",
            "{m} {code} Onlinekauf {dd.mm.yyyy}",
            "FOLGELASTSCHRIFT {n} MANDAT {code} REF {ref}",
            "LOHN GEHALT {n} EREF {ref}",
        ],
    ),
    bank(
        ["ING", "ING BANK"],
        [
            "BEA, Betaalpas {n} {store},PAS{mask} {City}",
            "{n} {code} eCommerce",
            "Naam: {n} Omschrijving: {ref} Incassant ID: NL{id}ZZZ Machtiging: {code}",
            "Naam: {n} Omschrijving: Betaling {ref}",
        ],
    ),
    bank(["N26", "N26"], ["{m}", "{n}", "{n} - Lastschrift {code}", "{n}"]),
    bank(["Revolut", "REVOLUT"], ["{n}, {City}", "{n}", "To {n}", "Payment from {n}"]),
    bank(
        ["BNP Paribas", "BNP PARIBAS"],
        [
            "FACTURE CARTE DU {ddmmyy} {m} {CITY} CARTE {mask}",
            "FACTURE CARTE DU {ddmmyy} {m} CARTE {mask}",
            "PRLV SEPA {m} ECH/{ddmmyy} ID EMETTEUR/{id} MDT/{code}",
            "VIR SEPA RECU /DE {m} /REF {ref}",
        ],
    ),
    bank(
        ["Santander", "SANTANDER"],
        [
            "COMPRA TARJ. {mask} {m}-{CITY}",
            "COMPRA INTERNET {m} TARJ. {mask}",
            "RECIBO {m} N. {ref} REF. MANDATO {code}",
            "TRANSFERENCIA DE {m} CONCEPTO {ref}",
        ],
    ),
    bank(
        ["Intesa Sanpaolo", "INTESA"],
        [
            "PAGAMENTO POS {m} {CITY} CARTA {mask} {ddmmyy}",
            "PAGAMENTO ONLINE {m} CARTA {mask}",
            "ADDEBITO DIRETTO {m} MANDATO {code}",
            "BONIFICO DA {m} RIF {ref}",
        ],
    ),
];

/// Wallets, brokers and lenders, which only pass money on.
pub(super) const WALLET: Bank =
    bank(["PayPal", "PAYPAL INST XFER"], ["{n}", "{n}", "Payment to {n}", "Payment from {n}"]);
pub(super) const BROKER: Bank =
    bank(["Schwab", "SCHWAB BROKERAGE"], ["{m}", "{m}", "{m} {ref}", "{m} {ref}"]);
pub(super) const LENDER: Bank =
    bank(["Rocket Mortgage", "ROCKET MORTGAGE"], ["{m}", "{m}", "{m}", "{m} {ref}"]);
