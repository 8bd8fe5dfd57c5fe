//! A person's rules: the name or category of all transactions of a merchant, with some words in their description, or of
//! an amount.

use base::category::Category;
use base::{AccountId, Currency, RuleId, Timestamp, UserId};
use calc::enrich::{self, AmountRange, Rules, UNKNOWN, clean, precedence};
use db::{Tx, params};

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
    Ok(RuleSet::new(fetch_stored(app, user).await?))
}

/// The stored rules of a person, the oldest first.
pub(super) async fn fetch_stored(app: &App, user: UserId) -> Result<Vec<(RuleId, enrich::Rule)>> {
    Ok(app.db.all(RULES, params![user], read_rule).await?)
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
        amounts: read_amounts(row, 9)?,
        position: row.get(12)?,
        from_ms: holds_from.map(|it| it.as_millisecond()),
        counterparty: row.get(5)?,
        category: row.optional_word(6, "category", Category::parse)?,
        hides: read_hides(row, 7)?,
    };
    Ok((row.get(0)?, rule))
}

/// The columns with the currency, the least and the most amount.
fn read_amounts(row: &db::Row<'_>, column: usize) -> db::Result<Option<AmountRange>> {
    let currency: Option<Currency> = row.get(column)?;
    let Some(currency) = currency else { return Ok(None) };
    let (least_minor, most_minor) = (row.get(column + 1)?, row.get(column + 2)?);
    Ok(Some(AmountRange { currency, least_minor, most_minor }))
}

/// The column holds `yes` or nothing.
fn read_hides(row: &db::Row<'_>, column: usize) -> db::Result<bool> {
    let hides = row.optional_word(column, "hides", |it| (it == HIDES).then_some(true))?;
    Ok(hides.unwrap_or(false))
}

/// A rule to create. It matches transactions that meet all conditions given, at least a merchant (`like`), words in the
/// bank's description (`words`), an account or an amount.
#[derive(Debug, Clone, Default)]
pub struct NewRule {
    /// The description of a transaction of the merchant.
    pub like: Option<String>,
    pub words: Option<String>,
    /// Matches only transactions of this account.
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
    pub amounts: Option<AmountRange>,
    /// The name or category that the rule gives to transactions. It can be empty in a rule that hides them.
    pub sets: Override,
    pub hides: bool,
    /// Whether the rule leaves transactions alone that were stored before it.
    pub from_now_on: bool,
}

/// The new contents of a rule. The merchant that it matches cannot be edited.
#[derive(Debug, Clone, Default)]
pub struct RuleEdit {
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
    pub amounts: Option<AmountRange>,
    pub sets: Override,
    pub hides: bool,
}

/// A rule that was created.
#[derive(Debug, Clone)]
pub struct CreatedRule {
    pub id: RuleId,
    /// The older rules with the same conditions that it replaced.
    pub replaced: Vec<RuleId>,
}

pub async fn create(app: &App, caller: &Caller, new: NewRule) -> Result<CreatedRule> {
    caller.require_owner("rule")?;
    check(&new.sets, new.hides, new.amounts)?;
    if new.like.as_deref().is_some_and(|it| clean(it).key == UNKNOWN) {
        return Err(no_merchant());
    }
    let (caller, now) = (caller.clone(), app.clock.now());
    let id: RuleId = app.ids.make();
    let create = move |tx: &mut Tx<'_>| {
        let replaced = save(tx, caller.user, (&caller).into(), now, (id, &new))?;
        dirty_queue::mark_all_dirty(tx, caller.user)?;
        Ok(CreatedRule { id, replaced })
    };
    app.db.write(create).await
}

pub(super) fn check(sets: &Override, hides: bool, amounts: Option<AmountRange>) -> Result<()> {
    if let Some(AmountRange { least_minor, most_minor, .. }) = amounts {
        let is_reversed = least_minor.zip(most_minor).is_some_and(|(least, most)| least > most);
        if is_reversed || [least_minor, most_minor].into_iter().flatten().any(|it| it < 0) {
            let message = "the smallest amount must not be negative or larger than the largest";
            return Err(Error::invalid("amount_least", message));
        }
    }
    if hides && sets.is_empty() { Ok(()) } else { sets.check() }
}

pub(super) fn no_merchant() -> Error {
    let message = "the bank's description names no merchant, so there can be no rule for it";
    Error::invalid("like", message)
}

/// Checks that a rule has a condition besides the direction, so that it does not change everything.
pub(super) fn check_conditions(has_condition: bool) -> Result<()> {
    if has_condition {
        return Ok(());
    }
    let message = "enter a merchant, words, an amount or an account";
    Err(Error::invalid("words", message))
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
    key.map(merchant_name)
        .or_else(of_words)
        .unwrap_or_else(|| "every matching transaction".to_owned())
}

/// Stores a rule. It replaces older rules with the same match that set no more than it does, and returns them.
pub(crate) fn save(
    tx: &mut Tx<'_>,
    user: UserId,
    actor: Actor,
    now: Timestamp,
    (id, new): (RuleId, &NewRule),
) -> Result<Vec<RuleId>> {
    let key = new.like.as_deref().map(|it| clean(it).key);
    let words = new.words.as_deref().map(|it| it.trim().to_uppercase()).filter(|it| !it.is_empty());
    let NewRule { account_id, direction, amounts, sets, hides, from_now_on, .. } = new;
    let has_text = key.is_some() || words.is_some();
    check_conditions(has_text || account_id.is_some() || amounts.is_some())?;
    let (currency, least, most) = stored_amounts(*amounts);
    let (account, direction) = (*account_id, direction.map(Direction::as_str));
    let category = sets.category.map(Category::detailed);
    let name = &sets.counterparty;
    let (stored_hides, holds_from) = (hides.then_some(HIDES), from_now_on.then_some(now));
    // A rule that holds from now on leaves older transactions to the older rules, so it replaces none.
    let mut replaced = Vec::new();
    if !from_now_on {
        let same = params![
            user,
            &key,
            &words,
            account,
            direction,
            name,
            category,
            stored_hides,
            &currency,
            least,
            most
        ];
        replaced = tx.all(REPLACE, same, |row| row.get(0))?;
    }
    let count = tx.first(COUNT, params![user], |row| row.get::<i64>(0))?.unwrap_or(0);
    if count >= RULES_MAX {
        let message = format!("you can have at most {RULES_MAX} rules; delete one first");
        return Err(Error::invalid("words", message));
    }
    let top = tx.first(TOP, params![user], |row| row.get::<Option<i64>>(0))?.flatten();
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
        holds_from,
        &currency,
        least,
        most,
        top.map(|it| it.saturating_sub(1))
    ];
    tx.execute(INSERT, values)?;
    let (matched, effect) =
        (match_text(key.as_deref(), words.as_deref()), effect_text(sets, *hides));
    let instead = match replaced.len() {
        0 => "",
        1 => ", instead of an older rule",
        _ => ", instead of older rules",
    };
    let details = format!("Made a rule: {matched} is {effect}{instead}");
    audit::note(tx, user, now, Note::new(actor, "rule.create", details).about(id))?;
    Ok(replaced)
}

fn stored_amounts(amounts: Option<AmountRange>) -> (Option<String>, Option<i64>, Option<i64>) {
    let currency = amounts.map(|it| it.currency.code().to_owned());
    (currency, amounts.and_then(|it| it.least_minor), amounts.and_then(|it| it.most_minor))
}

/// Replaces the contents of a rule.
pub async fn update(app: &App, caller: &Caller, rule: RuleId, edit: RuleEdit) -> Result<()> {
    caller.require_owner("rule")?;
    check(&edit.sets, edit.hides, edit.amounts)?;
    let words = edit.words.as_deref().map(|it| it.trim().to_uppercase());
    let words = words.filter(|it| !it.is_empty());
    let is_bad = |it: &String| it.chars().count() > WORDS_MAX || it.contains(char::is_control);
    if words.as_ref().is_some_and(is_bad) {
        let message = format!("words can have up to {WORDS_MAX} characters on one line");
        return Err(Error::invalid("words", message));
    }
    let (caller, now) = (caller.clone(), app.clock.now());
    let update = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        let found = tx.first(MERCHANT_KEY, params![user, rule], |row| row.get(0))?;
        let key: Option<String> = found.ok_or(Error::NotFound("rule"))?;
        let has_text = key.is_some() || words.is_some();
        check_conditions(has_text || edit.account_id.is_some() || edit.amounts.is_some())?;
        if let Some(account) = edit.account_id {
            let found = tx.first(ACCOUNT, params![user, account], |row| row.get::<AccountId>(0))?;
            found.ok_or_else(|| Error::invalid("account_id", "choose one of your accounts"))?;
        }
        let RuleEdit { account_id, direction, amounts, sets, hides, .. } = &edit;
        let (currency, least, most) = stored_amounts(*amounts);
        let category = sets.category.map(Category::detailed);
        let (direction, stored_hides) = (direction.map(Direction::as_str), hides.then_some(HIDES));
        let name = &sets.counterparty;
        let values = params![
            user,
            rule,
            &words,
            *account_id,
            direction,
            name,
            category,
            stored_hides,
            &currency,
            least,
            most
        ];
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
    /// The words in the bank's description that it matches.
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub account_name: Option<String>,
    pub direction: Option<Direction>,
    pub amounts: Option<AmountRange>,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    pub hides: bool,
    /// The rule leaves transactions alone that were stored before this moment.
    pub holds_from: Option<Timestamp>,
    pub created_at: Timestamp,
}

/// All rules of the person, in the order in which they apply.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Rule>> {
    caller.require_owner("rule")?;
    let mut age = 0;
    let read = |row: &db::Row<'_>| {
        let key: Option<&str> = row.get(1)?;
        let account: Option<AccountId> = row.get(8)?;
        age += 1;
        let place = precedence(row.get(14)?, (key.is_some(), account.is_some()), age);
        let rule = Rule {
            id: row.get(0)?,
            merchant: key.map(merchant_name),
            words: row.get(2)?,
            account_name: row.get(3)?,
            direction: row.get(4)?,
            counterparty: row.get(5)?,
            category: row.optional_word(6, "category", Category::parse)?,
            created_at: row.get(7)?,
            account_id: account,
            hides: read_hides(row, 9)?,
            holds_from: row.get(10)?,
            amounts: read_amounts(row, 11)?,
        };
        Ok((place, rule))
    };
    let mut rules = app.db.all(LIST, params![caller.user, RULES_MAX], read).await?;
    rules.sort_by_key(|(place, _)| *place);
    Ok(rules.into_iter().map(|(_, rule)| rule).collect())
}

/// The word in the column `hides` of a rule that hides transactions.
const HIDES: &str = "yes";

const REPLACE: &str =
    "delete from rules where user_id = $1 and merchant_key is not distinct from $2
    and words is not distinct from $3 and account_id is not distinct from $4
    and direction is not distinct from $5 and amount_currency is not distinct from $9
    and amount_least is not distinct from $10 and amount_most is not distinct from $11
    and (counterparty is null or cast($6 as text) is not null)
    and (category is null or cast($7 as text) is not null)
    and (hides is null or cast($8 as text) is not null) returning id";
const COUNT: &str = "select cast(count(*) as bigint) from rules where user_id = $1";
pub(super) const INSERT: &str =
    "insert into rules (user_id, id, merchant_key, words, account_id, direction, counterparty,
    category, created_at, hides, holds_from, amount_currency, amount_least, amount_most, position)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
const TOP: &str = "select min(position) from rules where user_id = $1";
const MERCHANT_KEY: &str = "select merchant_key from rules where user_id = $1 and id = $2";
const ACCOUNT: &str = "select id from accounts where user_id = $1 and id = $2";
const UPDATE: &str =
    "update rules set words = $3, account_id = $4, direction = $5, counterparty = $6,
    category = $7, hides = $8, amount_currency = $9, amount_least = $10, amount_most = $11
    where user_id = $1 and id = $2";
const APPLY: &str = "update rules set holds_from = null where user_id = $1 and id = $2";
pub(super) const DELETE: &str = "delete from rules where user_id = $1 and id = $2";
const LIST: &str =
    "select r.id, r.merchant_key, r.words, coalesce(a.own_name, a.name), r.direction, r.counterparty, r.category,
    r.created_at, r.account_id, r.hides, r.holds_from, r.amount_currency, r.amount_least, r.amount_most, r.position
    from rules r
    left join accounts a on a.user_id = r.user_id and a.id = r.account_id
    where r.user_id = $1 order by r.created_at, r.id limit $2";

// The oldest first: of two rules that match equally well, the newer one wins.
const RULES: &str =
    "select id, merchant_key, words, account_id, direction, counterparty, category, hides, holds_from,
    amount_currency, amount_least, amount_most, position from rules where user_id = $1 order by created_at, id";

pub(super) const STATEMENTS: &[&str] =
    &[REPLACE, COUNT, TOP, INSERT, MERCHANT_KEY, ACCOUNT, UPDATE, APPLY, DELETE, LIST, RULES];
