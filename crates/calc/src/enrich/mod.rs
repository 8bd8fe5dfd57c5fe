//! Who stands behind a row and what it was for: the person's word first, then rules, facts, the
//! source's word, tables, and what the person's own rows teach.

mod clean;
mod descriptors;
mod fold;
mod history;
mod keywords;
mod letters;
mod merchants;
mod name;
mod phrases;
mod readable;
mod rules;
mod shapes;
#[cfg(test)]
mod tests;
mod tokens;

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, words};

use crate::transfers::Kind;

pub use clean::{Cleaned, UNKNOWN, clean};
pub use descriptors::Processor;
pub use history::{History, Sample};
use keywords::Keyword;
pub use merchants::{Flag, Merchant, merchant};
pub use readable::readable;
pub use rules::{Rule, Rules, Subject};

words!(
    /// Who decided a row's category.
    Stage {
        User => "user",
        Rule => "rule",
        Structure => "structure",
        Provider => "provider",
        Merchant => "merchant",
        Keyword => "keyword",
        History => "history",
        None => "none",
    }
);

/// What the person said about this very row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fix {
    pub counterparty: Option<String>,
    pub category: Option<Category>,
}

/// A row beside its descriptor.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub account: AccountId,
    pub account_kind: AccountKind,
    pub account_subtype: Option<&'a str>,
    pub inflow: bool,
    /// Without a sign.
    pub amount_minor: i64,
    /// The source's word.
    pub told_counterparty: Option<&'a str>,
    pub told_category: Option<Category>,
    /// Set when the row is one side of a movement between own accounts.
    pub transfer: Option<Kind>,
    /// In milliseconds since 1970; none for what is just coming in.
    pub came_at_ms: Option<i64>,
    pub fix: Option<&'a Fix>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enriched {
    /// Of the merchant where it is known, so that all its spellings are one; else of the descriptor.
    pub key: String,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    /// Who decided the category.
    pub stage: Stage,
    /// Whether a rule asks for it not to be seen.
    pub hidden: bool,
}

/// Tells one state of the tables from another: what was judged by other tables is to be judged again.
pub fn tables_fingerprint() -> u32 {
    // FNV-1a; nobody attacks it.
    let texts = [descriptors::TEXT, keywords::TEXT, merchants::TEXT];
    texts
        .iter()
        .flat_map(|it| it.bytes())
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The key that a descriptor's row gets, whatever else is known of it.
pub fn merchant_key(description: &str) -> String {
    let Cleaned { key, merchant, .. } = clean(description);
    merchant.map_or(key, |it| it.key.to_owned())
}

/// Answers from the first that has an answer; the counterparty and the category each for itself.
pub fn enrich(cleaned: &Cleaned, facts: &Facts<'_>, rules: &Rules, history: &History) -> Enriched {
    let leading = leading_keyword(&cleaned.key, facts);
    let row = Row { cleaned, facts, merchant: cleaned.merchant, leading };
    let (category, stage) = match row.category(rules, history) {
        Some((category, stage)) => (Some(category), stage),
        None => (None, Stage::None),
    };
    let (key, hidden) = (row.key().to_owned(), row.rules(rules).any(|it| it.hides));
    Enriched { key, counterparty: row.counterparty(rules), category, stage, hidden }
}

struct Row<'a> {
    cleaned: &'a Cleaned,
    facts: &'a Facts<'a>,
    merchant: Option<&'static Merchant>,
    /// What the key starts with.
    leading: Option<&'static Keyword>,
}

fn leading_keyword(key: &str, facts: &Facts<'_>) -> Option<&'static Keyword> {
    let words: Vec<&str> = key.split(' ').collect();
    keywords::leading(&words, facts.inflow, facts.account_kind)
}

impl Row<'_> {
    fn key(&self) -> &str {
        self.merchant.map_or(&self.cleaned.key, |it| it.key)
    }

    fn category(&self, rules: &Rules, history: &History) -> Option<(Category, Stage)> {
        let fixed = self.facts.fix.and_then(|it| it.category);
        let ruled = || self.rules(rules).find_map(|it| it.category);
        // What a payer of wages refunds is no wage.
        let earned = self.facts.inflow && !self.cleaned.refund_words;
        let traded = || self.merchant.and_then(|it| it.category(earned));
        let sample = Sample {
            key: &self.cleaned.key,
            inflow: self.facts.inflow,
            amount_minor: self.facts.amount_minor,
            account_kind: self.facts.account_kind,
        };
        // What a shop pays its people is no purchase, and the words say so.
        let is_income = |it: &Category| it.primary() == "INCOME";
        let sold = || traded().is_some_and(|it| self.facts.inflow && !is_income(&it));
        let wages = || if sold() { self.keyword().filter(is_income) } else { None };
        let by = |stage: Stage| move |category: Category| (category, stage);
        fixed
            .map(by(Stage::User))
            .or_else(|| ruled().map(by(Stage::Rule)))
            .or_else(|| self.structure().map(by(Stage::Structure)))
            .or_else(|| self.told().map(by(Stage::Provider)))
            .or_else(|| wages().map(by(Stage::Keyword)))
            .or_else(|| traded().map(by(Stage::Merchant)))
            .or_else(|| self.keyword().map(by(Stage::Keyword)))
            .or_else(|| history.guess(&sample).map(by(Stage::History)))
            .or_else(|| self.processed().map(by(Stage::Keyword)))
            // Better than nothing, where nothing better is known.
            .or_else(|| self.facts.told_category.map(by(Stage::Provider)))
    }

    fn counterparty(&self, rules: &Rules) -> Option<String> {
        let fixed = self.facts.fix.and_then(|it| it.counterparty.as_deref());
        let named = fixed
            .or_else(|| self.rules(rules).find_map(|it| it.counterparty.as_deref()))
            .or(self.facts.told_counterparty.filter(|it| !it.trim().is_empty()))
            .or(self.merchant.map(|it| it.name));
        match named {
            Some(name) => Some(name.to_owned()),
            None if self.is_banks_own() => None,
            None => Some(readable(&self.cleaned.key)),
        }
    }

    fn rules<'b>(&'b self, rules: &'b Rules) -> impl Iterator<Item = &'b Rule> {
        let Facts { account, inflow, came_at_ms, .. } = *self.facts;
        let row = Subject { key: self.key(), text: &self.cleaned.text, account, inflow };
        rules.fitting(row).filter(move |it| it.holds(came_at_ms))
    }

    /// What the accounts themselves say, whatever anybody calls it.
    fn structure(&self) -> Option<Category> {
        let into = |inward: &str, outward: &str| {
            Category::parse(if self.facts.inflow { inward } else { outward })
        };
        match self.facts.transfer {
            Some(Kind::CardPayment) => Category::parse("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
            Some(Kind::LoanPayment) => self.loan_payment(),
            Some(Kind::Investment) => into(
                "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS",
                "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS",
            ),
            Some(Kind::Savings) => into("TRANSFER_IN_SAVINGS", "TRANSFER_OUT_SAVINGS"),
            Some(Kind::Transfer) => {
                into("TRANSFER_IN_ACCOUNT_TRANSFER", "TRANSFER_OUT_ACCOUNT_TRANSFER")
            }
            None => self.account_fact(),
        }
    }

    /// Interest, fees and payments in the bank's own words, and whatever comes into a loan.
    fn account_fact(&self) -> Option<Category> {
        let said = self.leading.filter(|it| it.is_structural());
        let is_paid = self.facts.account_kind == AccountKind::Loan && self.facts.inflow;
        match said.and_then(|it| it.category) {
            Some(category) => Some(category),
            None if is_paid => self.loan_payment(),
            None => None,
        }
    }

    /// On the loan's side its subtype says what kind it is; on the other side only the words can.
    fn loan_payment(&self) -> Option<Category> {
        let of_subtype = match self.facts.account_subtype {
            Some("mortgage" | "home equity" | "construction") => "LOAN_PAYMENTS_MORTGAGE_PAYMENT",
            Some("auto") => "LOAN_PAYMENTS_CAR_PAYMENT",
            Some("student") => "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT",
            Some("consumer" | "personal") => "LOAN_PAYMENTS_PERSONAL_LOAN_PAYMENT",
            _ => "LOAN_PAYMENTS_OTHER_PAYMENT",
        };
        let general = Category::parse(of_subtype);
        if self.facts.account_kind == AccountKind::Loan {
            return general;
        }
        let is_loan = |it: &Category| it.primary() == "LOAN_PAYMENTS";
        let sold = self.merchant.map(|it| it.category).filter(is_loan);
        sold.or_else(|| self.keyword().filter(is_loan)).or(general)
    }

    /// A source that says "other" has not said anything.
    fn told(&self) -> Option<Category> {
        self.facts.told_category.filter(|it| it.primary() != "OTHER")
    }

    fn keyword(&self) -> Option<Category> {
        let words: Vec<&str> = self.cleaned.text.split(' ').collect();
        let found =
            keywords::anywhere(&words, self.facts.inflow, self.facts.account_kind).or(self.leading);
        // Securities and employers have names of all trades; money from them is no purchase there.
        let is_named_after_trade = self.facts.account_kind == AccountKind::Investment
            || self.facts.inflow
                && self.facts.account_kind == AccountKind::Depository
                && !self.cleaned.refund_words;
        let on_topic = |it: &Category| {
            let topics =
                ["INCOME", "TRANSFER_IN", "TRANSFER_OUT", "LOAN_DISBURSEMENTS", "BANK_FEES"];
            !is_named_after_trade || topics.contains(&it.primary())
        };
        let between_people = || {
            let code = if self.facts.inflow {
                "TRANSFER_IN_OTHER_TRANSFER_IN"
            } else {
                "TRANSFER_OUT_OTHER_TRANSFER_OUT"
            };
            Category::parse(code).filter(|_| self.cleaned.person)
        };
        found.and_then(|it| it.category).filter(on_topic).or_else(between_people)
    }

    /// Toast makes tills for restaurants and for nobody else.
    fn processed(&self) -> Option<Category> {
        let is_toast = self.cleaned.processor == Some(Processor::Toast);
        Category::parse("FOOD_AND_DRINK_RESTAURANT").filter(|_| is_toast)
    }

    fn is_banks_own(&self) -> bool {
        let said = self.leading.is_some_and(|it| it.is_bank);
        let is_nobody = self.cleaned.key == UNKNOWN || self.facts.transfer.is_some();
        !self.cleaned.person && (is_nobody || said)
    }
}
