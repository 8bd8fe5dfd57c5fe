//! Saves the transactions of an import: inserts new ones and updates changed ones. A pending transaction that posts keeps
//! its id.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::category::Category;
use base::draft::{AccountDraft, TransactionDraft};
use base::{AccountId, Currency, ImportId, Money, TransactionId, UserId};
use base::{date_from_days, days_from_date, kinds};
use calc::enrich::{Enriched, merchant_key};
use calc::matching::{DraftMatch, FILE_PREFIX, KnownTransaction, match_drafts, merged};
use db::{Param, Tx, params};
use wire::v1::Event;

use super::batch::{Batch, SavedAccount};
use super::journal::RowKey;
use super::request::IncomingAccount;
use crate::classify::classifier::ClassifierInput;
use crate::ledger::accounts;
use crate::ledger::transactions::TransactionState;
use crate::platform::dirty_queue::DirtyTransaction;
use crate::{App, Error, Result};

/// How many days a stored transaction may be away from the drafts and still match one of them.
const WINDOW_DAYS: i64 = 30;

pub(super) fn save(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &SavedAccount,
    incoming: &IncomingAccount,
) -> Result<()> {
    let draft = &incoming.draft;
    let foreign = draft.transactions.iter().find(|it| it.amount.currency() != account.currency);
    if let Some(foreign) = foreign {
        let message = format!(
            "A transaction in {} can't be imported into an account in {}.",
            foreign.amount.currency(),
            account.currency
        );
        return Err(Error::invalid("currency", message));
    }
    batch.all_dirty |= account.is_new;
    let (known, has_hidden) = match account.is_new {
        true => (Vec::new(), false),
        false => find_candidates(tx, batch, account, incoming)?,
    };
    let known = if incoming.names_pending { without_unnamed_pending(known, draft) } else { known };
    let verdicts = match_drafts(&known, &draft.transactions, &incoming.provenance);
    let (mut fresh, mut changed, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
    for (draft, verdict) in draft.transactions.iter().zip(&verdicts) {
        match verdict {
            DraftMatch::New => fresh.push(draft),
            DraftMatch::Changed(at) => {
                let known = &known[*at];
                batch.journal.record(tx, batch.user, RowKey::Transaction(known.id))?;
                let is_visible = update(tx, batch, account, known, &merged(&known.content, draft))?;
                if is_visible { &mut changed } else { &mut hidden }.push(known.id);
            }
            DraftMatch::Seen(_) | DraftMatch::Repeated(_) => batch.summary.seen += 1,
        }
    }
    let new = fresh.len();
    let created = insert(tx, batch, account, fresh)?;
    let (mut removed, removed_hidden) = remove(tx, batch, account, &draft.removed)?;
    batch.summary.new += new;
    batch.summary.changed += changed.len() + hidden.len();
    batch.summary.removed += removed.len();
    if new + changed.len() + hidden.len() + removed.len() > 0 {
        batch.changed.insert(account.id);
    }
    let net = created.len() as i64 - removed.len() as i64;
    if has_hidden || removed_hidden || batch.classifier.may_hide() {
        accounts::recount(tx, batch.user, account.id)?;
    } else if net != 0 {
        tx.execute(COUNT, params![batch.user, account.id, net])?;
    }
    removed.append(&mut hidden);
    push_events(batch, account, &created, &changed, &removed);
    Ok(())
}

/// The candidates without pending transactions that the source neither settles, updates nor removes.
fn without_unnamed_pending(
    mut known: Vec<KnownTransaction>,
    draft: &AccountDraft,
) -> Vec<KnownTransaction> {
    let rows = draft.transactions.iter().flat_map(|it| [&it.external_id, &it.settles]);
    let named: HashSet<&str> = rows
        .filter_map(|it| it.as_deref())
        .chain(draft.removed.iter().map(String::as_str))
        .collect();
    known.retain(|it| {
        let id = it.content.external_id.as_deref();
        !it.content.pending || id.is_none_or(|it| named.contains(it))
    });
    known
}

fn push_events(
    batch: &mut Batch,
    account: &SavedAccount,
    created: &[TransactionId],
    changed: &[TransactionId],
    removed: &[TransactionId],
) {
    batch.push_events(account.id, created, |account_id, transaction_ids, count| {
        Event::TransactionsCreated { account_id, transaction_ids, count }
    });
    for (ids, removed) in [(changed, false), (removed, true)] {
        batch.push_events(account.id, ids, |account_id, transaction_ids, count| {
            Event::TransactionsUpdated { account_id, transaction_ids, count, removed }
        });
    }
}

/// The stored transactions that may match a draft, by date or by external id, and whether some of them are hidden.
fn find_candidates(
    tx: &mut Tx<'_>,
    batch: &Batch,
    account: &SavedAccount,
    incoming: &IncomingAccount,
) -> Result<(Vec<KnownTransaction>, bool)> {
    let drafts = &incoming.draft.transactions;
    let Some((first, last)) = window(drafts) else { return Ok((Vec::new(), false)) };
    let mut rows = tx.all(AROUND, params![batch.user, account.id, first, last], read)?;
    // Files may reuse an id after a while, so for them only transactions near the dates can match.
    if !incoming.provenance.starts_with(FILE_PREFIX) {
        let found: HashSet<&str> =
            rows.iter().filter_map(|it| it.content.external_id.as_deref()).collect();
        let named = drafts.iter().flat_map(|it| [&it.external_id, &it.settles]);
        let missing: Vec<&str> =
            named.filter_map(|it| it.as_deref()).filter(|it| !found.contains(it)).collect();
        let mut elsewhere = Vec::new();
        for external_id in missing {
            let key = params![batch.user, account.id, external_id];
            elsewhere.extend(tx.first(BY_EXTERNAL_ID, key, read)?);
        }
        rows.extend(elsewhere);
    }
    let provenances = tx.all(PROVENANCES, params![batch.user, account.id], read_provenance)?;
    let has_hidden = rows.iter().any(|it| it.hidden);
    Ok((with_provenance(rows, provenances), has_hidden))
}

/// The stored transactions that may match the drafts of a file, for its preview.
pub(super) async fn find_candidates_for_preview(
    app: &App,
    user: UserId,
    account: AccountId,
    drafts: &[TransactionDraft],
) -> Result<Vec<KnownTransaction>> {
    let Some((first, last)) = window(drafts) else { return Ok(Vec::new()) };
    let rows = app.db.all(AROUND, params![user, account, first, last], read).await?;
    let provenances = app.db.all(PROVENANCES, params![user, account], read_provenance).await?;
    Ok(with_provenance(rows, provenances))
}

fn window(drafts: &[TransactionDraft]) -> Option<(i64, i64)> {
    let days = drafts.iter().map(|it| days_from_date(it.posted_on));
    Some((days.clone().min()? - WINDOW_DAYS, days.max()? + WINDOW_DAYS))
}

/// The rows, each once and in the order of their ids, with the provenance of the import that created them.
fn with_provenance(
    mut rows: Vec<StoredTransaction>,
    provenances: Vec<(ImportId, Arc<str>)>,
) -> Vec<KnownTransaction> {
    rows.sort_by_key(|it| it.id);
    rows.dedup_by_key(|it| it.id);
    let provenances: HashMap<ImportId, Arc<str>> = provenances.into_iter().collect();
    let unknown: Arc<str> = "".into();
    let known = |it: StoredTransaction| KnownTransaction {
        provenance: Arc::clone(provenances.get(&it.import).unwrap_or(&unknown)),
        id: it.id,
        content: it.content,
    };
    rows.into_iter().map(known).collect()
}

/// Classifies a draft and marks it dirty. Transfers between accounts are found later, by the recomputation.
fn classify(
    batch: &mut Batch,
    account: &SavedAccount,
    id: Option<TransactionId>,
    draft: &TransactionDraft,
) -> Enriched {
    let input = ClassifierInput {
        id,
        account: account.id,
        amount: draft.amount,
        counterparty: draft.counterparty.as_deref(),
        category: draft.category,
    };
    let account_type = (account.kind, account.subtype.as_deref());
    let cleaned = batch.cleaned.get(&draft.description);
    let classified = batch.classifier.classify_on(account_type, &input, &cleaned, None);
    mark_dirty(batch, account, draft, &classified.key);
    classified
}

/// Marks a posted transaction dirty. Pending ones affect no figure, and no list is needed if everything is recomputed.
fn mark_dirty(
    batch: &mut Batch,
    account: &SavedAccount,
    content: &TransactionDraft,
    merchant_key: &str,
) {
    if !content.pending && !batch.all_dirty {
        batch.dirty.insert(DirtyTransaction {
            account: account.id,
            merchant_key: merchant_key.to_owned(),
            posted_on_days: days_from_date(content.posted_on),
            amount_minor: content.amount.minor(),
        });
    }
}

/// Inserts drafts in the order of their dates, so that ids have the same order. Returns the ids of the visible ones.
fn insert(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &SavedAccount,
    mut drafts: Vec<&TransactionDraft>,
) -> Result<Vec<TransactionId>> {
    drafts.sort_by_key(|it| it.posted_on);
    let ids: Vec<TransactionId> =
        drafts.iter().map(|_| batch.app.ids.make::<kinds::Transaction>()).collect();
    batch.record_inserted(&ids);
    let classified: Vec<Enriched> =
        drafts.iter().map(|draft| classify(batch, account, None, draft)).collect();
    let batch = &*batch;
    let done = &batch.progress.done;
    let rows = ids.iter().zip(drafts.iter().zip(&classified)).map(|(id, (draft, classified))| {
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
        ] = content(draft, classified);
        done.fetch_add(1, Ordering::Relaxed);
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
            batch.stamp.into(),
            external_id,
            batch.stamp.into(),
            batch.id.into(),
            (&classified.counterparty).into(),
            classified.category.map(Category::detailed).into(),
            classified.category_source.as_str().into(),
            (&classified.key).into(),
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
    let seen = ids.iter().zip(drafts.iter().zip(&classified));
    Ok(seen.filter(|(_, (draft, it))| draft.pending || !it.hidden).map(|(id, _)| *id).collect())
}

fn content<'a>(draft: &'a TransactionDraft, classified: &Enriched) -> [Param<'a>; 9] {
    [
        draft.posted_on.into(),
        TransactionState::of(!draft.pending, classified.hidden).as_str().into(),
        draft.amount.minor().into(),
        draft.authorized_on.into(),
        (&draft.description).into(),
        (&draft.counterparty).into(),
        (&draft.counterparty_logo_url).into(),
        draft.category.map(Category::detailed).into(),
        (&draft.external_id).into(),
    ]
}

/// Updates a transaction, and returns whether it is visible.
fn update(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &SavedAccount,
    known: &KnownTransaction,
    content_now: &TransactionDraft,
) -> Result<bool> {
    mark_dirty(batch, account, &known.content, &merchant_key(&known.content.description));
    let classified = classify(batch, account, Some(known.id), content_now);
    batch.all_dirty |= batch.classifier.learned_from(known.id);
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
    ] = content(content_now, &classified);
    tx.execute(
        UPDATE,
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
            batch.stamp.into(),
            (&classified.counterparty).into(),
            classified.category.map(Category::detailed).into(),
            classified.category_source.as_str().into(),
            (&classified.key).into(),
        ],
    )?;
    Ok(content_now.pending || !classified.hidden)
}

/// Removes transactions. Returns their ids, and whether some of them were hidden.
fn remove(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &SavedAccount,
    external_ids: &[String],
) -> Result<(Vec<TransactionId>, bool)> {
    let (mut removed, mut removed_hidden) = (Vec::new(), false);
    for external_id in external_ids {
        let gone = tx.first(BY_EXTERNAL_ID, params![batch.user, account.id, external_id], read)?;
        let Some(gone) = gone else { continue };
        if gone.import != batch.id {
            batch.journal.record(tx, batch.user, RowKey::Transaction(gone.id))?;
        }
        tx.execute(REMOVE, params![batch.user, gone.id, batch.stamp])?;
        mark_dirty(batch, account, &gone.content, &merchant_key(&gone.content.description));
        removed.push(gone.id);
        removed_hidden |= gone.hidden;
    }
    Ok((removed, removed_hidden))
}

struct StoredTransaction {
    id: TransactionId,
    content: TransactionDraft,
    import: ImportId,
    hidden: bool,
}

fn read_provenance(row: &db::Row<'_>) -> db::Result<(ImportId, Arc<str>)> {
    Ok((row.get(0)?, row.get::<&str>(1)?.into()))
}

fn read(row: &db::Row<'_>) -> db::Result<StoredTransaction> {
    let currency: Currency = row.get(3)?;
    let state: TransactionState = row.get(1)?;
    Ok(StoredTransaction {
        id: row.get(0)?,
        import: row.get(11)?,
        hidden: state == TransactionState::Hidden,
        content: TransactionDraft {
            external_id: row.get(9)?,
            pending: state == TransactionState::Pending,
            settles: None,
            posted_on: date_from_days(row.get(10)?),
            authorized_on: row.get(4)?,
            amount: Money::new(row.get(2)?, currency),
            description: row.get(5)?,
            counterparty: row.get(6)?,
            counterparty_logo_url: row.get(7)?,
            category: row.optional_word(8, "category", Category::parse)?,
        },
    })
}

impl SavedAccount {
    fn currency_param(&self) -> Param<'_> {
        self.currency.code().into()
    }
}

const AROUND: &str =
    "select id, state, amount_minor, currency, authorized_on, description, told_counterparty,
    counterparty_logo_url, told_category, external_id, posted_on, import_id from transactions
    where user_id = $1 and account_id = $2 and state <> 'removed' and posted_on between $3 and $4";
// The join makes SQLite use the index on external ids; otherwise it reads all of the person's transactions. Ids of files are
// not in the index, because files may reuse them.
const BY_EXTERNAL_ID: &str =
    "select t.id, t.state, t.amount_minor, t.currency, t.authorized_on, t.description,
    t.told_counterparty, t.counterparty_logo_url, t.told_category, t.external_id, t.posted_on, t.import_id
    from transactions m join transactions t
    on t.user_id = m.user_id and t.posted_on = m.posted_on and t.id = m.id
    where m.user_id = $1 and m.account_id = $2 and m.external_id = $3
    and substr(m.external_id, 1, 5) <> 'file:' and t.state <> 'removed'";
const PROVENANCES: &str = "select i.id, i.giver from import_accounts a
    join imports i on i.user_id = a.user_id and i.id = a.import_id
    where a.user_id = $1 and a.account_id = $2 and i.giver <> ''";
// Clears the transfer, which the recomputation determines again.
const UPDATE: &str = "update transactions set posted_on = $3, state = $4, amount_minor = $5, authorized_on = $6,
    description = $7, told_counterparty = $8, counterparty_logo_url = $9, told_category = $10, external_id = $11,
    updated_at = $12, counterparty = $13, category = $14, category_stage = $15, merchant_key = $16,
    transfer_id = null, transfer_kind = null where user_id = $1 and id = $2";
const REMOVE: &str = "update transactions set state = 'removed', updated_at = $3
    where user_id = $1 and id = $2";
const COUNT: &str = "update accounts set transaction_count = transaction_count + $3
    where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] =
    &[AROUND, BY_EXTERNAL_ID, PROVENANCES, UPDATE, REMOVE, COUNT];
