//! Card benefits: what the person's cards give in the present cycle, and what the person says of it.

mod work;

use std::cmp::Reverse;

use base::{
    AccountId, BenefitId, Currency, Date, Money, Timestamp, date_from_days, days_from_date,
};
use calc::benefits::{Alignment, Benefit, Card, Status, find_card};
use calc::rates::Rates;
use db::{Tx, params};
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Scope};

use crate::access::users;
use crate::ledger::accounts::Account;
use crate::ledger::{accounts, rates};
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

pub(crate) use work::save;

/// How far ahead "expiring" looks unless told otherwise, and when it is announced.
pub const EXPIRING_DAYS: i64 = 30;

/// A benefit in its present cycle, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    pub id: BenefitId,
    pub account_id: AccountId,
    /// Its name in the catalogue.
    pub benefit: String,
    pub cycle_start_on: Date,
    pub cycle_end_on: Date,
    pub expires_on: Date,
    pub total_minor: i64,
    pub used_minor: i64,
    pub status: Status,
    pub activated: bool,
    /// The cycle whose end was announced.
    pub told_cycle_on: Option<Date>,
    pub updated_at: Timestamp,
}

impl Present {
    pub fn remaining_minor(&self) -> i64 {
        (self.total_minor - self.used_minor).max(0)
    }

    fn days_left(&self, today: Date) -> i64 {
        days_from_date(self.expires_on) - days_from_date(today) + 1
    }

    /// Whether something is lost within so many days.
    fn expires_within(&self, days: i64, today: Date) -> bool {
        matches!(self.status, Status::Available | Status::PartiallyUsed)
            && self.remaining_minor() > 0
            && (1..=days).contains(&self.days_left(today))
    }
}

/// A card of the person's whose product is known.
struct Held<'a> {
    account: &'a Account,
    card: &'static Card,
    annual_fee_minor: i64,
    captured_minor: i64,
    benefits: Vec<(Present, &'static Benefit)>,
}

pub async fn summary(app: &App, caller: &Caller) -> Result<v1::BenefitSummary> {
    caller.require(Scope::BenefitsRead)?;
    let accounts = accounts::all(app, caller).await?;
    let held = held(app, caller, &accounts).await?;
    let sheet = Sheet::new(app, caller).await?;
    let all = || held.iter().flat_map(|it| it.benefits.iter().map(move |(b, _)| (it, b)));
    let soon: Vec<_> =
        all().filter(|(_, b)| b.expires_within(EXPIRING_DAYS, sheet.today)).collect();
    let left = sheet.sum(soon.iter().map(|(it, b)| (it.card.currency, b.remaining_minor())));
    let cards: Vec<(v1::CardBenefits, Sums, Currency)> =
        held.iter().map(|it| sheet.card(it)).collect();
    let total = |part: fn(&Sums) -> i64| {
        sheet.money(sheet.sum(cards.iter().map(|(_, sums, currency)| (*currency, part(sums)))))
    };
    Ok(v1::BenefitSummary {
        as_of: Moment(app.clock.now()),
        currency: sheet.rates.base().to_string(),
        totals: v1::BenefitTotals {
            card_count: held.len(),
            benefit_count: all().count(),
            annual_fees: total(|it| it.fee_minor),
            total_amount: total(|it| it.total_minor),
            used_amount: total(|it| it.used_minor),
            remaining_amount: total(|it| it.remaining_minor),
            net_value: total(|it| it.net_minor),
            expiring_count: soon.len(),
            expiring_amount: sheet.money(left),
        },
        cards: cards.into_iter().map(|(card, ..)| card).collect(),
    })
}

pub async fn expiring(app: &App, caller: &Caller, days: i64) -> Result<v1::ExpiringBenefits> {
    caller.require(Scope::BenefitsRead)?;
    let accounts = accounts::all(app, caller).await?;
    let held = held(app, caller, &accounts).await?;
    let sheet = Sheet::new(app, caller).await?;
    let all = held.iter().flat_map(|it| it.benefits.iter().map(move |b| (it, b)));
    let mut soon: Vec<_> = all.filter(|(_, (b, _))| b.expires_within(days, sheet.today)).collect();
    soon.sort_by_key(|(_, (b, _))| (b.expires_on, Reverse(b.remaining_minor()), b.id));
    let left = sheet.sum(soon.iter().map(|(it, (b, _))| (it.card.currency, b.remaining_minor())));
    Ok(v1::ExpiringBenefits {
        window: v1::BenefitWindow {
            start: Day(sheet.today),
            end: Day(date_from_days(days_from_date(sheet.today) + days - 1)),
            days,
        },
        count: soon.len(),
        remaining_amount: sheet.money(left),
        benefits: soon.iter().map(|(it, (b, known))| sheet.shown(it, b, known)).collect(),
    })
}

/// The cards of open accounts that the person has not hidden.
async fn held<'a>(app: &App, caller: &Caller, accounts: &'a [Account]) -> Result<Vec<Held<'a>>> {
    let products = app.db.all(PRODUCTS, params![caller.user], read_product).await?;
    let present = app.db.all(PRESENT, params![caller.user], read).await?;
    let mut held = Vec::new();
    let shown = accounts.iter().filter(|it| it.hidden_at.is_none() && it.closed_on.is_none());
    for account in shown {
        let product = products.iter().find(|it| it.0 == account.id);
        let Some((_, product, annual_fee_minor, captured_minor)) = product else { continue };
        let Some(card) = find_card(product) else { continue };
        let known = |it: &Present| Some((it.clone(), card.find_benefit(&it.benefit)?));
        let mine = present.iter().filter(|it| it.account_id == account.id);
        let mut benefits: Vec<_> = mine.filter_map(known).collect();
        benefits.sort_by_key(|(it, _)| (it.expires_on, it.id));
        held.push(Held {
            account,
            card,
            annual_fee_minor: *annual_fee_minor,
            captured_minor: *captured_minor,
            benefits,
        });
    }
    Ok(held)
}

struct Sheet {
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

impl Sheet {
    async fn new(app: &App, caller: &Caller) -> Result<Sheet> {
        let currency = users::base_currency(app, caller).await?;
        let rates = rates::latest(app, caller, currency).await?;
        Ok(Sheet { rates, today: app.clock.today() })
    }

    fn money(&self, minor: i64) -> Number {
        Number::from(Money::new(minor, self.rates.base()))
    }

    /// In the base currency; what has no rate counts nothing.
    fn sum(&self, amounts: impl Iterator<Item = (Currency, i64)>) -> i64 {
        amounts.filter_map(|(currency, minor)| self.rates.to_base(minor, currency)).sum()
    }

    fn card(&self, held: &Held<'_>) -> (v1::CardBenefits, Sums, Currency) {
        let usable =
            || held.benefits.iter().map(|it| &it.0).filter(|it| it.status != Status::NotUsable);
        let sums = Sums {
            fee_minor: held.annual_fee_minor,
            total_minor: usable().map(|it| it.total_minor).sum(),
            used_minor: usable().map(|it| it.used_minor).sum(),
            remaining_minor: usable().map(Present::remaining_minor).sum(),
            net_minor: held.captured_minor - held.annual_fee_minor,
        };
        let money = |minor| Number::from(Money::new(minor, held.card.currency));
        let card = v1::CardBenefits {
            account_id: held.account.id.to_string(),
            account_name: held.account.name.clone(),
            institution_name: held.account.institution_name.clone(),
            mask: held.account.mask.clone(),
            annual_fee: money(sums.fee_minor),
            total_amount: money(sums.total_minor),
            used_amount: money(sums.used_minor),
            remaining_amount: money(sums.remaining_minor),
            net_value: money(sums.net_minor),
            benefits: held.benefits.iter().map(|(b, known)| self.shown(held, b, known)).collect(),
        };
        (card, sums, held.card.currency)
    }

    fn shown(&self, held: &Held<'_>, present: &Present, benefit: &Benefit) -> v1::Benefit {
        let money = |minor| Number::from(Money::new(minor, held.card.currency));
        v1::Benefit {
            id: present.id.to_string(),
            account_id: held.account.id.to_string(),
            account_name: held.account.name.clone(),
            institution_name: held.account.institution_name.clone(),
            name: benefit.title.clone(),
            description: benefit.description.clone(),
            category: benefit.area.as_str(),
            benefit_type: benefit.kind.benefit_type().as_str(),
            frequency: benefit.cadence.as_str(),
            cycle_alignment: match benefit.alignment {
                Alignment::Calendar => "calendar",
                // Counted from the account's own year, one way or the other.
                Alignment::Anniversary | Alignment::StatementYear => "anniversary",
            },
            cycle_start: Day(present.cycle_start_on),
            cycle_end: Day(present.cycle_end_on),
            currency: held.card.currency.to_string(),
            total_amount: money(present.total_minor),
            used_amount: money(present.used_minor),
            remaining_amount: money(present.remaining_minor()),
            expires_on: Day(present.expires_on),
            days_until_expiry: present.days_left(self.today).max(0),
            status: present.status.as_str(),
            activation_required: benefit.activation_required(),
            activated: present.activated,
            observable: benefit.observable,
            updated_at: Moment(present.updated_at),
        }
    }
}

/// What the person says of a benefit in its present cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// So much of it was used, in minor units of the card's currency; all of it when nothing is said.
    Used(Option<i64>),
    /// It was switched on with the issuer.
    Activated,
    /// Nothing that was said of this cycle holds.
    Nothing,
}

pub async fn mark(app: &App, caller: &Caller, id: BenefitId, said: Said) -> Result<()> {
    caller.require_owner("benefit")?;
    if matches!(said, Said::Used(Some(minor)) if minor < 0) {
        return Err(Error::invalid("used_amount", "used_amount must not be negative"));
    }
    let (user, now) = (caller.user, app.clock.now());
    let save = move |tx: &mut Tx<'_>| {
        let found = tx.first(BY_ID, params![user, id], read)?.ok_or(Error::NotFound("benefit"))?;
        let place = (found.account_id, &found.benefit, found.cycle_start_on);
        let (what, used_minor) = match said {
            Said::Used(minor) => ("used", minor),
            Said::Activated => ("activated", None),
            Said::Nothing => {
                tx.execute(UNMARK, params![user, place.0, place.1, place.2])?;
                return dirty_queue::mark_all_dirty(tx, user, now);
            }
        };
        let values = params![user, place.0, place.1, what, place.2, used_minor, now];
        tx.execute(MARK, values)?;
        dirty_queue::mark_all_dirty(tx, user, now)
    };
    app.db.write(save).await
}

/// The person says which product a card is, or that it is none we know, and since when they have it.
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
        let message = format!("product {product} is not in the catalogue{near}");
        return Err(Error::invalid("product", message));
    }
    let found = accounts::known(app, caller, account).await?;
    if found.kind != base::draft::AccountKind::Credit {
        return Err(Error::invalid("account_id", "account_id must be a card"));
    }
    let (user, now, product) = (caller.user, app.clock.now(), product.map(str::to_owned));
    let named = product.as_deref().and_then(find_card).map_or("none we know".to_owned(), card_name);
    let note =
        Note::new(caller, "account.set_card", format!("Said that {} is {named}", found.name));
    let save = move |tx: &mut Tx<'_>| {
        tx.execute(SET_CARD, params![user, account, &product, opened_on, now])?;
        audit::note(tx, user, now, note.about(account))?;
        dirty_queue::mark_all_dirty(tx, user, now)
    };
    app.db.write(save).await
}

/// The products we know: id, name, and the day their facts were last checked.
pub fn catalogue() -> impl Iterator<Item = (&'static str, String, Date)> {
    calc::benefits::cards().iter().map(|card| (card.id.as_str(), card_name(card), card.verified_on))
}

fn card_name(card: &Card) -> String {
    let name = card.names.first().map(String::as_str).unwrap_or_default();
    if name.starts_with(&card.issuer) { name.to_owned() } else { format!("{} {name}", card.issuer) }
}

/// Which product a card is taken for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Its id in the catalogue; none where it is none we know, or could be several.
    pub product: Option<String>,
    pub opened_on: Option<Date>,
    /// Whether the person said so, rather than the card's name.
    pub decided: bool,
}

pub async fn product(app: &App, caller: &Caller, account: AccountId) -> Result<Product> {
    caller.require(Scope::BenefitsRead)?;
    accounts::known(app, caller, account).await?;
    let key = params![caller.user, account];
    let read = |row: &db::Row<'_>| {
        let decided_at: Option<Timestamp> = row.get(3)?;
        let (found, said): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
        let product = if decided_at.is_some() { said } else { found };
        Ok(Product { product, opened_on: row.get(2)?, decided: decided_at.is_some() })
    };
    app.db.first(PRODUCT, key, read).await?.ok_or(Error::NotFound("account"))
}

fn read_product(row: &db::Row<'_>) -> db::Result<(AccountId, String, i64, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn read(row: &db::Row<'_>) -> db::Result<Present> {
    let (status, activated): (&str, &str) = (row.get(8)?, row.get(9)?);
    let unknown = || db::Error::Decode { column: 8, reason: format!("unknown status {status}") };
    Ok(Present {
        id: row.get(0)?,
        account_id: row.get(1)?,
        benefit: row.get(2)?,
        cycle_start_on: row.get(3)?,
        cycle_end_on: row.get(4)?,
        expires_on: row.get(5)?,
        total_minor: row.get(6)?,
        used_minor: row.get(7)?,
        status: Status::parse(status).ok_or_else(unknown)?,
        activated: activated == "yes",
        told_cycle_on: row.get(10)?,
        updated_at: row.get(11)?,
    })
}

const PRODUCTS: &str =
    "select account_id, product, annual_fee_minor, captured_minor from card_products
    where user_id = $1";
const PRESENT: &str =
    "select id, account_id, benefit, cycle_start_on, cycle_end_on, expires_on, total_minor,
    used_minor, status, activated, told_cycle_on, updated_at from benefits where user_id = $1";
const BY_ID: &str = "select id, account_id, benefit, cycle_start_on, cycle_end_on, expires_on, total_minor,
    used_minor, status, activated, told_cycle_on, updated_at from benefits where user_id = $1 and id = $2";
const MARK: &str =
    "insert into benefit_marks (user_id, account_id, benefit, what, cycle_start_on, used_minor,
    marked_at) values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (user_id, account_id, benefit, what, cycle_start_on) do update
    set used_minor = excluded.used_minor, marked_at = excluded.marked_at";
const UNMARK: &str = "delete from benefit_marks
    where user_id = $1 and account_id = $2 and benefit = $3 and cycle_start_on = $4";
const SET_CARD: &str = "insert into cards (user_id, account_id, product, opened_on, decided_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, account_id) do update
    set product = excluded.product, opened_on = excluded.opened_on, decided_at = excluded.decided_at";

const PRODUCT: &str = "select p.product, c.product, c.opened_on, c.decided_at from accounts a
    left join card_products p on p.user_id = a.user_id and p.account_id = a.id
    left join cards c on c.user_id = a.user_id and c.account_id = a.id
    where a.user_id = $1 and a.id = $2";

pub(crate) fn statements() -> Vec<&'static str> {
    [&[PRODUCTS, PRODUCT, PRESENT, BY_ID, MARK, UNMARK, SET_CARD], work::STATEMENTS].concat()
}
