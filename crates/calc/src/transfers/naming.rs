//! Detects whether a text names an account: by its institution, its nickname, its kind or its last digits.

use base::draft::AccountKind;

use super::Account;
use super::evidence::{Naming, Side};

/// Words at the end of institution names that do not distinguish them.
const CORPORATE: &str = "\
    A BANK BANKING CARD CARDS CO COMPANY CORP CORPORATION CREDIT CU FCU FEDERAL FINANCIAL \
    FSB GROUP INC LLC LTD N NA NATIONAL ONLINE PLC SAVINGS SERVICES THE TRUST UNION USA";

/// Words that occur in too many texts to name an institution.
const COMMON: &str = "\
    AMERICAN CITY COMMUNITY CURRENT DIRECT FIRST MONEY NEW ONE PEOPLES PERSONAL SIMPLE STATE \
    TD US";

/// Other names of institutions in banks' texts.
const ALIASES: &[(&[&str], &[&[&str]])] = &[
    (&["AMERICAN", "EXPRESS"], &[&["AMEX"]]),
    (&["APPLE"], &[&["APPLECARD"], &["GSBANK"]]),
    (&["BANK", "OF", "AMERICA"], &[&["BOFA"], &["BOA"], &["BK", "OF", "AMER"]]),
    (&["BARCLAYS"], &[&["BARCLAYCARD"], &["BARCLAYCARDUS"]]),
    (&["CAPITAL", "ONE"], &[&["CAPONE"], &["CAP", "ONE"]]),
    (&["CHARLES", "SCHWAB"], &[&["SCHWAB"]]),
    (&["CITI"], &[&["CITIBANK"], &["CITICARD"], &["CITICARDS"]]),
    (&["CITIBANK"], &[&["CITI"], &["CITICARD"], &["CITICARDS"]]),
    (&["FIDELITY"], &[&["FID", "BKG", "SVC"]]),
    (&["GOLDMAN", "SACHS"], &[&["MARCUS"], &["GSBANK"], &["APPLECARD"]]),
    (&["INTERACTIVE", "BROKERS"], &[&["IBKR"]]),
    (&["JPMORGAN"], &[&["CHASE"], &["JPM"]]),
    (&["MARCUS"], &[&["GOLDMAN", "SACHS"]]),
    (&["NAVY", "FEDERAL"], &[&["NFCU"], &["NAVYFED"], &["NAVY", "FED"]]),
    (&["SYNCHRONY"], &[&["SYNCB"], &["SYF"]]),
    (&["VANGUARD"], &[&["VGI"]]),
    (&["WELLS", "FARGO"], &[&["WF"]]),
];

/// Words in nicknames that many accounts share, or that occur in any text about money.
const PLAIN: &str = "\
    ACCOUNT ACCT ADVANTAGE AUTO AUTOPAY BALANCE BANK BASIC BLUE BROKERAGE BUSINESS CARD CASH \
    CASHBACK CHECKING COLLEGE COMPANY CREDIT DAILY DEBIT DEPOSIT DIRECT EVERYDAY EXPRESS \
    FAMILY FREE FROM FUND FUNDS GOLD HIGH HOME HOUSE INTEREST INVESTMENT JOINT LOAN MAIN \
    MARKET MASTERCARD MONEY MORTGAGE MYBANK ONLINE PAYMENT PERSONAL PLATINUM PLUS PREFERRED \
    PREMIER PRIMARY REWARDS SAVE SAVER SAVING SAVINGS SELECT SHARE SIGNATURE SPENDING \
    STANDARD STUDENT THE TOTAL TRANSFER TRAVEL UNLIMITED VISA WORLD YIELD";

fn is_listed(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// The words of a text in capitals, letters and digits only.
#[derive(Debug)]
pub(super) struct Text {
    capitals: String,
    /// The start and end of each word.
    words: Vec<(usize, usize)>,
}

impl Text {
    pub(super) fn of(text: &str) -> Text {
        let capitals =
            if text.is_ascii() { text.to_ascii_uppercase() } else { text.to_uppercase() };
        let mut words = Vec::new();
        let mut start = None;
        for (at, it) in capitals.char_indices() {
            match (it.is_alphanumeric(), start) {
                (true, None) => start = Some(at),
                (false, Some(begun)) => {
                    words.push((begun, at));
                    start = None;
                }
                _ => {}
            }
        }
        words.extend(start.map(|begun| (begun, capitals.len())));
        Text { capitals, words }
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|(start, end)| &self.capitals[*start..*end])
    }

    pub(super) fn has_phrase(&self, phrase: &[impl AsRef<str>]) -> bool {
        let equals =
            |(start, end): &(usize, usize), word: &str| &self.capitals[*start..*end] == word;
        !phrase.is_empty()
            && self
                .words
                .windows(phrase.len())
                .any(|run| run.iter().zip(phrase).all(|(at, word)| equals(at, word.as_ref())))
    }

    /// Whether a word consists of these digits, alone or after masking letters.
    fn has_mask(&self, mask: &str) -> bool {
        // 2026 is more often a year than an account, unless the text clearly means an account.
        let is_year = mask.len() == 4 && (mask.starts_with("19") || mask.starts_with("20"));
        let is_mask = |word: &str| match word.trim_start_matches('X') {
            shown if shown.len() < word.len() => shown == mask,
            _ => word == mask && !is_year,
        };
        self.words().any(is_mask) || self.has_phrase(&["ENDING", "IN", mask])
    }
}

/// All names of one account, prepared once for all texts.
#[derive(Debug)]
pub(super) struct AccountWords {
    institution: Vec<Vec<String>>,
    nickname: Vec<String>,
    roles: &'static [&'static str],
    mask: Option<String>,
}

impl AccountWords {
    pub(super) fn of(account: &Account) -> AccountWords {
        let is_distinctive = |word: &str| {
            word.chars().count() >= 4
                && word.chars().all(char::is_alphabetic)
                && !is_listed(word, PLAIN)
        };
        let name = Text::of(&account.name);
        let mask: Option<String> =
            account.mask.as_ref().map(|it| it.chars().filter(char::is_ascii_digit).collect());
        AccountWords {
            institution: account.institution.as_deref().map_or_else(Vec::new, phrases),
            nickname: name.words().filter(|it| is_distinctive(it)).map(str::to_owned).collect(),
            roles: roles(account.kind, account.subtype.as_deref()),
            mask: mask.filter(|it| it.len() >= 3),
        }
    }

    /// How the text of a leg on `own` names this account. Names that both accounts share do not count: a bank writes
    /// its own name into every text.
    pub(super) fn named_in(&self, text: &Text, side: Side, own: &AccountWords) -> Option<Naming> {
        let preposition = match side {
            Side::Outflow => "TO",
            Side::Inflow => "FROM",
        };
        let is_own = |it: &Vec<String>| own.institution.contains(it);
        let is_nicknamed = |it: &String| !own.nickname.contains(it) && text.has_phrase(&[it]);
        if self.mask != own.mask && self.has_mask_in(text) {
            Some(Naming::Mask)
        } else if self.nickname.iter().any(is_nicknamed) {
            Some(Naming::Nickname)
        } else if self.roles.iter().any(|it| text.has_phrase(&[preposition, it])) {
            Some(Naming::Role)
        } else if self.institution.iter().any(|it| !is_own(it) && text.has_phrase(it)) {
            Some(Naming::Institution)
        } else {
            None
        }
    }

    /// Whether the text names this account or its institution.
    pub(super) fn is_named_in(&self, text: &Text) -> bool {
        self.is_identified_in(text) || self.institution.iter().any(|it| text.has_phrase(it))
    }

    /// Whether a text could name this account other than by its digits.
    pub(super) fn has_name(&self) -> bool {
        !self.institution.is_empty() || !self.nickname.is_empty()
    }

    /// Whether the text names this account and not only its institution.
    pub(super) fn is_identified_in(&self, text: &Text) -> bool {
        self.has_mask_in(text) || self.nickname.iter().any(|it| text.has_phrase(&[it]))
    }

    pub(super) fn is_sibling_of(&self, other: &AccountWords) -> bool {
        self.institution == other.institution
    }

    fn has_mask_in(&self, text: &Text) -> bool {
        self.mask.as_ref().is_some_and(|it| text.has_mask(it))
    }
}

/// The full name, its distinctive part, the aliases of both, and all of them as one word.
fn phrases(institution: &str) -> Vec<Vec<String>> {
    let name = Text::of(institution);
    let whole: Vec<String> = name.words().map(str::to_owned).collect();
    let mut distinctive = whole.as_slice();
    while let [rest @ .., last] = distinctive
        && is_listed(last, CORPORATE)
    {
        distinctive = rest;
    }
    let mut phrases = vec![whole.clone(), distinctive.to_vec()];
    for (formal, others) in ALIASES {
        if name.has_phrase(formal) {
            phrases.extend(others.iter().map(|it| it.iter().map(|it| (*it).to_owned()).collect()));
        }
    }
    let joined: Vec<Vec<String>> =
        phrases.iter().filter(|it| it.len() > 1).map(|it| vec![it.concat()]).collect();
    phrases.extend(joined);
    phrases.retain(|it| is_specific(it));
    phrases
}

fn is_specific(phrase: &[String]) -> bool {
    match phrase {
        [] => false,
        [word] => {
            let word = word.as_str();
            word.len() >= 2 && !is_listed(word, COMMON) && !is_listed(word, CORPORATE)
        }
        _ => true,
    }
}

fn roles(kind: AccountKind, subtype: Option<&str>) -> &'static [&'static str] {
    match (kind, subtype) {
        (AccountKind::Depository, Some("savings" | "money market")) => &["SAVINGS", "SAV"],
        (AccountKind::Depository, Some("checking")) => &["CHECKING", "CHK"],
        (AccountKind::Credit, _) => &["CREDIT", "CARD"],
        (AccountKind::Loan, Some("mortgage")) => &["MORTGAGE", "LOAN"],
        (AccountKind::Loan, _) => &["LOAN"],
        (AccountKind::Investment, _) => &["BROKERAGE", "INVESTMENT", "INVESTMENTS", "INVESTING"],
        _ => &[],
    }
}
