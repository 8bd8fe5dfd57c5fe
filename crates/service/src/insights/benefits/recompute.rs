//! The recompute of card benefits: how much of each was used, and which are about to expire.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::AccountKind;
use base::{AccountId, BenefitId, Date, date_from_days, days_from_date};
use calc::benefits::{
    Account as Facts, BenefitState, Card, Entry, Mark, MarkValue, Match, Status, find_card,
    match_card, summary, usage,
};
use db::{Tx, params};
use wire::json::Day;
use wire::v1::Event;

use super::{Activation, CurrentBenefit, EXPIRING_DAYS, MarkKind, benefit_columns, read};
use crate::Result;
use crate::classify::recompute::{Recompute, RecomputeScope};
use crate::ledger::accounts::Account;
use crate::ledger::transactions::row::{StoredTransaction, classification_columns};

/// The longest cycle is four years, and its credit may come late.
const WINDOW_DAYS: i64 = 4 * 366 + 90;

/// Recomputes the benefits of every card, or of the cards with dirty transactions.
pub(crate) fn recompute(tx: &mut Tx<'_>, run: &mut Recompute) -> Result<()> {
    let dirty: Option<BTreeSet<AccountId>> = match &run.scope {
        RecomputeScope::Everything => None,
        RecomputeScope::Around(dirty) => Some(dirty.iter().map(|it| it.account).collect()),
    };
    let is_due = |it: &&Account| {
        it.kind == AccountKind::Credit && dirty.as_ref().is_none_or(|all| all.contains(&it.id))
    };
    let due: Vec<Account> = run.accounts.iter().filter(is_due).cloned().collect();
    for account in due {
        match find_product(tx, run, &account)? {
            Some((card, opened_on)) => recompute_card(tx, run, &account, card, opened_on)?,
            None => delete_card(tx, run, account.id)?,
        }
    }
    Ok(())
}

/// The product of a card, and since when the person has it: by the person's decision, or else by the card's name.
fn find_product(
    tx: &mut Tx<'_>,
    run: &Recompute,
    account: &Account,
) -> Result<Option<(&'static Card, Option<Date>)>> {
    if account.closed_on.is_some() {
        return Ok(None);
    }
    type Decision = (Option<String>, Option<Date>);
    let decision: Option<Decision> =
        tx.first(DECISION, params![run.user, account.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if let Some((product, opened_on)) = decision {
        return Ok(product.as_deref().and_then(find_card).map(|it| (it, opened_on)));
    }
    let institution = account.institution_name.as_deref().unwrap_or_default();
    let subtype = account.subtype.as_deref().unwrap_or_default();
    match match_card(&account.bank_name, subtype, institution) {
        Match::One(card) => Ok(Some((card, None))),
        // If the name fits several products, only the person can choose.
        Match::Unsure(_) | Match::None => Ok(None),
    }
}

fn recompute_card(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    account: &Account,
    card: &'static Card,
    opened_on: Option<Date>,
) -> Result<()> {
    let from = date_from_days(days_from_date(run.today) - WINDOW_DAYS);
    let entries = tx.all(ENTRIES, params![run.user, account.id, from], read_entry)?;
    let marks = tx.all(MARKS, params![run.user, account.id], read_mark)?;
    let facts = Facts { opened_on, closing_day: None, closed_on: account.closed_on };
    let usage = usage(card, &facts, &entries, &marks, run.today);
    let figures = summary(&usage);
    tx.execute(
        SAVE_PRODUCT,
        params![run.user, account.id, &card.id, figures.annual_fee_minor, figures.captured_minor],
    )?;
    let stored = tx.all(OF_ACCOUNT, params![run.user, account.id], read)?;
    let mut known: BTreeMap<String, CurrentBenefit> =
        stored.into_iter().map(|it| (it.benefit.clone(), it)).collect();
    for state in &usage.current {
        let before = known.remove(&state.benefit.id);
        save_benefit(tx, run, account, state, before)?;
    }
    for gone in known.values() {
        tx.execute(DELETE, params![run.user, gone.id])?;
    }
    Ok(())
}

fn save_benefit(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    account: &Account,
    state: &BenefitState<'_>,
    before: Option<CurrentBenefit>,
) -> Result<()> {
    let id: BenefitId = before.as_ref().map_or_else(|| run.app.ids.make(), |it| it.id);
    let mut now = CurrentBenefit {
        id,
        account_id: account.id,
        benefit: state.benefit.id.clone(),
        cycle_start_on: state.cycle.start,
        cycle_end_on: state.cycle.end,
        expires_on: state.expires_on,
        total_minor: state.total_minor,
        used_minor: state.used_minor,
        status: state.status,
        activated: state.activated,
        announced_cycle_on: before.as_ref().and_then(|it| it.announced_cycle_on),
        updated_at: before.as_ref().map_or(run.now, |it| it.updated_at),
    };
    // Announced once a cycle and not every day, and not for hidden cards.
    if account.hidden_at.is_none()
        && now.expires_within(EXPIRING_DAYS, run.today)
        && now.announced_cycle_on != Some(now.cycle_start_on)
    {
        now.announced_cycle_on = Some(now.cycle_start_on);
        run.events.push(Event::BenefitExpiring {
            benefit_id: id.to_string(),
            account_id: account.id.to_string(),
            expires_on: Day(now.expires_on),
        });
    }
    if before.as_ref() == Some(&now) {
        return Ok(());
    }
    if before.is_some() {
        now.updated_at = run.now;
        tx.execute(DELETE, params![run.user, id])?;
    }
    let activated = if now.activated { Activation::Yes } else { Activation::No };
    tx.execute(
        INSERT,
        params![
            run.user,
            id,
            account.id,
            &now.benefit,
            now.cycle_start_on,
            now.cycle_end_on,
            now.expires_on,
            now.total_minor,
            now.used_minor,
            Status::as_str(now.status),
            activated.as_str(),
            now.announced_cycle_on,
            now.updated_at
        ],
    )?;
    Ok(())
}

fn delete_card(tx: &mut Tx<'_>, run: &Recompute, account: AccountId) -> Result<()> {
    tx.execute(DELETE_PRODUCT, params![run.user, account])?;
    tx.execute(DELETE_OF_ACCOUNT, params![run.user, account])?;
    Ok(())
}

fn read_entry(row: &db::Row<'_>) -> db::Result<Entry> {
    let row = StoredTransaction(row);
    Ok(Entry {
        id: row.id()?,
        on: row.posted_on()?,
        authorized_on: row.authorized_on()?,
        amount_minor: row.amount_minor()?,
        description: row.description()?.to_owned(),
        key: row.merchant_key()?.unwrap_or_default().to_owned(),
        category: row.category()?,
    })
}

fn read_mark(row: &db::Row<'_>) -> db::Result<Mark> {
    let what = match row.get(1)? {
        MarkKind::Activated => MarkValue::Activated,
        MarkKind::Used => MarkValue::Used(row.get(3)?),
    };
    Ok(Mark { benefit: row.get(0)?, on: row.get(2)?, what })
}

const DECISION: &str =
    "select product, opened_on from cards where user_id = $1 and account_id = $2";
// Joined to itself, so that SQLite reads the account's rows and not all of the person's.
const ENTRIES: &str = concat!(
    "select ",
    classification_columns!(),
    " from transactions m
    join transactions t on t.user_id = m.user_id and t.posted_on = m.posted_on and t.id = m.id
    where m.user_id = $1 and m.account_id = $2 and m.posted_on >= $3 and t.state = 'posted'"
);
const MARKS: &str = "select benefit, what, cycle_start_on, used_minor from benefit_marks
    where user_id = $1 and account_id = $2";
const SAVE_PRODUCT: &str =
    "insert into card_products (user_id, account_id, product, annual_fee_minor, captured_minor)
    values ($1, $2, $3, $4, $5) on conflict (user_id, account_id) do update set
    product = excluded.product, annual_fee_minor = excluded.annual_fee_minor,
    captured_minor = excluded.captured_minor";
const OF_ACCOUNT: &str =
    concat!("select ", benefit_columns!(), " from benefits where user_id = $1 and account_id = $2");
const DELETE: &str = "delete from benefits where user_id = $1 and id = $2";
const DELETE_PRODUCT: &str = "delete from card_products where user_id = $1 and account_id = $2";
const DELETE_OF_ACCOUNT: &str = "delete from benefits where user_id = $1 and account_id = $2";
const INSERT: &str =
    "insert into benefits (user_id, id, account_id, benefit, cycle_start_on, cycle_end_on, expires_on,
    total_minor, used_minor, status, activated, told_cycle_on, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

pub(super) const STATEMENTS: &[&str] = &[
    DECISION,
    ENTRIES,
    MARKS,
    SAVE_PRODUCT,
    OF_ACCOUNT,
    DELETE,
    DELETE_PRODUCT,
    DELETE_OF_ACCOUNT,
    INSERT,
];
