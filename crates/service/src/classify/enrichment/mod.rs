//! What a transaction is: who is at the other end, of which category, and by whose word. The person's word comes
//! first, then their rules, then what the accounts, the source and our tables say.

mod reach;
mod rules;
mod said;
mod settle;

use std::collections::HashMap;

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, TransactionId, UserId};
pub use calc::enrich::Stage;
use calc::enrich::{Cleaned, Enriched, Facts, Fix, History, Sample, clean, enrich};
use calc::transfers::Kind;
use db::{Tx, params};

use crate::Result;
use crate::classify::recompute::Recompute;

pub(crate) use reach::hiding_rule;
pub use reach::{Reach, reaches};
pub(crate) use rules::merchant_name;
pub(crate) use rules::save as save_rule;
use rules::{Book, RULES, read_rule};
pub use rules::{
    KeptRule, NewRule, RuleEdit, apply_rule_to_past, create_rule, delete_rule, rules, update_rule,
};
pub(crate) use said::{FIXED_MAX, save_fix};
pub use said::{Word, fix, fix_always, fix_from_now_on, unfix};
pub(crate) use settle::{reclassify, settle, state};

/// What the source says of a transaction beside its text. One that is new has no id yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) id: Option<TransactionId>,
    pub(crate) account: AccountId,
    pub(crate) amount_minor: i64,
    pub(crate) counterparty: Option<&'a str>,
    pub(crate) category: Option<Category>,
}

/// Everything that the person has said about what transactions are.
pub(crate) struct Desk {
    book: Book,
    fixes: HashMap<TransactionId, Fix>,
    history: History,
}

impl Desk {
    pub(crate) fn open(tx: &mut Tx<'_>, user: UserId) -> Result<Desk> {
        let fixes = tx.all(FIXES, params![user], read_fix)?;
        let book = Book::new(tx.all(RULES, params![user], read_rule)?);
        let history = if fixes.is_empty() { History::empty() } else { history(tx, user)? };
        Ok(Desk { book, fixes: fixes.into_iter().collect(), history })
    }

    /// Whether some rule hides transactions.
    pub(crate) fn hides(&self) -> bool {
        self.book.rules.iter().any(|it| it.hides)
    }

    /// Whether the person's word on a transaction teaches something about others.
    pub(crate) fn teaches(&self, id: TransactionId) -> bool {
        self.fixes.get(&id).is_some_and(|it| it.category.is_some())
    }

    /// What a transaction is, given the kind of move between own accounts it is part of, if any.
    pub(crate) fn judge(
        &self,
        run: &Recompute,
        told: &Told<'_>,
        cleaned: &Cleaned,
        transfer: Option<Kind>,
    ) -> Enriched {
        let account = run.account(told.account);
        let kind = account.map_or(AccountKind::Other, |it| it.kind);
        let subtype = account.and_then(|it| it.subtype.as_deref());
        self.judge_on((kind, subtype), told, cleaned, transfer)
    }

    /// The same for an account that is just being brought in.
    pub(crate) fn judge_on(
        &self,
        (account_kind, account_subtype): (AccountKind, Option<&str>),
        told: &Told<'_>,
        cleaned: &Cleaned,
        transfer: Option<Kind>,
    ) -> Enriched {
        let facts = Facts {
            account: told.account,
            inflow: told.amount_minor > 0,
            amount_minor: told.amount_minor.saturating_abs(),
            account_kind,
            account_subtype,
            told_counterparty: told.counterparty,
            told_category: told.category,
            transfer,
            came_at_ms: told.id.map(came_at_ms),
            fix: told.id.and_then(|it| self.fixes.get(&it)),
        };
        enrich(cleaned, &facts, &self.book.rules, &self.history)
    }
}

/// What the person's corrections teach about transactions they have not looked at.
fn history(tx: &mut Tx<'_>, user: UserId) -> Result<History> {
    let rows = tx.all(SAMPLES, params![user], |row| {
        // Outer joins, so that both engines begin with the few corrections; what they were about may be gone.
        let (description, category): (Option<&str>, &str) = (row.get(0)?, row.get(1)?);
        let (amount_minor, kind): (Option<i64>, Option<&str>) = (row.get(2)?, row.get(3)?);
        let kind = kind.and_then(AccountKind::parse).unwrap_or(AccountKind::Other);
        let key = description.map(|it| clean(it).key).unwrap_or_default();
        let category = description.and_then(|_| Category::parse(category));
        Ok((key, category, amount_minor.unwrap_or(0), kind))
    })?;
    let samples = rows.iter().filter_map(|(key, category, amount_minor, account_kind)| {
        let sample = Sample {
            key,
            inflow: *amount_minor > 0,
            amount_minor: amount_minor.saturating_abs(),
            account_kind: *account_kind,
        };
        Some((sample, (*category)?))
    });
    Ok(History::train(samples))
}

fn read_fix(row: &db::Row<'_>) -> db::Result<(TransactionId, Fix)> {
    let category: Option<&str> = row.get(2)?;
    let fix = Fix { counterparty: row.get(1)?, category: category.and_then(Category::parse) };
    Ok((row.get(0)?, fix))
}

/// A transaction's id says when it came in.
fn came_at_ms(id: TransactionId) -> i64 {
    let time = id.as_bytes().iter().take(6);
    time.fold(0, |so_far, byte| so_far << 8 | i64::from(*byte))
}

const FIXES: &str =
    "select transaction_id, counterparty, category from transaction_fixes where user_id = $1";
const SAMPLES: &str =
    "select t.description, f.category, t.amount_minor, a.kind from transaction_fixes f
    left join transactions t on t.user_id = f.user_id and t.id = f.transaction_id
    left join accounts a on a.user_id = t.user_id and a.id = t.account_id
    where f.user_id = $1 and f.category is not null";

pub(crate) fn statements() -> Vec<&'static str> {
    let own = [FIXES, SAMPLES];
    let settle = settle::STATEMENTS.concat();
    [&own[..], reach::STATEMENTS, rules::STATEMENTS, said::STATEMENTS, &settle].concat()
}
