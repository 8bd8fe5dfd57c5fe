//! A person's rules: the name or category of all transactions of a merchant, or with some words in their description.

use base::category::Category;
use base::{AccountId, RuleId, Timestamp, UserId};
use calc::enrich::{self, Rules, UNKNOWN, clean};
use db::{Tx, params};
use serde::{Deserialize, Serialize};

use super::merchants::merchant_name;
use super::overrides::Override;
use crate::ledger::Direction;
use crate::platform::audit::{self, Actor, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// Each transaction is compared with every rule, so there is a limit; nobody needs more.
const RULES_MAX: i64 = 1_000;
const WORDS_MAX: usize = 100;

/// The rules of a person, ready for the classifier. A rule's `id` there is its index in `ids`.
pub(super) struct RuleSet {
    pub(super) ids: Vec<RuleId>,
    pub(super) rules: Rules,
}

impl RuleSet {
    fn new(stored: Vec<(RuleId, enrich::Rule)>) -> RuleSet {
        let (ids, mut rules): (Vec<RuleId>, Vec<enrich::Rule>) = stored.into_iter().unzip();
        for (index, rule) in rules.iter_mut().enumerate() {
            rule.id = index as u64;
        }
        RuleSet { ids, rules: Rules::new(rules) }
    }
}

/// The rules of a person, inside a transaction.
pub(super) fn load(tx: &mut Tx<'_>, user: UserId) -> Result<RuleSet> {
    Ok(RuleSet::new(tx.all(RULES, params![user], read_rule)?))
}

/// The rules of a person, outside of a transaction.
pub(super) async fn fetch(app: &App, user: UserId) -> Result<RuleSet> {
    Ok(RuleSet::new(app.db.all(RULES, params![user], read_rule).await?))
}

fn read_rule(row: &db::Row<'_>) -> db::Result<(RuleId, enrich::Rule)> {
    let direction: Option<Direction> = row.get(4)?;
    let holds_from: Option<Timestamp> = row.get(8)?;
    let rule = enrich::Rule {
        id: 0,
        key: row.get(1)?,
        words: row.get(2)?,
        account: row.get(3)?,
        inflow: direction.map(|it| it == Direction::Inflow),
        from_ms: holds_from.map(|it| it.as_millisecond()),
        counterparty: row.get(5)?,
        category: row.optional_word(6, "category", Category::parse)?,
        hides: read_hides(row, 7)?,
    };
    Ok((row.get(0)?, rule))
}

/// The column holds `yes` or nothing.
fn read_hides(row: &db::Row<'_>, column: usize) -> db::Result<bool> {
    let hides = row.optional_word(column, "hides", |it| (it == HIDES).then_some(true))?;
    Ok(hides.unwrap_or(false))
}

/// A rule to create. It matches either a merchant (`like`) or words in the bank's description (`words`).
#[derive(Debug, Clone, Default)]
pub struct NewRule {
    /// The description of a transaction of the merchant.
    pub like: Option<String>,
    pub words: Option<String>,
    /// Matches only transactions of this account.
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
    /// The name or category that the rule gives to transactions. It can be empty in a rule that hides them.
    pub sets: Override,
    pub hides: bool,
    /// Whether the rule leaves transactions alone that were stored before it.
    pub from_now_on: bool,
}

/// The new contents of a rule. The merchant that it matches cannot be edited.
#[derive(Debug, Clone, Default)]
pub struct RuleEdit {
    /// Only of a rule that matches words.
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
    pub sets: Override,
    pub hides: bool,
}

pub async fn create(app: &App, caller: &Caller, new: NewRule) -> Result<RuleId> {
    caller.require_owner("rule")?;
    check(&new.sets, new.hides)?;
    if new.like.as_deref().is_some_and(|it| clean(it).key == UNKNOWN) {
        let message = "the bank's description names no merchant, so there can be no rule for it";
        return Err(Error::invalid("like", message));
    }
    let (caller, now) = (caller.clone(), app.clock.now());
    let id: RuleId = app.ids.make();
    let create = move |tx: &mut Tx<'_>| {
        save(tx, caller.user, (&caller).into(), now, (id, &new))?;
        dirty_queue::mark_all_dirty(tx, caller.user)
    };
    app.db.write(create).await?;
    Ok(id)
}

fn check(sets: &Override, hides: bool) -> Result<()> {
    if hides && sets.is_empty() { Ok(()) } else { sets.check() }
}

/// The effect of a rule, for the audit trail: "Netflix (Films), hidden".
fn effect_text(sets: &Override, hides: bool) -> String {
    let text = sets.text();
    match (hides, text.is_empty()) {
        (true, true) => "hidden".to_owned(),
        (true, false) => format!("{text}, hidden"),
        (false, _) => text,
    }
}

/// The match of a rule, for the audit trail: a merchant, or "texts with COFFEE".
fn match_text(key: Option<&str>, words: Option<&str>) -> String {
    let of_words = || words.map(|it| format!("texts with {it}"));
    key.map(merchant_name).or_else(of_words).unwrap_or_default()
}

/// Stores a rule. It replaces older rules with the same match that set no more than it does.
pub(crate) fn save(
    tx: &mut Tx<'_>,
    user: UserId,
    actor: Actor,
    now: Timestamp,
    (id, new): (RuleId, &NewRule),
) -> Result<()> {
    let key = new.like.as_deref().map(|it| clean(it).key);
    let words = new.words.as_deref().map(|it| it.trim().to_uppercase()).filter(|it| !it.is_empty());
    if key.is_some() == words.is_some() {
        let message =
            "a rule must name either a merchant or words in the bank's description, not both";
        return Err(Error::invalid("words", message));
    }
    let NewRule { account_id, direction, sets, hides, from_now_on, .. } = new;
    let (account, direction) = (*account_id, direction.map(Direction::as_str));
    let category = sets.category.map(Category::detailed);
    let name = &sets.counterparty;
    let (stored_hides, holds_from) = (hides.then_some(HIDES), from_now_on.then_some(now));
    // A rule that holds from now on leaves older transactions to the older rules, so it replaces none.
    if !from_now_on {
        let same = params![user, &key, &words, account, direction, name, category, stored_hides];
        tx.execute(REPLACE, same)?;
    }
    let count = tx.first(COUNT, params![user], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count >= RULES_MAX {
        let message = format!("you can have at most {RULES_MAX} rules; delete one first");
        return Err(Error::invalid("words", message));
    }
    let values = params![
        user,
        id,
        &key,
        &words,
        account,
        direction,
        name,
        category,
        now,
        stored_hides,
        holds_from
    ];
    tx.execute(INSERT, values)?;
    let (matched, effect) =
        (match_text(key.as_deref(), words.as_deref()), effect_text(sets, *hides));
    let details = format!("Made a rule: {matched} is {effect}");
    audit::note(tx, user, now, Note::new(actor, "rule.create", details).about(id))
}

/// A stored rule, as it is kept to be put back later.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RuleSnapshot {
    id: String,
    merchant_key: Option<String>,
    words: Option<String>,
    account: Option<String>,
    direction: Option<String>,
    counterparty: Option<String>,
    category: Option<String>,
    created_at: i64,
    #[serde(default)]
    hides: Option<String>,
    #[serde(default)]
    holds_from: Option<i64>,
}

/// Stores a rule as `save` does, and returns the rules that it replaced.
pub(crate) fn save_and_keep_replaced(
    tx: &mut Tx<'_>,
    user: UserId,
    actor: Actor,
    now: Timestamp,
    (id, new): (RuleId, &NewRule),
) -> Result<Vec<RuleSnapshot>> {
    let mut replaced = tx.all(SNAPSHOTS, params![user], read_snapshot)?;
    save(tx, user, actor, now, (id, new))?;
    let after = tx.all(SNAPSHOTS, params![user], |row| Ok(row.get::<RuleId>(0)?.to_string()))?;
    replaced.retain(|it| !after.contains(&it.id));
    Ok(replaced)
}

/// Deletes a rule and puts back those that it replaced. If the person has deleted or replaced it, nothing changes.
pub(crate) fn restore_replaced(
    tx: &mut Tx<'_>,
    user: UserId,
    id: RuleId,
    replaced: &[RuleSnapshot],
) -> Result<()> {
    if tx.execute(DELETE, params![user, id])? == 0 {
        return Ok(());
    }
    replaced.iter().try_for_each(|it| restore(tx, user, it))
}

fn restore(tx: &mut Tx<'_>, user: UserId, rule: &RuleSnapshot) -> Result<()> {
    let malformed = |_| Error::internal(format!("the snapshot of rule {} has a bad id", rule.id));
    let id = RuleId::parse(&rule.id).map_err(malformed)?;
    let account = rule.account.as_deref().map(AccountId::parse).transpose();
    let account = account.map_err(malformed)?;
    tx.execute(
        INSERT,
        params![
            user,
            id,
            &rule.merchant_key,
            &rule.words,
            account,
            &rule.direction,
            &rule.counterparty,
            &rule.category,
            rule.created_at,
            &rule.hides,
            rule.holds_from
        ],
    )?;
    Ok(())
}

fn read_snapshot(row: &db::Row<'_>) -> db::Result<RuleSnapshot> {
    let account: Option<AccountId> = row.get(3)?;
    Ok(RuleSnapshot {
        id: row.get::<RuleId>(0)?.to_string(),
        merchant_key: row.get(1)?,
        words: row.get(2)?,
        account: account.map(|it| it.to_string()),
        direction: row.get(4)?,
        counterparty: row.get(5)?,
        category: row.get(6)?,
        created_at: row.get(7)?,
        hides: row.get(8)?,
        holds_from: row.get(9)?,
    })
}

/// Replaces the contents of a rule.
pub async fn update(app: &App, caller: &Caller, rule: RuleId, edit: RuleEdit) -> Result<()> {
    caller.require_owner("rule")?;
    check(&edit.sets, edit.hides)?;
    let words = edit.words.as_deref().map(|it| it.trim().to_uppercase());
    let bad = |it: &String| {
        it.is_empty() || it.chars().count() > WORDS_MAX || it.contains(char::is_control)
    };
    let wrong_words = || {
        let message = format!("words must have 1 to {WORDS_MAX} characters on one line");
        Error::invalid("words", message)
    };
    if words.as_ref().is_some_and(bad) {
        return Err(wrong_words());
    }
    let (caller, now) = (caller.clone(), app.clock.now());
    let update = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        let found = tx.first(MERCHANT_KEY, params![user, rule], |row| row.get(0))?;
        let key: Option<String> = found.ok_or(Error::NotFound("rule"))?;
        if key.is_none() && words.is_none() {
            return Err(wrong_words());
        }
        let words = words.filter(|_| key.is_none());
        if let Some(account) = edit.account_id {
            let found = tx.first(ACCOUNT, params![user, account], |row| row.get::<AccountId>(0))?;
            found.ok_or_else(|| Error::invalid("account_id", "choose one of your accounts"))?;
        }
        let RuleEdit { account_id, direction, sets, hides, .. } = &edit;
        let category = sets.category.map(Category::detailed);
        let (direction, stored_hides) = (direction.map(Direction::as_str), hides.then_some(HIDES));
        let name = &sets.counterparty;
        let values =
            params![user, rule, &words, *account_id, direction, name, category, stored_hides];
        tx.execute(UPDATE, values)?;
        let matched = match_text(key.as_deref(), words.as_deref());
        let details = format!("Changed a rule: {matched} is {}", effect_text(sets, *hides));
        audit::note(tx, user, now, Note::new(&caller, "rule.update", details).about(rule))?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(update).await
}

/// Applies a rule to the transactions that were stored before it, too.
pub async fn apply_to_past(app: &App, caller: &Caller, rule: RuleId) -> Result<()> {
    caller.require_owner("rule")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let apply = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        if tx.execute(APPLY, params![user, rule])? == 0 {
            return Err(Error::NotFound("rule"));
        }
        let note = Note::new(&caller, "rule.apply", "Applied a rule to the past").about(rule);
        audit::note(tx, user, now, note)?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(apply).await
}

/// Deletes a rule. Its transactions are classified without it.
pub async fn delete(app: &App, caller: &Caller, rule: RuleId) -> Result<()> {
    caller.require_owner("rule")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let delete = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        if tx.execute(DELETE, params![user, rule])? == 0 {
            return Err(Error::NotFound("rule"));
        }
        let note = Note::new(&caller, "rule.delete", "Deleted a rule").about(rule);
        audit::note(tx, user, now, note)?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(delete).await
}

/// A rule as a page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub id: RuleId,
    /// The name of the merchant that it matches.
    pub merchant: Option<String>,
    /// The words in the bank's description that it matches, if it matches no merchant.
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub account_name: Option<String>,
    pub direction: Option<Direction>,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    pub hides: bool,
    /// The rule leaves transactions alone that were stored before this moment.
    pub holds_from: Option<Timestamp>,
    pub created_at: Timestamp,
}

/// All rules of the person, the newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Rule>> {
    caller.require_owner("rule")?;
    let read = |row: &db::Row<'_>| {
        let key: Option<&str> = row.get(1)?;
        Ok(Rule {
            id: row.get(0)?,
            merchant: key.map(merchant_name),
            words: row.get(2)?,
            account_name: row.get(3)?,
            direction: row.get(4)?,
            counterparty: row.get(5)?,
            category: row.optional_word(6, "category", Category::parse)?,
            created_at: row.get(7)?,
            account_id: row.get(8)?,
            hides: read_hides(row, 9)?,
            holds_from: row.get(10)?,
        })
    };
    Ok(app.db.all(LIST, params![caller.user, RULES_MAX], read).await?)
}

/// The word in the column `hides` of a rule that hides transactions.
const HIDES: &str = "yes";

const REPLACE: &str =
    "delete from rules where user_id = $1 and merchant_key is not distinct from $2
    and words is not distinct from $3 and account_id is not distinct from $4
    and direction is not distinct from $5
    and (counterparty is null or cast($6 as text) is not null)
    and (category is null or cast($7 as text) is not null)
    and (hides is null or cast($8 as text) is not null)";
const COUNT: &str = "select cast(count(*) as bigint) from rules where user_id = $1";
const INSERT: &str =
    "insert into rules (user_id, id, merchant_key, words, account_id, direction, counterparty,
    category, created_at, hides, holds_from) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const MERCHANT_KEY: &str = "select merchant_key from rules where user_id = $1 and id = $2";
const ACCOUNT: &str = "select id from accounts where user_id = $1 and id = $2";
const UPDATE: &str =
    "update rules set words = $3, account_id = $4, direction = $5, counterparty = $6,
    category = $7, hides = $8 where user_id = $1 and id = $2";
const APPLY: &str = "update rules set holds_from = null where user_id = $1 and id = $2";
const DELETE: &str = "delete from rules where user_id = $1 and id = $2";
const LIST: &str =
    "select r.id, r.merchant_key, r.words, coalesce(a.own_name, a.name), r.direction, r.counterparty, r.category,
    r.created_at, r.account_id, r.hides, r.holds_from from rules r
    left join accounts a on a.user_id = r.user_id and a.id = r.account_id
    where r.user_id = $1 order by r.created_at desc, r.id desc limit $2";

const SNAPSHOTS: &str =
    "select id, merchant_key, words, account_id, direction, counterparty, category,
    created_at, hides, holds_from from rules where user_id = $1 order by id limit 2000";
// The oldest first: of two rules that match equally well, the newer one wins.
const RULES: &str =
    "select id, merchant_key, words, account_id, direction, counterparty, category, hides, holds_from
    from rules where user_id = $1 order by created_at, id";

pub(super) const STATEMENTS: &[&str] =
    &[REPLACE, COUNT, INSERT, MERCHANT_KEY, ACCOUNT, UPDATE, APPLY, DELETE, LIST, SNAPSHOTS, RULES];
