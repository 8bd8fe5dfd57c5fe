//! The fields of a rule, for a new one and for one that is edited, and the preview below them.

use base::category::Category;
use base::{AccountId, Currency, Money};
use maud::{Markup, html};
use service::classify::AmountRange;
use service::classify::overrides::Override;
use service::classify::rule_preview::{PreviewedChange, RulePreview};
use service::classify::rules::{NewRule, Rule};
use service::ledger::Direction;
use service::ledger::accounts::Account;
use service::{Error, Result};

use super::sentence;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::format::{View, or_stored, plain_amount, plural};
use crate::site::person::Person;
use crate::site::transactions::category;

const LEAST: &str = "amount_least";
const MOST: &str = "amount_most";

/// The values of the form as text, so that they are kept if the form is shown again.
#[derive(Clone, Default)]
pub(super) struct RuleForm {
    merchant: String,
    words: String,
    account: String,
    direction: String,
    least: String,
    most: String,
    name: String,
    category: String,
    hides: bool,
    /// Whether a new rule leaves past transactions alone.
    future_only: bool,
}

impl RuleForm {
    pub(super) fn of(rule: &Rule) -> RuleForm {
        let amount = |minor: Option<i64>| match (minor, rule.amounts) {
            (Some(minor), Some(range)) => plain_amount(Money::new(minor, range.currency)),
            _ => String::new(),
        };
        RuleForm {
            merchant: String::new(),
            words: rule.words.clone().unwrap_or_default(),
            account: rule.account_id.map(|it| it.to_string()).unwrap_or_default(),
            direction: rule.direction.map_or("", Direction::as_str).to_owned(),
            least: amount(rule.amounts.and_then(|it| it.least_minor)),
            most: amount(rule.amounts.and_then(|it| it.most_minor)),
            name: rule.counterparty.clone().unwrap_or_default(),
            category: rule.category.map_or("", Category::detailed).to_owned(),
            hides: rule.hides,
            future_only: false,
        }
    }

    /// As it is shown where amounts are hidden.
    pub(super) fn masked(self, view: View) -> RuleForm {
        let [least, most] = [&self.least, &self.most].map(|it| view.field_text(it));
        RuleForm { least, most, ..self }
    }

    /// With the stored amounts in place of hidden ones.
    pub(super) fn unmasked(&self, stored: &RuleForm) -> RuleForm {
        let least = or_stored(&self.least, &stored.least).to_owned();
        let most = or_stored(&self.most, &stored.most).to_owned();
        RuleForm { least, most, ..self.clone() }
    }

    pub(super) fn typed(form: &Form) -> RuleForm {
        let text = |name: &str| form.text(name).trim().to_owned();
        RuleForm {
            merchant: text("like"),
            words: text("words"),
            account: text("account_id"),
            direction: text("direction"),
            least: text(LEAST),
            most: text(MOST),
            name: text("counterparty_name"),
            category: text("category"),
            hides: form.has("hides"),
            future_only: form.text("when") == "future",
        }
    }

    /// A new rule for a merchant or words, in a category.
    pub(super) fn about(merchant: String, words: String, category: String) -> RuleForm {
        RuleForm { merchant, words, category, ..RuleForm::default() }
    }

    pub(super) fn is_future_only(&self) -> bool {
        self.future_only
    }

    /// Parses the values; the error names the field. Amounts are in the currency of the account, or in this one.
    pub(super) fn read(&self, accounts: &[Account], currency: Currency) -> Result<NewRule> {
        let account = self.account(accounts)?;
        let currency = account.map_or(currency, |it| it.currency);
        Ok(NewRule {
            like: given(&self.merchant),
            words: given(&self.words),
            account_id: account.map(|it| it.id),
            direction: Direction::parse(&self.direction),
            amounts: self.amounts(currency)?,
            sets: self.sets()?,
            hides: self.hides,
            from_now_on: self.future_only,
        })
    }

    /// Each field on its own, so that all errors are shown at once.
    pub(super) fn checks(&self, accounts: &[Account], currency: Currency) -> [Result<()>; 4] {
        let account = self.account(accounts);
        let currency = account.as_ref().ok().copied().flatten().map_or(currency, |it| it.currency);
        let least = read_amount(LEAST, &self.least, currency).map(drop);
        let most = read_amount(MOST, &self.most, currency).map(drop);
        [least, most, account.map(drop), self.sets().map(drop)]
    }

    fn account<'a>(&self, accounts: &'a [Account]) -> Result<Option<&'a Account>> {
        if self.account.is_empty() {
            return Ok(None);
        }
        let id = AccountId::parse(&self.account).ok();
        let account = accounts.iter().find(|it| Some(it.id) == id);
        account.map(Some).ok_or_else(|| Error::invalid("account_id", "choose one of your accounts"))
    }

    /// What the rule sets: a name or a category, unless it hides the transactions.
    fn sets(&self) -> Result<Override> {
        let category = Category::ALL.into_iter().find(|it| it.detailed() == self.category);
        let sets = Override { counterparty: given(&self.name), category };
        if sets.counterparty.is_none() && sets.category.is_none() && !self.hides {
            let message = "enter a name, choose a category or hide the transactions";
            return Err(Error::invalid("counterparty_name", message));
        }
        Ok(sets)
    }

    fn amounts(&self, currency: Currency) -> Result<Option<AmountRange>> {
        let least_minor = read_amount(LEAST, &self.least, currency)?;
        let most_minor = read_amount(MOST, &self.most, currency)?;
        let is_given = least_minor.is_some() || most_minor.is_some();
        Ok(is_given.then_some(AmountRange { currency, least_minor, most_minor }))
    }

    /// The fields. A new rule also has those of the merchant and of the past.
    pub(super) fn fields(
        &self,
        is_new: bool,
        (accounts, currency): (&[Account], Currency),
        wrong: &FormError,
    ) -> Markup {
        let amounts =
            format!("In {}, or in the currency of the account you choose.", currency.code());
        let ids: Vec<String> = accounts.iter().map(|it| it.id.to_string()).collect();
        let names = accounts.iter().map(|it| it.name.as_str());
        let mut account_options = vec![("", "All accounts")];
        account_options.extend(ids.iter().map(String::as_str).zip(names));
        let directions = [("", "In and out"), ("inflow", "Money in"), ("outflow", "Money out")];
        let times = [("", "Past and future transactions"), ("future", "Only future transactions")];
        html! {
            @if is_new {
                (Field::text("like", "Merchant", &self.merchant).optional().show(wrong))
            }
            (Field::text("words", "Words in the description", &self.words).optional().show(wrong))
            div.two-fields {
                (Field::text(LEAST, "Amount from", &self.least).optional().show(wrong))
                (Field::text(MOST, "Amount to", &self.most).optional().show(wrong))
                p.soft { (amounts) }
            }
            (fields::select("account_id", "Account", &account_options, &self.account))
            (fields::select("direction", "Direction", &directions, &self.direction))
            (Field::text("counterparty_name", "Rename to", &self.name).optional()
                .hint("Leave empty to keep the names.").show(wrong))
            div.field {
                label for="f-category" { "Category" }
                select id="f-category" name="category" {
                    option value="" { "Don't change" }
                    (category::options(&self.category, false))
                }
            }
            (fields::check("hides", "yes", "Hide from lists and totals (balances are not affected)", self.hides))
            @if is_new {
                (fields::select("when", "Applies to", &times, if self.future_only { "future" } else { "" }))
            }
            div.actions {
                button.primary type="submit" name="do" value="save" { "Save rule" }
                button.outlined type="submit" name="do" value="preview" { "Preview changes" }
            }
        }
    }
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn read_amount(name: &str, text: &str, currency: Currency) -> Result<Option<i64>> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(fields::amount(name, text, currency)?.minor()))
}

/// What the rule would change if it were saved.
pub(super) fn preview(
    person: &Person,
    (preview, replaced): (&RulePreview, &[Rule]),
    future_only: bool,
) -> Markup {
    let more = preview.changing - preview.examples.len() as i64;
    html! {
        section.card aria-labelledby="preview" {
            h3 id="preview" { "Preview" }
            p role="status" {
                (plural(preview.matching, "transaction matches", "transactions match")) ". "
                (plural(preview.changing, "of them would change", "of them would change")) "."
                @if future_only && preview.changing > 0 {
                    " As the rule applies only to future transactions, these stay as they are."
                }
            }
            @if !replaced.is_empty() {
                p { "You already have a rule with these conditions. Saving this one replaces it:" }
                ul.rows {
                    @for rule in replaced {
                        li {
                            div.what { (sentence::markup(person, rule)) }
                            a href={ "/settings/rules/" (rule.id) } { "Edit that rule instead" }
                        }
                    }
                }
            }
            @if !preview.examples.is_empty() {
                ul.rows { @for it in &preview.examples { (previewed(person, it)) } }
            }
            @if more > 0 { p.soft { "And " (plural(more, "older transaction", "older transactions")) "." } }
        }
    }
}

fn previewed(person: &Person, change: &PreviewedChange) -> Markup {
    let view = person.view;
    html! {
        li {
            div.what {
                a href={ "/transactions/" (change.id) } { (change.name) }
                span.soft {
                    (view.day(change.posted_on))
                    @if let Some(name) = &change.new_name { ", renamed to " strong { (name) } }
                    @if let Some(category) = change.new_category {
                        ", " (change.category.map_or("No category", Category::label)) " becomes "
                        strong { (category.label()) }
                    }
                    @if change.is_hidden { ", " strong { "hidden" } }
                }
            }
            (view.signed(change.amount))
        }
    }
}
