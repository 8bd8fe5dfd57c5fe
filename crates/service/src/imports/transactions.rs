//! Transactions of an import: new ones inserted, known ones changed or left alone, settled ones keep their id.

use std::collections::HashSet;

use base::category::Category;
use base::draft::{AccountDraft, TransactionDraft};
use base::{Currency, Money, TransactionId, date_from_days, days_from_date, kinds};
use calc::enrich::{Enriched, clean, merchant_key};
use calc::matching::{Known, Verdict, match_drafts, merged};
use db::{Param, Tx, params};
use wire::v1::Event;

use super::Batch;
use super::accounts::Saved;
use crate::enrichment::Told;
use crate::insights::Touch;
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
    batch.touched_everything |= account.is_new;
    let known = if account.is_new { Vec::new() } else { known(tx, batch, account, draft)? };
    let verdicts = match_drafts(&known, &draft.transactions);
    let (mut fresh, mut changed) = (Vec::new(), Vec::new());
    for (draft, verdict) in draft.transactions.iter().zip(&verdicts) {
        match verdict {
            Verdict::New => fresh.push(draft),
            Verdict::Changed(at) => {
                let known = &known[*at];
                change(tx, batch, account, known, &merged(&known.content, draft))?;
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

/// What a draft is taken to be until moves between accounts are looked for.
fn judged(
    batch: &mut Batch,
    account: &Saved,
    id: Option<TransactionId>,
    draft: &TransactionDraft,
) -> Enriched {
    let told = Told {
        id,
        account: account.id,
        amount_minor: draft.amount.minor(),
        counterparty: draft.counterparty.as_deref(),
        category: draft.category,
    };
    let place = (account.kind, account.subtype.as_deref());
    let judged = batch.desk.judge_on(place, &told, &clean(&draft.description), None);
    touch(batch, account, draft, &judged.key);
    judged
}

/// Only what is posted bears on anything else, and where everything is looked at again there is no need for a list.
fn touch(batch: &mut Batch, account: &Saved, content: &TransactionDraft, merchant_key: &str) {
    if !content.pending && !batch.touched_everything {
        batch.touched.insert(Touch {
            account: account.id,
            merchant_key: merchant_key.to_owned(),
            posted_on_days: days_from_date(content.posted_on),
            amount_minor: content.amount.minor(),
        });
    }
}

/// In the order of their days, so that ids, which rise, agree with it.
fn insert(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &Saved,
    mut drafts: Vec<&TransactionDraft>,
) -> Result<Vec<TransactionId>> {
    drafts.sort_by_key(|it| it.posted_on);
    let ids: Vec<TransactionId> =
        drafts.iter().map(|_| batch.app.ids.make::<kinds::Transaction>()).collect();
    let judged: Vec<Enriched> =
        drafts.iter().map(|draft| judged(batch, account, None, draft)).collect();
    let batch = &*batch;
    let rows = ids.iter().zip(drafts.iter().zip(&judged)).map(|(id, (draft, judged))| {
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
            (&judged.counterparty).into(),
            judged.category.map(Category::detailed).into(),
            judged.stage.as_str().into(),
            (&judged.key).into(),
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
        "told_counterparty",
        "counterparty_logo_url",
        "told_category",
        "updated_at",
        "external_id",
        "created_at",
        "import_id",
        "counterparty",
        "category",
        "category_stage",
        "merchant_key",
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
    batch: &mut Batch,
    account: &Saved,
    known: &Known,
    content_now: &TransactionDraft,
) -> Result<()> {
    touch(batch, account, &known.content, &merchant_key(&known.content.description));
    let judged = judged(batch, account, Some(known.id), content_now);
    batch.touched_everything |= batch.desk.teaches(known.id);
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
            (&judged.counterparty).into(),
            judged.category.map(Category::detailed).into(),
            judged.stage.as_str().into(),
            (&judged.key).into(),
        ],
    )?;
    Ok(())
}

fn remove(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &Saved,
    external_ids: &[String],
) -> Result<Vec<TransactionId>> {
    let mut removed = Vec::new();
    for external_id in external_ids {
        let gone = tx.first(BY_EXTERNAL_ID, params![batch.user, account.id, external_id], read)?;
        let Some(gone) = gone else { continue };
        tx.execute(REMOVE, params![batch.user, gone.id, batch.now])?;
        touch(batch, account, &gone.content, &merchant_key(&gone.content.description));
        removed.push(gone.id);
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
    "select id, state, amount_minor, currency, authorized_on, description, told_counterparty,
    counterparty_logo_url, told_category, external_id, posted_on from transactions
    where user_id = $1 and account_id = $2 and state <> 'removed' and posted_on between $3 and $4";
// Found by its index first: SQLite would otherwise walk through all that the person has.
const BY_EXTERNAL_ID: &str =
    "select t.id, t.state, t.amount_minor, t.currency, t.authorized_on, t.description,
    t.told_counterparty, t.counterparty_logo_url, t.told_category, t.external_id, t.posted_on
    from transactions m join transactions t
    on t.user_id = m.user_id and t.posted_on = m.posted_on and t.id = m.id
    where m.user_id = $1 and m.account_id = $2 and m.external_id = $3 and t.state <> 'removed'";
// Whether it is still half of a transfer is looked at anew.
const CHANGE: &str = "update transactions set posted_on = $3, state = $4, amount_minor = $5, authorized_on = $6,
    description = $7, told_counterparty = $8, counterparty_logo_url = $9, told_category = $10, external_id = $11,
    updated_at = $12, counterparty = $13, category = $14, category_stage = $15, merchant_key = $16,
    transfer_id = null, transfer_kind = null where user_id = $1 and id = $2";
const REMOVE: &str = "update transactions set state = 'removed', updated_at = $3
    where user_id = $1 and id = $2";
const COUNT: &str = "update accounts set transaction_count = transaction_count + $3
    where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[AROUND, BY_EXTERNAL_ID, CHANGE, REMOVE, COUNT];
