//! A person's rules: what shall always hold, and what was said so far.

use base::category::Category;
use base::{AccountId, RuleId, Timestamp, UserId};
use calc::enrich::{Rule, Rules, UNKNOWN, clean, merchant, readable};
use db::{Tx, params};

use super::said::Word;
use crate::insights::recurring::Direction;
use crate::platform::audit::{self, Actor, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// More than anyone keeps in mind; every correction is judged by all of them.
const RULES_MAX: i64 = 1_000;
const WORDS_MAX: usize = 100;

/// The rules, ready to judge by; each is known by its place.
pub(super) struct Book {
    pub(super) ids: Vec<RuleId>,
    pub(super) rules: Rules,
}

impl Book {
    pub(super) fn new(kept: Vec<(RuleId, Rule)>) -> Book {
        let (ids, mut rules): (Vec<RuleId>, Vec<Rule>) = kept.into_iter().unzip();
        for (place, rule) in rules.iter_mut().enumerate() {
            rule.id = place as u64;
        }
        Book { ids, rules: Rules::new(rules) }
    }
}

pub(super) fn read_rule(row: &db::Row<'_>) -> db::Result<(RuleId, Rule)> {
    let (direction, category): (Option<&str>, Option<&str>) = (row.get(4)?, row.get(6)?);
    let (hides, holds_from): (Option<&str>, Option<Timestamp>) = (row.get(7)?, row.get(8)?);
    let rule = Rule {
        id: 0,
        key: row.get(1)?,
        words: row.get(2)?,
        account: row.get(3)?,
        inflow: direction.map(|it| it == "inflow"),
        from_ms: holds_from.map(|it| it.as_millisecond()),
        counterparty: row.get(5)?,
        category: category.and_then(Category::parse),
        hides: hides.is_some(),
    };
    Ok((row.get(0)?, rule))
}

/// What shall always hold: for a merchant, or for words in the bank's text.
#[derive(Debug, Clone, Default)]
pub struct NewRule {
    /// A description of such a transaction; the rule holds for its merchant.
    pub like: Option<String>,
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
    pub word: Word,
    /// Whether such transactions are not to be seen; it need not say anything else then.
    pub hides: bool,
    /// Whether what came in so far is left alone.
    pub from_now_on: bool,
}

/// What a rule says after it was edited. The merchant it is about stays.
#[derive(Debug, Clone, Default)]
pub struct RuleEdit {
    /// Only of a rule that looks for words.
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
    pub word: Word,
    pub hides: bool,
}

pub async fn create_rule(app: &App, caller: &Caller, new: NewRule) -> Result<RuleId> {
    caller.require_owner("rule")?;
    check(&new.word, new.hides)?;
    if new.like.as_deref().is_some_and(|it| clean(it).key == UNKNOWN) {
        let message = "the bank's text names nobody, so no rule can be made of it";
        return Err(Error::invalid("like", message));
    }
    let (caller, now) = (caller.clone(), app.clock.now());
    let id: RuleId = app.ids.make();
    let create = move |tx: &mut Tx<'_>| {
        save(tx, caller.user, (&caller).into(), now, (id, &new))?;
        dirty_queue::mark_all_dirty(tx, caller.user, now)
    };
    app.db.write(create).await?;
    Ok(id)
}

fn check(word: &Word, hides: bool) -> Result<()> {
    if hides && word.is_empty() { Ok(()) } else { word.check() }
}

/// What it says, for the audit trail.
fn text(word: &Word, hides: bool) -> String {
    let said = word.text();
    match (hides, said.is_empty()) {
        (true, true) => "hidden".to_owned(),
        (true, false) => format!("{said}, hidden"),
        (false, _) => said,
    }
}

/// A rule that says all that an older one of the same kind says takes its place.
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
        let message = "a rule must name a merchant or words in the bank's text, and not both";
        return Err(Error::invalid("words", message));
    }
    let NewRule { account_id, direction, word, hides, from_now_on, .. } = new;
    let (account, direction) = (*account_id, direction.map(Direction::as_str));
    let category = word.category.map(Category::detailed);
    let name = &word.counterparty;
    let (yes, holds_from) = (hides.then_some("yes"), from_now_on.then_some(now));
    // For what came in before it, the older one still holds.
    if !from_now_on {
        let said = params![user, &key, &words, account, direction, name, category, yes];
        tx.execute(REPLACE, said)?;
    }
    let count = tx.first(COUNT, params![user], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count >= RULES_MAX {
        let message = format!("{RULES_MAX} rules are the most there can be; delete one first");
        return Err(Error::invalid("words", message));
    }
    let values =
        params![user, id, &key, &words, account, direction, name, category, now, yes, holds_from];
    tx.execute(SAVE, values)?;
    let of = key.as_deref().map(merchant_name).or(words.map(|it| format!("texts with {it}")));
    let details = format!("Made a rule: {} is {}", of.unwrap_or_default(), text(word, *hides));
    audit::note(tx, user, now, Note::new(actor, "rule.create", details).about(id))
}

/// A merchant's key as people write it.
pub(crate) fn merchant_name(key: &str) -> String {
    merchant(key).map_or_else(|| readable(key), |it| it.name.to_owned())
}

/// Makes a rule say something else; what it said is judged anew.
pub async fn update_rule(app: &App, caller: &Caller, rule: RuleId, edit: RuleEdit) -> Result<()> {
    caller.require_owner("rule")?;
    check(&edit.word, edit.hides)?;
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
        let found = tx.first(ABOUT, params![user, rule], |row| {
            Ok((row.get::<Option<String>>(0)?, row.get::<Option<String>>(1)?))
        })?;
        let (key, _) = found.ok_or(Error::NotFound("rule"))?;
        if key.is_none() && words.is_none() {
            return Err(wrong_words());
        }
        let words = words.filter(|_| key.is_none());
        if let Some(account) = edit.account_id {
            let there = tx.first(ACCOUNT, params![user, account], |row| row.get::<AccountId>(0))?;
            there.ok_or_else(|| Error::invalid("account_id", "choose one of your accounts"))?;
        }
        let RuleEdit { account_id, direction, word, hides, .. } = &edit;
        let category = word.category.map(Category::detailed);
        let (direction, yes) = (direction.map(Direction::as_str), hides.then_some("yes"));
        let name = &word.counterparty;
        let values = params![user, rule, &words, *account_id, direction, name, category, yes];
        tx.execute(UPDATE, values)?;
        let of = key.as_deref().map(merchant_name).or(words.map(|it| format!("texts with {it}")));
        let details =
            format!("Changed a rule: {} is {}", of.unwrap_or_default(), text(word, *hides));
        audit::note(tx, user, now, Note::new(&caller, "rule.update", details).about(rule))?;
        dirty_queue::mark_all_dirty(tx, user, now)
    };
    app.db.write(update).await
}

/// Lets a rule hold for what came in before it, too.
pub async fn apply_rule_to_past(app: &App, caller: &Caller, rule: RuleId) -> Result<()> {
    caller.require_owner("rule")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let apply = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        if tx.execute(APPLY, params![user, rule])? == 0 {
            return Err(Error::NotFound("rule"));
        }
        let note = Note::new(&caller, "rule.apply", "Applied a rule to the past").about(rule);
        audit::note(tx, user, now, note)?;
        dirty_queue::mark_all_dirty(tx, user, now)
    };
    app.db.write(apply).await
}

/// Forgets a rule; what it said is judged anew.
pub async fn delete_rule(app: &App, caller: &Caller, rule: RuleId) -> Result<()> {
    caller.require_owner("rule")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let forget = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        if tx.execute(FORGET, params![user, rule])? == 0 {
            return Err(Error::NotFound("rule"));
        }
        let note = Note::new(&caller, "rule.delete", "Deleted a rule").about(rule);
        audit::note(tx, user, now, note)?;
        dirty_queue::mark_all_dirty(tx, user, now)
    };
    app.db.write(forget).await
}

/// A rule as it is kept, in the words of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRule {
    pub id: RuleId,
    /// The merchant it holds for.
    pub merchant: Option<String>,
    /// Or the words it looks for in the bank's text.
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub account_name: Option<String>,
    pub direction: Option<Direction>,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    pub hides: bool,
    /// It leaves alone what came in before.
    pub holds_from: Option<Timestamp>,
    pub created_at: Timestamp,
}

/// All of them, the newest first.
pub async fn rules(app: &App, caller: &Caller) -> Result<Vec<KeptRule>> {
    caller.require_owner("rule")?;
    let read = |row: &db::Row<'_>| {
        let key: Option<&str> = row.get(1)?;
        let (direction, category): (Option<&str>, Option<&str>) = (row.get(4)?, row.get(6)?);
        Ok(KeptRule {
            id: row.get(0)?,
            merchant: key.map(merchant_name),
            words: row.get(2)?,
            account_name: row.get(3)?,
            direction: direction.and_then(Direction::parse),
            counterparty: row.get(5)?,
            category: category.and_then(Category::parse),
            created_at: row.get(7)?,
            account_id: row.get(8)?,
            hides: row.get::<Option<&str>>(9)?.is_some(),
            holds_from: row.get(10)?,
        })
    };
    Ok(app.db.all(LIST, params![caller.user, RULES_MAX], read).await?)
}

const REPLACE: &str =
    "delete from rules where user_id = $1 and merchant_key is not distinct from $2
    and words is not distinct from $3 and account_id is not distinct from $4
    and direction is not distinct from $5
    and (counterparty is null or cast($6 as text) is not null)
    and (category is null or cast($7 as text) is not null)
    and (hides is null or cast($8 as text) is not null)";
const COUNT: &str = "select cast(count(*) as bigint) from rules where user_id = $1";
const SAVE: &str =
    "insert into rules (user_id, id, merchant_key, words, account_id, direction, counterparty,
    category, created_at, hides, holds_from) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const ABOUT: &str = "select merchant_key, words from rules where user_id = $1 and id = $2";
const ACCOUNT: &str = "select id from accounts where user_id = $1 and id = $2";
const UPDATE: &str =
    "update rules set words = $3, account_id = $4, direction = $5, counterparty = $6,
    category = $7, hides = $8 where user_id = $1 and id = $2";
const APPLY: &str = "update rules set holds_from = null where user_id = $1 and id = $2";
const FORGET: &str = "delete from rules where user_id = $1 and id = $2";
const LIST: &str =
    "select r.id, r.merchant_key, r.words, coalesce(a.own_name, a.name), r.direction, r.counterparty, r.category,
    r.created_at, r.account_id, r.hides, r.holds_from from rules r left join accounts a on a.user_id = r.user_id and a.id = r.account_id
    where r.user_id = $1 order by r.created_at desc, r.id desc limit $2";

// The oldest first: of two that say as much, the newer holds.
pub(super) const RULES: &str =
    "select id, merchant_key, words, account_id, direction, counterparty, category, hides, holds_from
    from rules where user_id = $1 order by created_at, id";

pub(super) const STATEMENTS: &[&str] =
    &[REPLACE, COUNT, SAVE, ABOUT, ACCOUNT, UPDATE, APPLY, FORGET, LIST, RULES];
