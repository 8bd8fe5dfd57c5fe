//! A person's rules: what shall always hold, and what was said so far.

use base::category::Category;
use base::{AccountId, RuleId, Timestamp, UserId};
use calc::enrich::{clean, merchant, readable};
use db::{Tx, params};

use super::said::Word;
use crate::audit::{self, Actor, Note};
use crate::recurring::Direction;
use crate::{App, Caller, Error, Result, insights};

/// More than anyone keeps in mind; every correction is judged by all of them.
const RULES_MAX: i64 = 1_000;

/// What shall always hold: for a merchant, or for words in the bank's text.
#[derive(Debug, Clone, Default)]
pub struct NewRule {
    /// A description of such a transaction; the rule holds for its merchant.
    pub like: Option<String>,
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
    pub word: Word,
}

pub async fn create_rule(app: &App, caller: &Caller, new: NewRule) -> Result<RuleId> {
    caller.require_owner("rule")?;
    new.word.check()?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let id: RuleId = app.ids.make();
    let create = move |tx: &mut Tx<'_>| {
        save(tx, caller.user, (&caller).into(), now, (id, &new))?;
        insights::touch_everything(tx, caller.user, now)
    };
    app.db.write(create).await?;
    Ok(id)
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
    let NewRule { account_id, direction, word, .. } = new;
    let (account, direction) = (*account_id, direction.map(Direction::as_str));
    let category = word.category.map(Category::detailed);
    let name = &word.counterparty;
    tx.execute(REPLACE, params![user, &key, &words, account, direction, name, category])?;
    let count = tx.first(COUNT, params![user], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count >= RULES_MAX {
        let message = format!("{RULES_MAX} rules are the most there can be; delete one first");
        return Err(Error::invalid("words", message));
    }
    let values = params![user, id, &key, &words, account, direction, name, category, now];
    tx.execute(SAVE, values)?;
    let of = key.as_deref().map(merchant_name).or(words.map(|it| format!("texts with {it}")));
    let details = format!("Made a rule: {} is {}", of.unwrap_or_default(), word.text());
    audit::note(tx, user, now, Note::new(actor, "rule.create", details).about(id))
}

/// A merchant's key as people write it.
pub(crate) fn merchant_name(key: &str) -> String {
    merchant(key).map_or_else(|| readable(key), |it| it.name.to_owned())
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
        insights::touch_everything(tx, user, now)
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
    pub account_name: Option<String>,
    pub direction: Option<Direction>,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
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
        })
    };
    Ok(app.db.all(LIST, params![caller.user, RULES_MAX], read).await?)
}

const REPLACE: &str =
    "delete from rules where user_id = $1 and merchant_key is not distinct from $2
    and words is not distinct from $3 and account_id is not distinct from $4
    and direction is not distinct from $5
    and (counterparty is null or cast($6 as text) is not null)
    and (category is null or cast($7 as text) is not null)";
const COUNT: &str = "select cast(count(*) as bigint) from rules where user_id = $1";
const SAVE: &str =
    "insert into rules (user_id, id, merchant_key, words, account_id, direction, counterparty,
    category, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const FORGET: &str = "delete from rules where user_id = $1 and id = $2";
const LIST: &str =
    "select r.id, r.merchant_key, r.words, coalesce(a.own_name, a.name), r.direction, r.counterparty, r.category,
    r.created_at from rules r left join accounts a on a.user_id = r.user_id and a.id = r.account_id
    where r.user_id = $1 order by r.created_at desc, r.id desc limit $2";

pub(super) const STATEMENTS: &[&str] = &[REPLACE, COUNT, SAVE, FORGET, LIST];
