//! How far a person's rules reach: what each decides now, and what it would change of what came in before it.

use std::collections::{BTreeSet, HashMap};

use base::category::Category;
use base::{AccountId, RuleId, TransactionId, UserId};
use calc::enrich::{Fix, Rule, Subject, clean};
use db::params;

use super::{Book, FIXES, RULES, came_at_ms, read_fix, read_rule};
use crate::ledger::accounts;
use crate::{App, Caller, Result};

/// The newest transactions that are looked at where an index does not answer.
const WALKED_MAX: i64 = 200_000;
/// More lookups in an index than this cost as much as a walk over everything.
const LOOKUPS_MAX: usize = 1_000;

/// How many transactions a rule is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// It gives them their name or their category, or hides them.
    pub decides: i64,
    /// They came in before it, and would read differently if it held for them too.
    pub would_change: i64,
}

/// Of every rule that the person has.
pub async fn reaches(app: &App, caller: &Caller) -> Result<HashMap<RuleId, Reach>> {
    caller.require_owner("rule")?;
    let user = caller.user;
    let book = Book::new(app.db.all(RULES, params![user], read_rule).await?);
    if book.ids.is_empty() {
        return Ok(HashMap::new());
    }
    let fixes = app.db.all(FIXES, params![user], read_fix).await?.into_iter().collect();
    let accounts: Vec<AccountId> =
        accounts::all(app, caller).await?.into_iter().map(|it| it.id).collect();
    let mut tally = Tally { reaches: vec![Reach::default(); book.ids.len()], book: &book, fixes };
    let by_merchant_alone = |it: &Rule| it.words.is_none() && it.from_ms.is_none();
    let lookups = accounts.len() * book.rules.keys().count();
    if book.rules.iter().all(by_merchant_alone) && lookups <= LOOKUPS_MAX {
        tally.look_up(app, user, &accounts).await?;
    } else {
        tally.walk(app, user).await?;
    }
    let Tally { reaches, .. } = tally;
    Ok(book.ids.iter().copied().zip(reaches).collect())
}

/// A transaction as it is stored.
struct Seen<'a> {
    id: TransactionId,
    subject: Subject<'a>,
    pending: bool,
    counterparty: Option<&'a str>,
    category: Option<Category>,
    hidden: bool,
}

struct Tally<'a> {
    book: &'a Book,
    fixes: HashMap<TransactionId, Fix>,
    reaches: Vec<Reach>,
}

type Says = fn(&Rule) -> bool;
type Differs = fn(&Rule, &Seen<'_>) -> bool;

impl Tally<'_> {
    async fn look_up(&mut self, app: &App, user: UserId, accounts: &[AccountId]) -> Result<()> {
        let book = self.book;
        for account in accounts {
            for key in book.rules.keys() {
                let of_merchant = params![user, *account, key];
                let count = |row: &db::Row<'_>| {
                    let (amount_minor, state): (i64, &str) = (row.get(1)?, row.get(2)?);
                    let inflow = amount_minor > 0;
                    self.count(&Seen {
                        id: row.get(0)?,
                        subject: Subject { key, text: "", account: *account, inflow },
                        pending: state == "pending",
                        counterparty: None,
                        category: None,
                        hidden: state == "hidden",
                    });
                    Ok(())
                };
                app.db.each_slow(OF_MERCHANT, of_merchant, count).await?;
            }
        }
        Ok(())
    }

    async fn walk(&mut self, app: &App, user: UserId) -> Result<()> {
        let wants_text = self.book.rules.iter().any(|it| it.words.is_some());
        // Banks repeat themselves, and reading their text costs most.
        let mut texts: HashMap<String, String> = HashMap::new();
        let count = |row: &db::Row<'_>| {
            let (amount_minor, state): (i64, &str) = (row.get(2)?, row.get(3)?);
            let (key, category): (Option<&str>, Option<&str>) = (row.get(4)?, row.get(6)?);
            let description: &str = row.get(7)?;
            if wants_text && !texts.contains_key(description) {
                texts.insert(description.to_owned(), clean(description).text);
            }
            self.count(&Seen {
                id: row.get(0)?,
                subject: Subject {
                    key: key.unwrap_or_default(),
                    text: texts.get(description).map_or("", String::as_str),
                    account: row.get(1)?,
                    inflow: amount_minor > 0,
                },
                pending: state == "pending",
                counterparty: row.get(5)?,
                category: category.and_then(Category::parse),
                hidden: state == "hidden",
            });
            Ok(())
        };
        Ok(app.db.each_slow(WALK, params![user, WALKED_MAX], count).await?)
    }

    /// Of each thing that rules say, the first that holds decides; those before it that came too late would.
    fn count(&mut self, seen: &Seen<'_>) {
        let (came, fix) = (Some(came_at_ms(seen.id)), self.fixes.get(&seen.id));
        let named = fix.is_some_and(|it| it.counterparty.is_some());
        let sorted = fix.is_some_and(|it| it.category.is_some());
        let things: [(bool, Says, Differs); 3] = [
            (
                !named,
                |it| it.counterparty.is_some(),
                |it, seen| it.counterparty.as_deref() != seen.counterparty,
            ),
            (!sorted, |it| it.category.is_some(), |it, seen| it.category != seen.category),
            (!seen.pending, |it| it.hides, |_, seen| !seen.hidden),
        ];
        let (mut deciding, mut waiting) = (BTreeSet::new(), BTreeSet::new());
        for (_, says, differs) in things.into_iter().filter(|it| it.0) {
            for rule in self.book.rules.fitting(seen.subject).filter(|it| says(it)) {
                if rule.holds(came) {
                    deciding.insert(rule.id);
                    break;
                }
                if differs(rule, seen) {
                    waiting.insert(rule.id);
                }
            }
        }
        for place in deciding {
            self.reaches[place as usize].decides += 1;
        }
        for place in waiting {
            self.reaches[place as usize].would_change += 1;
        }
    }
}

/// The rule by which a transaction is hidden.
pub(crate) async fn hiding_rule(
    app: &App,
    user: UserId,
    id: TransactionId,
    (subject, description): (Subject<'_>, &str),
) -> Result<Option<RuleId>> {
    let book = Book::new(app.db.all(RULES, params![user], read_rule).await?);
    let text = clean(description).text;
    let came = Some(came_at_ms(id));
    let mut fitting = book.rules.fitting(Subject { text: &text, ..subject });
    let found = fitting.find(|it| it.hides && it.holds(came));
    Ok(found.and_then(|it| book.ids.get(it.id as usize).copied()))
}

// One index holds all of this.
const OF_MERCHANT: &str = "select id, amount_minor, state from transactions
    where user_id = $1 and account_id = $2 and merchant_key = $3 and state <> 'removed'";
const WALK: &str = "select id, account_id, amount_minor, state, merchant_key, counterparty, category, description
    from transactions where user_id = $1 and state <> 'removed' order by posted_on desc, id desc limit $2";

pub(super) const STATEMENTS: &[&str] = &[OF_MERCHANT, WALK];
