//! Card benefits: the credits of the person's cards in their current cycle, and how much of each was used.

mod recompute;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use base::{
    AccountId, BenefitId, Currency, Date, Money, Timestamp, date_from_days, days_from_date,
};
use calc::benefits::{Alignment, Benefit, Card, find_card};
pub use calc::benefits::{Area, BenefitType, Cadence, Status};
use calc::rates::Rates;
use db::{Tx, params};
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Scope};

use crate::access::users;
use crate::ledger::accounts::Account;
use crate::ledger::net_worth::ExcludedBalance;
use crate::ledger::{accounts, rates};
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

pub(super) use recompute::recompute;

/// How many days ahead a benefit counts as expiring by default, and is announced.
pub const EXPIRING_DAYS: i64 = 30;

/// A benefit in its current cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentBenefit {
    pub id: BenefitId,
    pub account_id: AccountId,
    /// Its id in the catalog.
    pub benefit: String,
    pub cycle_start_on: Date,
    pub cycle_end_on: Date,
    pub expires_on: Date,
    pub total_minor: i64,
    pub used_minor: i64,
    pub status: Status,
    pub activated: bool,
    /// The start of the cycle whose end was announced.
    pub announced_cycle_on: Option<Date>,
    pub updated_at: Timestamp,
}

impl CurrentBenefit {
    pub fn remaining_minor(&self) -> i64 {
        (self.total_minor - self.used_minor).max(0)
    }

    /// The days until its last day, on which it is 0.
    fn days_left(&self, today: Date) -> i64 {
        days_from_date(self.expires_on) - days_from_date(today)
    }

    /// Whether an unused amount expires within so many days.
    fn expires_within(&self, days: i64, today: Date) -> bool {
        matches!(self.status, Status::Available | Status::PartiallyUsed)
            && self.remaining_minor() > 0
            && (0..=days).contains(&self.days_left(today))
    }
}

/// A card of the person whose product is known.
struct OwnedCard<'a> {
    account: &'a Account,
    card: &'static Card,
    annual_fee_minor: i64,
    captured_minor: i64,
    benefits: Vec<(CurrentBenefit, &'static Benefit)>,
}

pub async fn summary(app: &App, caller: &Caller) -> Result<v1::BenefitSummary> {
    caller.require(Scope::BenefitsRead)?;
    let accounts = accounts::list_all(app, caller).await?;
    let owned = owned_cards(app, caller, &accounts).await?;
    let figures = Figures::new(app, caller).await?;
    let all = || owned.iter().flat_map(|it| it.benefits.iter().map(move |(b, _)| (it, b)));
    let soon: Vec<_> =
        all().filter(|(_, b)| b.expires_within(EXPIRING_DAYS, figures.today)).collect();
    let left = figures.sum(soon.iter().map(|(it, b)| (it.card.currency, b.remaining_minor())));
    let cards: Vec<(v1::CardBenefits, Sums, Currency)> =
        owned.iter().map(|it| figures.card(it)).collect();
    let amounts = owned.iter().zip(&cards).map(|(it, (_, sums, _))| (it, sums.remaining_minor));
    let excluded = figures.excluded(amounts);
    let total = |part: fn(&Sums) -> i64| {
        figures.money(figures.sum(cards.iter().map(|(_, sums, currency)| (*currency, part(sums)))))
    };
    Ok(v1::BenefitSummary {
        as_of: Moment(app.clock.now()),
        currency: figures.rates.base().to_string(),
        totals: v1::BenefitTotals {
            card_count: owned.len(),
            benefit_count: all().count(),
            annual_fees: total(|it| it.fee_minor),
            total_amount: total(|it| it.total_minor),
            used_amount: total(|it| it.used_minor),
            remaining_amount: total(|it| it.remaining_minor),
            net_value: total(|it| it.net_minor),
            expiring_count: soon.len(),
            expiring_amount: figures.money(left),
            excluded,
        },
        cards: cards.into_iter().map(|(card, ..)| card).collect(),
    })
}

pub async fn expiring(app: &App, caller: &Caller, days: i64) -> Result<v1::ExpiringBenefits> {
    caller.require(Scope::BenefitsRead)?;
    let accounts = accounts::list_all(app, caller).await?;
    let owned = owned_cards(app, caller, &accounts).await?;
    let figures = Figures::new(app, caller).await?;
    let all = owned.iter().flat_map(|it| it.benefits.iter().map(move |b| (it, b)));
    let mut soon: Vec<_> =
        all.filter(|(_, (b, _))| b.expires_within(days, figures.today)).collect();
    soon.sort_by_key(|(_, (b, _))| (b.expires_on, Reverse(b.remaining_minor()), b.id));
    let left = figures.sum(soon.iter().map(|(it, (b, _))| (it.card.currency, b.remaining_minor())));
    Ok(v1::ExpiringBenefits {
        window: v1::BenefitWindow {
            start: Day(figures.today),
            end: Day(date_from_days(days_from_date(figures.today) + days)),
            days,
        },
        count: soon.len(),
        remaining_amount: figures.money(left),
        excluded: figures.excluded(soon.iter().map(|(it, (b, _))| (*it, b.remaining_minor()))),
        benefits: soon.iter().map(|(it, (b, known))| figures.to_wire(it, b, known)).collect(),
    })
}

/// The cards of open accounts that are not hidden.
async fn owned_cards<'a>(
    app: &App,
    caller: &Caller,
    accounts: &'a [Account],
) -> Result<Vec<OwnedCard<'a>>> {
    let products = app.db.all(PRODUCTS, params![caller.user], read_product).await?;
    let current = app.db.all(CURRENT, params![caller.user], read).await?;
    let mut owned = Vec::new();
    let shown = accounts.iter().filter(|it| it.hidden_at.is_none() && it.closed_on.is_none());
    for account in shown {
        let product = products.iter().find(|it| it.0 == account.id);
        let Some((_, product, annual_fee_minor, captured_minor)) = product else { continue };
        let Some(card) = find_card(product) else { continue };
        let known = |it: &CurrentBenefit| Some((it.clone(), card.find_benefit(&it.benefit)?));
        let mine = current.iter().filter(|it| it.account_id == account.id);
        let mut benefits: Vec<_> = mine.filter_map(known).collect();
        benefits.sort_by_key(|(it, _)| (it.expires_on, it.id));
        owned.push(OwnedCard {
            account,
            card,
            annual_fee_minor: *annual_fee_minor,
            captured_minor: *captured_minor,
            benefits,
        });
    }
    Ok(owned)
}

/// Computes figures in the person's base currency, as of today.
struct Figures {
    rates: Rates,
    today: Date,
}

/// The figures of one card, in its own currency.
struct Sums {
    fee_minor: i64,
    total_minor: i64,
    used_minor: i64,
    remaining_minor: i64,
    net_minor: i64,
}

impl Figures {
    async fn new(app: &App, caller: &Caller) -> Result<Figures> {
        let currency = users::base_currency(app, caller).await?;
        let rates = rates::latest(app, caller, currency).await?;
        Ok(Figures { rates, today: app.today(caller) })
    }

    fn money(&self, minor: i64) -> Number {
        Number::from(Money::new(minor, self.rates.base()))
    }

    /// The sum in the base currency, without the amounts that `excluded` names.
    fn sum(&self, amounts: impl Iterator<Item = (Currency, i64)>) -> i64 {
        amounts.filter_map(|(currency, minor)| self.rates.to_base(minor, currency)).sum()
    }

    /// The amounts of cards in currencies without an exchange rate, by currency.
    fn excluded<'a>(
        &self,
        amounts: impl Iterator<Item = (&'a OwnedCard<'a>, i64)>,
    ) -> Vec<v1::Excluded> {
        let mut sums: BTreeMap<Currency, (i64, BTreeSet<AccountId>)> = BTreeMap::new();
        for (owned, minor) in amounts {
            let currency = owned.card.currency;
            if self.rates.rate(currency).is_none() {
                let (sum, accounts) = sums.entry(currency).or_default();
                *sum = sum.saturating_add(minor);
                accounts.insert(owned.account.id);
            }
        }
        let row = |(currency, (minor, accounts)): (Currency, (i64, BTreeSet<AccountId>))| {
            let accounts = accounts.len();
            v1::Excluded::from(&ExcludedBalance { currency, minor, accounts })
        };
        sums.into_iter().map(row).collect()
    }

    fn card(&self, owned: &OwnedCard<'_>) -> (v1::CardBenefits, Sums, Currency) {
        let usable =
            || owned.benefits.iter().map(|it| &it.0).filter(|it| it.status != Status::NotUsable);
        let sums = Sums {
            fee_minor: owned.annual_fee_minor,
            total_minor: usable().map(|it| it.total_minor).sum(),
            used_minor: usable().map(|it| it.used_minor).sum(),
            remaining_minor: usable().map(CurrentBenefit::remaining_minor).sum(),
            net_minor: owned.captured_minor - owned.annual_fee_minor,
        };
        let money = |minor| Number::from(Money::new(minor, owned.card.currency));
        let card = v1::CardBenefits {
            account_id: owned.account.id.to_string(),
            account_name: owned.account.name.clone(),
            institution_name: owned.account.institution_name.clone(),
            mask: owned.account.mask.clone(),
            annual_fee: money(sums.fee_minor),
            total_amount: money(sums.total_minor),
            used_amount: money(sums.used_minor),
            remaining_amount: money(sums.remaining_minor),
            net_value: money(sums.net_minor),
            benefits: owned
                .benefits
                .iter()
                .map(|(b, known)| self.to_wire(owned, b, known))
                .collect(),
        };
        (card, sums, owned.card.currency)
    }

    fn to_wire(
        &self,
        owned: &OwnedCard<'_>,
        current: &CurrentBenefit,
        benefit: &Benefit,
    ) -> v1::Benefit {
        let money = |minor| Number::from(Money::new(minor, owned.card.currency));
        v1::Benefit {
            id: current.id.to_string(),
            account_id: owned.account.id.to_string(),
            account_name: owned.account.name.clone(),
            institution_name: owned.account.institution_name.clone(),
            name: benefit.title.clone(),
            description: benefit.description.clone(),
            category: benefit.area.as_str(),
            benefit_type: benefit.kind.benefit_type().as_str(),
            frequency: benefit.cadence.as_str(),
            cycle_alignment: match benefit.alignment {
                Alignment::Calendar => "calendar",
                // Both count from the account's own year.
                Alignment::Anniversary | Alignment::StatementYear => "anniversary",
            },
            cycle_start: Day(current.cycle_start_on),
            cycle_end: Day(current.cycle_end_on),
            currency: owned.card.currency.to_string(),
            total_amount: money(current.total_minor),
            used_amount: money(current.used_minor),
            remaining_amount: money(current.remaining_minor()),
            expires_on: Day(current.expires_on),
            days_until_expiry: current.days_left(self.today).max(0),
            status: current.status.as_str(),
            activation_required: benefit.activation_required(),
            activated: current.activated,
            observable: benefit.observable,
            updated_at: Moment(current.updated_at),
        }
    }
}

/// The person's mark on a benefit in its current cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenefitMark {
    /// Used up to this amount in minor units of the card's currency, or in full.
    Used(Option<i64>),
    /// Activated with the issuer.
    Activated,
    /// Deletes the marks of this cycle.
    Clear,
}

base::words!(MarkKind { Used => "used", Activated => "activated" });
base::words!(Activation { Yes => "yes", No => "no" });
db::word_columns!(MarkKind, Activation);

pub async fn mark(app: &App, caller: &Caller, id: BenefitId, mark: BenefitMark) -> Result<()> {
    caller.require_owner("benefit")?;
    if matches!(mark, BenefitMark::Used(Some(minor)) if minor < 0) {
        return Err(Error::invalid("used_amount", "used_amount must not be negative"));
    }
    let (user, now) = (caller.user, app.clock.now());
    let save = move |tx: &mut Tx<'_>| {
        let found = tx.first(BY_ID, params![user, id], read)?.ok_or(Error::NotFound("benefit"))?;
        let (account, benefit, cycle) = (found.account_id, &found.benefit, found.cycle_start_on);
        let (kind, used_minor) = match mark {
            BenefitMark::Used(minor) => (MarkKind::Used, minor),
            BenefitMark::Activated => (MarkKind::Activated, None),
            BenefitMark::Clear => {
                tx.execute(CLEAR_MARKS, params![user, account, benefit, cycle])?;
                return dirty_queue::mark_all_dirty(tx, user);
            }
        };
        let values = params![user, account, benefit, kind.as_str(), cycle, used_minor, now];
        tx.execute(SAVE_MARK, values)?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(save).await
}

/// Sets the product of a card, or that it is none in the catalog, and since when the person has it.
pub async fn set_card(
    app: &App,
    caller: &Caller,
    account: AccountId,
    product: Option<&str>,
    opened_on: Option<Date>,
) -> Result<()> {
    caller.require_owner("account")?;
    if let Some(product) = product
        && find_card(product).is_none()
    {
        let known = calc::benefits::cards().iter().map(|it| it.id.as_str());
        let near = base::nearest(product, known, 4);
        let near = near.map(|it| format!("; did you mean {it}?")).unwrap_or_default();
        let message = format!("product {product} is not in the catalog{near}");
        return Err(Error::invalid("product", message));
    }
    let found = accounts::get_visible(app, caller, account).await?;
    if found.kind != base::draft::AccountKind::Credit {
        return Err(Error::invalid("account_id", "account_id must be a card"));
    }
    let (user, now, product) = (caller.user, app.clock.now(), product.map(str::to_owned));
    let named = product
        .as_deref()
        .and_then(find_card)
        .map_or("a card that is not in the catalog".to_owned(), card_name);
    let note =
        Note::new(caller, "account.set_card", format!("Set the card {} to {named}", found.name));
    let save = move |tx: &mut Tx<'_>| {
        tx.execute(SET_CARD, params![user, account, &product, opened_on, now])?;
        audit::note(tx, user, now, note.about(account))?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(save).await
}

/// The products of the catalog: id, name, and the day on which their facts were last verified.
pub fn catalog() -> impl Iterator<Item = (&'static str, String, Date)> {
    calc::benefits::cards().iter().map(|card| (card.id.as_str(), card_name(card), card.verified_on))
}

fn card_name(card: &Card) -> String {
    let name = card.names.first().map(String::as_str).unwrap_or_default();
    if name.starts_with(&card.issuer) { name.to_owned() } else { format!("{} {name}", card.issuer) }
}

/// The product of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Its id in the catalog. None where the card is not in it, or its name fits several.
    pub product: Option<String>,
    pub opened_on: Option<Date>,
    /// Whether the person chose it. Otherwise it follows from the card's name.
    pub decided: bool,
}

pub async fn product(app: &App, caller: &Caller, account: AccountId) -> Result<Product> {
    caller.require(Scope::BenefitsRead)?;
    accounts::get_visible(app, caller, account).await?;
    let key = params![caller.user, account];
    let read = |row: &db::Row<'_>| {
        let decided_at: Option<Timestamp> = row.get(3)?;
        let (found, chosen): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
        let product = if decided_at.is_some() { chosen } else { found };
        Ok(Product { product, opened_on: row.get(2)?, decided: decided_at.is_some() })
    };
    app.db.first(PRODUCT, key, read).await?.ok_or(Error::NotFound("account"))
}

fn read_product(row: &db::Row<'_>) -> db::Result<(AccountId, String, i64, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn read(row: &db::Row<'_>) -> db::Result<CurrentBenefit> {
    Ok(CurrentBenefit {
        id: row.get(0)?,
        account_id: row.get(1)?,
        benefit: row.get(2)?,
        cycle_start_on: row.get(3)?,
        cycle_end_on: row.get(4)?,
        expires_on: row.get(5)?,
        total_minor: row.get(6)?,
        used_minor: row.get(7)?,
        status: row.word(8, "benefit status", Status::parse)?,
        activated: row.get::<Activation>(9)? == Activation::Yes,
        announced_cycle_on: row.get(10)?,
        updated_at: row.get(11)?,
    })
}

const PRODUCTS: &str =
    "select account_id, product, annual_fee_minor, captured_minor from card_products
    where user_id = $1";
/// The columns that `read` reads.
macro_rules! benefit_columns {
    () => {
        "id, account_id, benefit, cycle_start_on, cycle_end_on, expires_on, total_minor, used_minor, status, activated,
        told_cycle_on, updated_at"
    };
}
use benefit_columns;

const CURRENT: &str = concat!("select ", benefit_columns!(), " from benefits where user_id = $1");
const BY_ID: &str =
    concat!("select ", benefit_columns!(), " from benefits where user_id = $1 and id = $2");
const SAVE_MARK: &str =
    "insert into benefit_marks (user_id, account_id, benefit, what, cycle_start_on, used_minor,
    marked_at) values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (user_id, account_id, benefit, what, cycle_start_on) do update
    set used_minor = excluded.used_minor, marked_at = excluded.marked_at";
const CLEAR_MARKS: &str = "delete from benefit_marks
    where user_id = $1 and account_id = $2 and benefit = $3 and cycle_start_on = $4";
const SET_CARD: &str = "insert into cards (user_id, account_id, product, opened_on, decided_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, account_id) do update
    set product = excluded.product, opened_on = excluded.opened_on, decided_at = excluded.decided_at";

const PRODUCT: &str = "select p.product, c.product, c.opened_on, c.decided_at from accounts a
    left join card_products p on p.user_id = a.user_id and p.account_id = a.id
    left join cards c on c.user_id = a.user_id and c.account_id = a.id
    where a.user_id = $1 and a.id = $2";

pub(super) fn statements() -> Vec<&'static str> {
    [&[PRODUCTS, PRODUCT, CURRENT, BY_ID, SAVE_MARK, CLEAR_MARKS, SET_CARD], recompute::STATEMENTS]
        .concat()
}
