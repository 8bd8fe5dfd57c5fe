//! Enrichment: the counterparty and category of a transaction. In order: the person's override, rules, facts of the
//! accounts, the source's category, the tables, predictions from the person's own rows, and a guess.

mod anywhere;
mod brands;
mod clean;
mod cleaned_texts;
mod descriptor_parser;
mod descriptors;
mod display_name;
mod fold;
mod fuzzy_spellings;
mod history;
mod keywords;
mod merchants;
mod model;
mod name;
mod phrases;
mod rules;
mod shapes;
mod statement_words;
#[cfg(test)]
mod tests;
mod tokens;
mod train;

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Currency, Money, words};

use crate::transfers::TransferKind;

pub use clean::{CleanedDescriptor, clean};
pub use cleaned_texts::CleanedTexts;
pub use descriptor_parser::UNKNOWN;
pub use descriptors::Processor;
pub use display_name::display_name;
pub use history::{History, Sample};
use keywords::Keyword;
pub use merchants::{Flag, Merchant, merchant};
use model::{Guess, PaidBy};
pub use rules::{AmountRange, Rule, RuleSubject, Rules, precedence};
pub use train::train_model;

words!(
    /// The source of a transaction's category.
    CategorySource {
        User => "user",
        Rule => "rule",
        Structure => "structure",
        Provider => "provider",
        Merchant => "merchant",
        Keyword => "keyword",
        History => "history",
        Guess => "guess",
        None => "none",
    }
);

/// The person's override for one transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionOverride {
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    /// Whether the person hides or shows the transaction, whatever the rules say. None if they chose neither.
    pub hidden: Option<bool>,
}

/// The facts about a transaction besides its descriptor.
#[derive(Debug, Clone, Copy)]
pub struct TransactionFacts<'a> {
    pub account: AccountId,
    pub account_kind: AccountKind,
    pub account_subtype: Option<&'a str>,
    pub inflow: bool,
    /// The absolute amount.
    pub amount_minor: i64,
    pub currency: Currency,
    /// The counterparty and category as stated by the source.
    pub source_counterparty: Option<&'a str>,
    pub source_category: Option<Category>,
    /// Set if the transaction is a leg of a transfer between own accounts.
    pub transfer: Option<TransferKind>,
    /// When it was imported, in milliseconds since 1970; none for a transaction being imported.
    pub imported_at_ms: Option<i64>,
    pub user_override: Option<&'a TransactionOverride>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enriched {
    /// The key of the known merchant, so that all its spellings share one; else of the descriptor.
    pub key: String,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    /// The source of the category.
    pub category_source: CategorySource,
    /// Whether the transaction is hidden, by the person or by a rule.
    pub hidden: bool,
}

/// Identifies the content of the tables: transactions enriched with other tables must be enriched again.
pub fn tables_fingerprint() -> u32 {
    // FNV-1a; the input is not attacker-controlled.
    let texts = [descriptors::TEXT, keywords::TEXT, merchants::TEXT, brands::TEXT];
    let bytes = texts.iter().flat_map(|it| it.bytes()).chain(model::WEIGHTS.iter().copied());
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The merchant key of a transaction with this descriptor.
pub fn merchant_key(description: &str) -> String {
    let CleanedDescriptor { key, merchant, .. } = clean(description);
    merchant.map_or(key, |it| it.key.to_owned())
}

/// How likely the guess for a purchase with this descriptor is right, in percent. None if none is made.
pub fn guess_confidence(description: &str) -> Option<u8> {
    let cleaned = clean(description);
    let words: Vec<&str> = cleaned.text.split(' ').collect();
    model::guess(&cleaned.key, statement_words::paid_by(&words)).map(|it| it.confidence)
}

/// Determines counterparty and category, each from the first source that has an answer.
pub fn enrich(
    cleaned: &CleanedDescriptor,
    facts: &TransactionFacts<'_>,
    rules: &Rules,
    history: &History,
) -> Enriched {
    let leading = leading_keyword(&cleaned.key, facts);
    let words = cleaned.text.split(' ').collect();
    let merchant = cleaned.merchant.or_else(|| stated_merchant(facts));
    let row = Row { cleaned, facts, words, merchant, leading };
    let (category, category_source) = match row.category(rules, history) {
        Some((category, category_source)) => (Some(category), category_source),
        None => (None, CategorySource::None),
    };
    let chosen = facts.user_override.and_then(|it| it.hidden);
    let hidden = chosen.unwrap_or_else(|| row.rules(rules).any(|it| it.hides));
    let key = row.key().to_owned();
    Enriched { key, counterparty: row.counterparty(rules), category, category_source, hidden }
}

/// The known merchant that the source names beside the descriptor: some banks write only a reference into the text.
fn stated_merchant(facts: &TransactionFacts<'_>) -> Option<&'static Merchant> {
    let name = facts.source_counterparty.filter(|it| !it.trim().is_empty())?;
    let CleanedDescriptor { merchant, is_found_inside, .. } = clean(name);
    merchant.filter(|_| !is_found_inside && facts.transfer.is_none())
}

/// The primary categories that say nothing about a trade.
const ABOUT_MONEY: [&str; 6] =
    ["INCOME", "TRANSFER_IN", "TRANSFER_OUT", "LOAN_DISBURSEMENTS", "LOAN_PAYMENTS", "BANK_FEES"];

/// Whether a category is the "other" of its primary category. Sources that say only "Travel" are mapped to it. Income,
/// transfers, loans and fees are exact in every source.
fn is_coarse(category: Category) -> bool {
    !ABOUT_MONEY.contains(&category.primary()) && category.detailed().contains("_OTHER_")
}

struct Row<'a> {
    cleaned: &'a CleanedDescriptor,
    facts: &'a TransactionFacts<'a>,
    /// All words of the descriptor.
    words: Vec<&'a str>,
    merchant: Option<&'static Merchant>,
    /// The keyword that the key starts with.
    leading: Option<&'static Keyword>,
}

fn leading_keyword(key: &str, facts: &TransactionFacts<'_>) -> Option<&'static Keyword> {
    let words: Vec<&str> = key.split(' ').collect();
    keywords::leading(&words, facts.inflow, facts.account_kind)
}

impl Row<'_> {
    fn key(&self) -> &str {
        self.merchant.map_or(&self.cleaned.key, |it| it.key)
    }

    fn category(&self, rules: &Rules, history: &History) -> Option<(Category, CategorySource)> {
        let overridden = self.facts.user_override.and_then(|it| it.category);
        let ruled = || self.rules(rules).find_map(|it| it.category);
        // A refund by an employer is not a wage.
        let earned = self.facts.inflow && !self.cleaned.refund_words;
        let sale = |it: &'static Merchant| it.category(earned).map(|it| self.without_tax(it));
        let traded = || self.merchant.filter(|_| !self.cleaned.is_found_inside).and_then(sale);
        let sample = Sample {
            key: &self.cleaned.key,
            inflow: self.facts.inflow,
            amount_minor: self.facts.amount_minor,
            account_kind: self.facts.account_kind,
        };
        // Money that a shop pays its employees is not a purchase, and the text says so.
        let sold = || traded().is_some_and(|it| self.facts.inflow && it.primary() != "INCOME");
        let wages = || if sold() { self.wages() } else { None };
        let by =
            |category_source: CategorySource| move |category: Category| (category, category_source);
        overridden
            .map(by(CategorySource::User))
            .or_else(|| ruled().map(by(CategorySource::Rule)))
            .or_else(|| self.structure().map(by(CategorySource::Structure)))
            .or_else(|| self.specific_source_category().map(by(CategorySource::Provider)))
            .or_else(|| wages().map(by(CategorySource::Keyword)))
            .or_else(|| self.card_payment().map(by(CategorySource::Keyword)))
            .or_else(|| self.download().map(by(CategorySource::Merchant)))
            .or_else(|| self.supercenter().map(by(CategorySource::Merchant)))
            .or_else(|| self.paid_by_seller().map(by(CategorySource::Keyword)))
            .or_else(|| traded().map(by(CategorySource::Merchant)))
            .or_else(|| self.brand(brands::exact).map(by(CategorySource::Merchant)))
            .or_else(|| self.coarse_source_category().map(by(CategorySource::Provider)))
            .or_else(|| self.keyword().map(by(CategorySource::Keyword)))
            .or_else(|| statement_words::fee(&self.words).map(by(CategorySource::Keyword)))
            .or_else(|| self.inside().and_then(sale).map(by(CategorySource::Merchant)))
            .or_else(|| self.brand(brands::leading).map(by(CategorySource::Merchant)))
            .or_else(|| self.word_part().map(by(CategorySource::Keyword)))
            .or_else(|| history.guess(&sample).map(by(CategorySource::History)))
            .or_else(|| self.processor_category().map(by(CategorySource::Keyword)))
            .or_else(|| self.unnamed_payment().map(by(CategorySource::Keyword)))
            .or_else(|| self.sent_by_person().map(by(CategorySource::Keyword)))
            .or_else(|| self.donation().map(by(CategorySource::Keyword)))
            // A generic category of the source is better than none.
            .or_else(|| self.facts.source_category.map(by(CategorySource::Provider)))
            .or_else(|| self.guess().map(|it| (it.category, CategorySource::Guess)))
    }

    fn counterparty(&self, rules: &Rules) -> Option<String> {
        let overridden = self.facts.user_override.and_then(|it| it.counterparty.as_deref());
        let named = overridden
            .or_else(|| self.rules(rules).find_map(|it| it.counterparty.as_deref()))
            .or(self.facts.source_counterparty.filter(|it| !it.trim().is_empty()))
            .or(self.merchant.map(|it| it.name));
        match named {
            Some(name) => Some(name.to_owned()),
            None if self.is_banks_own() => None,
            None => Some(display_name(&self.cleaned.key)),
        }
    }

    fn rules<'b>(&'b self, rules: &'b Rules) -> impl Iterator<Item = &'b Rule> {
        let TransactionFacts { account, inflow, imported_at_ms, .. } = *self.facts;
        let minor = self.facts.amount_minor;
        let minor = if inflow { minor } else { minor.saturating_neg() };
        let amount = Money::new(minor, self.facts.currency);
        let row = RuleSubject { key: self.key(), text: &self.cleaned.text, account, amount };
        rules.fitting(row).filter(move |it| it.holds(imported_at_ms))
    }

    /// The category that follows from the accounts themselves, which overrides any text.
    fn structure(&self) -> Option<Category> {
        let into = |inward: &str, outward: &str| {
            Category::parse(if self.facts.inflow { inward } else { outward })
        };
        match self.facts.transfer {
            Some(TransferKind::CardPayment) => Category::parse("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
            Some(TransferKind::LoanPayment) => self.loan_payment(),
            Some(TransferKind::Investment) => into(
                "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS",
                "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS",
            ),
            Some(TransferKind::Savings) => into("TRANSFER_IN_SAVINGS", "TRANSFER_OUT_SAVINGS"),
            Some(TransferKind::Transfer) => {
                into("TRANSFER_IN_ACCOUNT_TRANSFER", "TRANSFER_OUT_ACCOUNT_TRANSFER")
            }
            None => self.account_fact(),
        }
    }

    /// Interest, fees and payments in the bank's own words, and any money into a loan.
    fn account_fact(&self) -> Option<Category> {
        let keyword = self.leading.filter(|it| it.is_structural());
        let is_paid = self.facts.account_kind == AccountKind::Loan && self.facts.inflow;
        match keyword.and_then(|it| it.category) {
            // A bank may write DEPOSIT in front of a paycheck.
            Some(category) if category.detailed() == "TRANSFER_IN_DEPOSIT" => {
                keywords::pay(&self.words, self.facts.account_kind).or(Some(category))
            }
            Some(category) => Some(category),
            None if is_paid => self.loan_payment(),
            None => None,
        }
    }

    /// On the loan's side the account subtype determines the kind; on the other side only the text can.
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

    /// The source's category, unless it says as little as "other" or "shopping".
    fn specific_source_category(&self) -> Option<Category> {
        self.facts.source_category.filter(|it| it.primary() != "OTHER" && !is_coarse(*it))
    }

    /// The source's category that says little more than the kind of shop. A known merchant says more.
    fn coarse_source_category(&self) -> Option<Category> {
        self.facts.source_category.filter(|it| is_coarse(*it))
    }

    /// Whether the money is spent, or comes back from where it was spent.
    fn is_purchase(&self) -> bool {
        self.facts.account_kind != AccountKind::Investment
            && (!self.facts.inflow
                || self.cleaned.refund_words
                || self.facts.account_kind == AccountKind::Credit)
    }

    /// The merchant whose name is inside other words. Money in, and transfers, may mention anybody.
    fn inside(&self) -> Option<&'static Merchant> {
        let is_meant = self.is_purchase() && !self.cleaned.transfer_words;
        self.merchant.filter(|_| self.cleaned.is_found_inside && is_meant)
    }

    fn brand(&self, find: fn(&str) -> Option<Category>) -> Option<Category> {
        find(&self.cleaned.key).filter(|_| self.is_purchase() && !self.cleaned.person)
    }

    /// The keyword that a cut or joined word of the key stands for.
    fn word_part(&self) -> Option<Category> {
        let words: Vec<&str> = self.cleaned.key.split(' ').collect();
        let is_purchase = self.is_purchase() && !self.cleaned.person;
        keywords::word_part(&words).filter(|_| is_purchase && !self.is_banks_own())
    }

    /// Income from an employer that is also a shop.
    fn wages(&self) -> Option<Category> {
        let longest = self.keyword().filter(|it| it.primary() == "INCOME");
        let pay = || keywords::pay(&self.words, self.facts.account_kind);
        longest.or_else(pay)
    }

    /// Money from a tax office is a tax refund.
    fn without_tax(&self, category: Category) -> Category {
        let is_tax = category.detailed() == "GOVERNMENT_AND_NON_PROFIT_TAX_PAYMENT";
        let refund = Category::parse("INCOME_TAX_REFUND").filter(|_| is_tax && self.facts.inflow);
        refund.unwrap_or(category)
    }

    /// The category of a download from a marketplace: films, books and games.
    fn download(&self) -> Option<Category> {
        let is_bought = self.is_purchase() && statement_words::is_download(&self.words);
        Category::parse("ENTERTAINMENT_OTHER_ENTERTAINMENT").filter(|_| is_bought)
    }

    /// Purchases in a superstore whose name says that it has a supermarket. Card networks classify these as grocery
    /// stores, and so do most people.
    fn supercenter(&self) -> Option<Category> {
        let is_superstore =
            |it: &Merchant| it.category.detailed() == "GENERAL_MERCHANDISE_SUPERSTORES";
        let is_bought = self.is_purchase()
            && self.merchant.is_some_and(is_superstore)
            && statement_words::is_supercenter(&self.words);
        Category::parse("FOOD_AND_DRINK_GROCERIES").filter(|_| is_bought)
    }

    /// Money that a seller sends by ACH is not a refund of a purchase by card: it pays a worker, a supplier or expenses.
    fn paid_by_seller(&self) -> Option<Category> {
        let is_seller = |it: &Merchant| !ABOUT_MONEY.contains(&it.category.primary());
        let is_paid = self.is_unexplained_inflow()
            && !self.cleaned.is_found_inside
            && self
                .merchant
                .is_some_and(|it| is_seller(it) && it.category(true) == Some(it.category))
            && statement_words::is_ach(&self.words);
        Category::parse("INCOME_OTHER").filter(|_| is_paid && self.keyword().is_none())
    }

    /// Money into a deposit account that is no refund.
    fn is_unexplained_inflow(&self) -> bool {
        self.facts.inflow
            && self.facts.account_kind == AccountKind::Depository
            && !self.cleaned.refund_words
    }

    /// Money from somebody unknown through a wallet, or from a sender that has a person's name.
    fn sent_by_person(&self) -> Option<Category> {
        let is_by_wallet = self.cleaned.processor == Some(Processor::Paypal);
        let is_sent = self.is_unexplained_inflow()
            && self.merchant.is_none()
            && !self.is_banks_own()
            && (is_by_wallet || statement_words::is_person(&self.cleaned.key, &self.words));
        Category::parse("TRANSFER_IN_OTHER_TRANSFER_IN").filter(|_| is_sent)
    }

    /// A payment by card to a fund: shares in a fund are not bought by card.
    fn donation(&self) -> Option<Category> {
        let is_given = self.is_purchase()
            && !self.facts.inflow
            && self.words.contains(&"FUND")
            && statement_words::paid_by(&self.words) == PaidBy::Card;
        Category::parse("GOVERNMENT_AND_NON_PROFIT_DONATIONS").filter(|_| is_given)
    }

    /// A payment to a card of a known issuer, unless the text names another debt.
    fn card_payment(&self) -> Option<Category> {
        let is_paying = !self.facts.inflow
            && self.facts.account_kind == AccountKind::Depository
            && statement_words::is_card_payment(&self.words);
        let other = || self.keyword().filter(|it| it.primary() == "LOAN_PAYMENTS");
        let card = Category::parse("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT");
        if is_paying { other().or(card) } else { None }
    }

    /// A payment that names nobody, such as ONLINE PAYMENT, pays a card of the same bank.
    fn unnamed_payment(&self) -> Option<Category> {
        let is_paying = !self.facts.inflow
            && self.facts.account_kind == AccountKind::Depository
            && statement_words::is_unnamed_payment(&self.words);
        Category::parse("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT").filter(|_| is_paying)
    }

    /// The guess of the model. It is never income or a transfer, and only made for purchases.
    fn guess(&self) -> Option<Guess> {
        let is_bought = !self.facts.inflow || self.cleaned.refund_words;
        let is_guessable = is_bought
            && self.is_purchase()
            && !self.cleaned.person
            && self.merchant.is_none()
            && self.facts.transfer.is_none()
            && !self.is_banks_own()
            && keywords::pay(&self.words, self.facts.account_kind).is_none();
        let paid_by = statement_words::paid_by(&self.words);
        if is_guessable { model::guess(&self.cleaned.key, paid_by) } else { None }
    }

    fn keyword(&self) -> Option<Category> {
        let TransactionFacts { inflow, account_kind, .. } = *self.facts;
        // Securities and employers may have names of any trade; money from them is not a purchase.
        let is_named_after_trade = account_kind == AccountKind::Investment
            || inflow && account_kind == AccountKind::Depository && !self.cleaned.refund_words;
        // A restaurant's till outranks any other trade in its name.
        let is_at_restaurant = self.processor_category().is_some();
        let fits = |keyword: &Keyword| {
            let primary = keyword.category.map_or("", Category::primary);
            keyword.fits(inflow, account_kind)
                && (!is_named_after_trade || ABOUT_MONEY.contains(&primary))
                && (!is_at_restaurant || primary == "FOOD_AND_DRINK")
        };
        let found = keywords::anywhere(&self.words, &fits);
        let found = found.or(self.leading.filter(|it| fits(it))).and_then(|it| it.category);
        let between_people = || {
            let code = if inflow {
                "TRANSFER_IN_OTHER_TRANSFER_IN"
            } else {
                "TRANSFER_OUT_OTHER_TRANSFER_OUT"
            };
            Category::parse(code).filter(|_| self.cleaned.person)
        };
        found.or_else(between_people)
    }

    /// Toast only serves restaurants.
    fn processor_category(&self) -> Option<Category> {
        let is_toast = self.cleaned.processor == Some(Processor::Toast);
        Category::parse("FOOD_AND_DRINK_RESTAURANT").filter(|_| is_toast)
    }

    fn is_banks_own(&self) -> bool {
        let keyword = self.leading.is_some_and(|it| it.is_bank);
        let lacks_counterparty = self.cleaned.key == UNKNOWN || self.facts.transfer.is_some();
        !self.cleaned.person && (lacks_counterparty || keyword)
    }
}
