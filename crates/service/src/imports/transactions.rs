//! Transactions of an import: new ones inserted, known ones changed or left alone, settled ones keep their id.

use std::collections::HashSet;

use base::category::Category;
use base::draft::{AccountDraft, TransactionDraft};
use base::{Currency, Money, TransactionId, date_from_days, days_from_date, kinds};
use calc::matching::{Known, Verdict, match_drafts, merged};
use db::{Param, Tx, params};
use wire::v1::Event;

use super::Batch;
use super::accounts::Saved;
use crate::{Error, Result};

/// How far from the drafts' own dates a known transaction may lie and still be one of them.
const WINDOW_DAYS: i64 = 30;

pub(super) fn save(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &Saved,
    draft: &AccountDraft,
) -> Result<()> {
    let foreign = draft.transactions.iter().find(|it| it.amount.currency() != account.currency);
    if let Some(foreign) = foreign {
        let message = format!(
            "a transaction in {} cannot stand on an account in {}",
            foreign.amount.currency(),
            account.currency
        );
        return Err(Error::invalid("currency", message));
    }
    let known = if account.is_new { Vec::new() } else { known(tx, batch, account, draft)? };
    let verdicts = match_drafts(&known, &draft.transactions);
    let (mut fresh, mut changed) = (Vec::new(), Vec::new());
    for (draft, verdict) in draft.transactions.iter().zip(&verdicts) {
        match verdict {
            Verdict::New => fresh.push(draft),
            Verdict::Changed(at) => {
                let known = &known[*at];
                change(tx, batch, known, &merged(&known.content, draft))?;
                changed.push(known.id);
            }
            Verdict::Seen(_) | Verdict::Repeated(_) => batch.summary.seen += 1,
        }
    }
    let created = insert(tx, batch, account, fresh)?;
    let removed = remove(tx, batch, account, &draft.removed)?;
    batch.summary.new += created.len();
    batch.summary.changed += changed.len();
    batch.summary.removed += removed.len();
    let net = created.len() as i64 - removed.len() as i64;
    if net != 0 {
        tx.execute(COUNT, params![batch.user, account.id, net])?;
    }
    tell(batch, account, &created, &changed, &removed);
    Ok(())
}

fn tell(
    batch: &mut Batch,
    account: &Saved,
    created: &[TransactionId],
    changed: &[TransactionId],
    removed: &[TransactionId],
) {
    batch.tell(account.id, created, |account_id, transaction_ids, count| {
        Event::TransactionsCreated { account_id, transaction_ids, count }
    });
    for (ids, removed) in [(changed, false), (removed, true)] {
        batch.tell(account.id, ids, |account_id, transaction_ids, count| {
            Event::TransactionsUpdated { account_id, transaction_ids, count, removed }
        });
    }
}

/// The stored transactions that a draft could mean: around its dates, still pending, or under its external id.
fn known(
    tx: &mut Tx<'_>,
    batch: &Batch,
    account: &Saved,
    draft: &AccountDraft,
) -> Result<Vec<Known>> {
    let days = draft.transactions.iter().map(|it| days_from_date(it.posted_on));
    let (Some(first), Some(last)) = (days.clone().min(), days.max()) else {
        return Ok(Vec::new());
    };
    let (first, last) = (first - WINDOW_DAYS, last + WINDOW_DAYS);
    let mut known = tx.all(AROUND, params![batch.user, account.id, first, last], read)?;
    let found: HashSet<&str> =
        known.iter().filter_map(|it| it.content.external_id.as_deref()).collect();
    let named = draft.transactions.iter().flat_map(|it| [&it.external_id, &it.settles]);
    let missing: Vec<&str> =
        named.filter_map(|it| it.as_deref()).filter(|it| !found.contains(it)).collect();
    let mut elsewhere = Vec::new();
    for external_id in missing {
        let row = tx.first(BY_EXTERNAL_ID, params![batch.user, account.id, external_id], read)?;
        elsewhere.extend(row);
    }
    known.extend(elsewhere);
    known.sort_by_key(|it| it.id);
    known.dedup_by_key(|it| it.id);
    Ok(known)
}

/// In the order of their days, so that ids, which rise, agree with it.
fn insert(
    tx: &mut Tx<'_>,
    batch: &Batch,
    account: &Saved,
    mut drafts: Vec<&TransactionDraft>,
) -> Result<Vec<TransactionId>> {
    drafts.sort_by_key(|it| it.posted_on);
    let ids: Vec<TransactionId> =
        drafts.iter().map(|_| batch.app.ids.make::<kinds::Transaction>()).collect();
    let rows = ids.iter().zip(&drafts).map(|(id, draft)| {
        let [
            posted_on,
            state,
            amount,
            authorized_on,
            description,
            counterparty,
            logo,
            category,
            external_id,
        ] = content(draft);
        [
            batch.user.into(),
            posted_on,
            (*id).into(),
            account.id.into(),
            state,
            amount,
            account.currency_param(),
            authorized_on,
            description,
            counterparty,
            logo,
            category,
            batch.now.into(),
            external_id,
            batch.now.into(),
            batch.id.into(),
        ]
    });
    let columns = [
        "user_id",
        "posted_on",
        "id",
        "account_id",
        "state",
        "amount_minor",
        "currency",
        "authorized_on",
        "description",
        "counterparty",
        "counterparty_logo_url",
        "category",
        "updated_at",
        "external_id",
        "created_at",
        "import_id",
    ];
    tx.insert_many("transactions", columns, rows)?;
    Ok(ids)
}

fn content(draft: &TransactionDraft) -> [Param<'_>; 9] {
    [
        draft.posted_on.into(),
        if draft.pending { "pending" } else { "posted" }.into(),
        draft.amount.minor().into(),
        draft.authorized_on.into(),
        (&draft.description).into(),
        (&draft.counterparty).into(),
        (&draft.counterparty_logo_url).into(),
        draft.category.map(Category::detailed).into(),
        (&draft.external_id).into(),
    ]
}

fn change(
    tx: &mut Tx<'_>,
    batch: &Batch,
    known: &Known,
    content_now: &TransactionDraft,
) -> Result<()> {
    let [
        posted_on,
        state,
        amount,
        authorized_on,
        description,
        counterparty,
        logo,
        category,
        external_id,
    ] = content(content_now);
    tx.execute(
        CHANGE,
        &[
            batch.user.into(),
            known.id.into(),
            posted_on,
            state,
            amount,
            authorized_on,
            description,
            counterparty,
            logo,
            category,
            external_id,
            batch.now.into(),
        ],
    )?;
    Ok(())
}

fn remove(
    tx: &mut Tx<'_>,
    batch: &Batch,
    account: &Saved,
    external_ids: &[String],
) -> Result<Vec<TransactionId>> {
    let mut removed = Vec::new();
    for external_id in external_ids {
        let id: Option<TransactionId> =
            tx.first(REMOVE, params![batch.user, account.id, external_id, batch.now], |row| {
                row.get(0)
            })?;
        removed.extend(id);
    }
    Ok(removed)
}

fn read(row: &db::Row<'_>) -> db::Result<Known> {
    let currency: Currency = row.get(3)?;
    let (state, category): (&str, Option<&str>) = (row.get(1)?, row.get(8)?);
    Ok(Known {
        id: row.get(0)?,
        content: TransactionDraft {
            external_id: row.get(9)?,
            pending: state == "pending",
            settles: None,
            posted_on: date_from_days(row.get(10)?),
            authorized_on: row.get(4)?,
            amount: Money::new(row.get(2)?, currency),
            description: row.get(5)?,
            counterparty: row.get(6)?,
            counterparty_logo_url: row.get(7)?,
            category: category.and_then(Category::parse),
        },
    })
}

impl Saved {
    fn currency_param(&self) -> Param<'_> {
        self.currency.code().into()
    }
}

const AROUND: &str =
    "select id, state, amount_minor, currency, authorized_on, description, counterparty,
    counterparty_logo_url, category, external_id, posted_on from transactions
    where user_id = $1 and account_id = $2 and state <> 'removed' and posted_on between $3 and $4";
const BY_EXTERNAL_ID: &str =
    "select id, state, amount_minor, currency, authorized_on, description, counterparty,
    counterparty_logo_url, category, external_id, posted_on from transactions
    where user_id = $1 and account_id = $2 and external_id = $3 and state <> 'removed'";
const CHANGE: &str = "update transactions set posted_on = $3, state = $4, amount_minor = $5, authorized_on = $6,
    description = $7, counterparty = $8, counterparty_logo_url = $9, category = $10, external_id = $11,
    updated_at = $12 where user_id = $1 and id = $2";
const REMOVE: &str = "update transactions set state = 'removed', updated_at = $4
    where user_id = $1 and account_id = $2 and external_id = $3 and state <> 'removed' returning id";
const COUNT: &str = "update accounts set transaction_count = transaction_count + $3
    where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[AROUND, BY_EXTERNAL_ID, CHANGE, REMOVE, COUNT];
