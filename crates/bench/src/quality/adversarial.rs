//! Faults that were reported for other products, each with the result that we expect.

use anyhow::{Context as _, bail};
use base::category::Category;
use base::draft::{AccountDraft, AccountKind, RateDraft, Source, Statement, TransactionDraft};
use base::{Currency, Date, Fixed9, Money, Timestamp, date_from_days, days_from_date};
use calc::enrich::{Enriched, clean};

use super::case::{Case, Row};
use super::descriptors::{Context, classify};
use super::product::{self, Answer};

const FAULTS: &str = include_str!("../../../../fixtures/adversarial.tsv");
const DAY: Date = Date::constant(2026, 3, 10);

/// Rows that still fail, by name, each with the reason.
pub(super) const KNOWN_FAILURES: &[(&str, &str)] =
    &[("youtube-help-url", "the table names the product rather than the company behind it")];

struct Fault<'a> {
    check: &'a str,
    left: &'a str,
    right: &'a str,
    context: &'a str,
    expected: &'a str,
}

/// The name of each row, with the actual result if it is not the expected one.
pub(super) async fn check() -> anyhow::Result<Vec<(&'static str, Option<String>)>> {
    let mut outcomes = Vec::new();
    for line in FAULTS.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, _, check, left, right, context, expected, _] = columns[..] else {
            bail!("there must be 8 columns: {line}");
        };
        let fault = Fault { check, left, right, context, expected };
        let outcome = fault.outcome().await.with_context(|| name.to_owned())?;
        outcomes.push((name, outcome));
    }
    Ok(outcomes)
}

impl Fault<'_> {
    async fn outcome(&self) -> anyhow::Result<Option<String>> {
        if matches!(self.check, "internal" | "not_internal" | "names_account") {
            return self.paired().await;
        }
        let context = parse_context(self.context)?;
        let (left, right) = (classify(self.left, context, 100), classify(self.right, context, 100));
        // `own_key` is what cleaning makes of the text. The row's key groups rows, and known merchants have their own.
        let own_key = clean(self.left).key;
        let key_of = |it: &Enriched| format!("key {:?}", it.key);
        let (holds, actual) = match self.check {
            "key_is" => (own_key == self.expected, own_key),
            "key_not_empty" => (!own_key.is_empty(), own_key),
            "key_equal" | "key_distinct" => {
                let expect_equal = self.check == "key_equal";
                let actual = format!("{} and {}", key_of(&left), key_of(&right));
                ((left.key == right.key) == expect_equal, actual)
            }
            "merchant_is" => {
                let name = left.counterparty.unwrap_or_default();
                (name == self.expected, name)
            }
            "merchant_equal" => {
                let actual = format!("{:?} and {:?}", left.counterparty, right.counterparty);
                (left.counterparty.is_some() && left.counterparty == right.counterparty, actual)
            }
            "category_is" => {
                let code = left.category.map_or("nothing", Category::detailed);
                (code == self.expected, code.to_owned())
            }
            other => bail!("no such check: {other}"),
        };
        Ok((!holds).then_some(actual))
    }

    /// Checks whether the product pairs exactly the legs that belong together.
    async fn paired(&self) -> anyhow::Result<Option<String>> {
        let legs = match self.check {
            "names_account" => self.two_equal_transfers(),
            _ => self.two_legs()?,
        };
        let answer = product::run_case(&case(&legs)?).await?;
        let paired: Vec<_> = answer.transfers.iter().filter(|it| it.paired).collect();
        let holds = match self.check {
            "internal" => paired.len() == 1 && paired[0].kind.as_str() == self.expected,
            "names_account" => {
                let pairs: Vec<_> = paired.iter().map(|it| (it.outflow, it.inflow)).collect();
                pairs.len() == 2 && pairs.contains(&(0, 2)) && pairs.contains(&(1, 3))
            }
            _ if self.expected == "suggestion at most" => paired.is_empty(),
            _ => answer.transfers.is_empty(),
        };
        Ok((!holds).then(|| describe(&answer)))
    }

    fn two_legs(&self) -> anyhow::Result<Vec<Leg<'_>>> {
        let late = " one day before ";
        let (left, right) = self
            .context
            .split_once("; ")
            .or_else(|| self.context.split_once(late))
            .context("two legs in the context")?;
        let ends = ["next day", "lag 1"].into_iter().find(|it| right.ends_with(it));
        let later = i64::from(ends.is_some() || self.context.contains(late));
        let right = right.trim_end_matches(ends.unwrap_or("same day")).trim_end();
        Ok(vec![leg(self.left, left, "0001", 0)?, leg(self.right, right, "0002", later)?])
    }

    /// Two transfers of one amount on one day out of one account, which only their texts distinguish.
    fn two_equal_transfers(&self) -> Vec<Leg<'_>> {
        let leg = |text, subtype, amount, mask| Leg {
            text,
            amount,
            currency: Currency::USD,
            kind: AccountKind::Depository,
            subtype,
            mask,
            later: 0,
        };
        let (savings, checking) = self.expected.split_once(" and ").unwrap_or_default();
        vec![
            leg(self.left, "checking", "-100.00", "0001"),
            leg(self.right, "checking", "-100.00", "0001"),
            leg("DEPOSIT", "savings", "100.00", savings),
            leg("DEPOSIT", "checking", "100.00", checking),
        ]
    }
}

fn describe(answer: &Answer) -> String {
    let shown = answer.transfers.iter().map(|it| {
        let word = if it.paired { "paired" } else { "suggested" };
        format!("{word} {} with {} as {}", it.outflow, it.inflow, it.kind.as_str())
    });
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() { "no pair".to_owned() } else { shown.join(", ") }
}

/// Parses a context such as `outflow credit/credit card`.
fn parse_context(text: &str) -> anyhow::Result<Context<'_>> {
    let (direction, account) = text.split_once(' ').context("a direction and an account")?;
    let (kind, subtype) = account.split_once('/').context("a kind and a subtype")?;
    let kind = AccountKind::parse(kind).context("no such kind of account")?;
    Ok(Context { inflow: direction == "inflow", kind, subtype: Some(subtype) })
}

struct Leg<'a> {
    text: &'a str,
    amount: &'a str,
    currency: Currency,
    kind: AccountKind,
    subtype: &'a str,
    /// Identifies the account.
    mask: &'a str,
    later: i64,
}

/// Parses a leg such as `-24.50 depository/checking`, `-24.50 wallet` or `+100.00 EUR`.
fn leg<'a>(text: &'a str, context: &'a str, mask: &'a str, later: i64) -> anyhow::Result<Leg<'a>> {
    let (amount, account) = context.split_once(' ').context("an amount and an account")?;
    let (kind, subtype) = match account {
        "wallet" => ("depository", "paypal"),
        _ => account.split_once('/').unwrap_or(("depository", "checking")),
    };
    Ok(Leg {
        text,
        amount: amount.trim_start_matches('+'),
        currency: Currency::parse(account).unwrap_or(Currency::USD),
        kind: AccountKind::parse(kind).context("no such kind of account")?,
        subtype,
        mask,
        later,
    })
}

/// A person whose accounts contain only these rows. The case does not say which rows belong together.
fn case(legs: &[Leg]) -> anyhow::Result<Case> {
    let as_of = Timestamp::from_second(days_from_date(DAY) * 86_400 + 20 * 86_400)?;
    let mut accounts: Vec<AccountDraft> = Vec::new();
    let mut rows = Vec::new();
    for (index, leg) in legs.iter().enumerate() {
        let amount = Money::parse(leg.amount, leg.currency)?;
        let posted_on = date_from_days(days_from_date(DAY) + leg.later);
        let draft = TransactionDraft {
            external_id: Some(index.to_string()),
            pending: false,
            settles: None,
            posted_on,
            authorized_on: None,
            amount,
            description: leg.text.to_owned(),
            counterparty: None,
            counterparty_logo_url: None,
            category: None,
        };
        let at = accounts.iter().position(|it| it.external_id == leg.mask);
        let at = at.unwrap_or_else(|| {
            accounts.push(account(leg));
            accounts.len() - 1
        });
        accounts[at].transactions.push(draft);
        rows.push(Row {
            name: (leg.mask.to_owned(), index.to_string()),
            description: leg.text.to_owned(),
            amount_minor: amount.minor(),
            posted_on,
            merchant: String::new(),
            category: Category::parse("OTHER_OTHER").context("the category of the unknown")?,
            stream: None,
            pair: None,
            transfer: None,
            income: false,
            noise: String::new(),
        });
    }
    let rate = RateDraft {
        from: Currency::EUR,
        to: Currency::USD,
        on: DAY,
        rate: Fixed9::from_billionths(1_080_000_000),
    };
    let statement = Statement {
        source: Source::File,
        connection: "fault".to_owned(),
        institution: None,
        as_of,
        accounts,
        rates: vec![rate],
    };
    let (currency, statements) = (Currency::USD, vec![statement]);
    Ok(Case { group: "fault", as_of, currency, statements, rows, streams: Vec::new() })
}

fn account(leg: &Leg) -> AccountDraft {
    AccountDraft {
        mask: Some(leg.mask.to_owned()),
        subtype: Some(leg.subtype.to_owned()),
        ..AccountDraft::new(
            leg.mask.to_owned(),
            format!("Account {}", leg.mask),
            leg.kind,
            leg.currency,
        )
    }
}
