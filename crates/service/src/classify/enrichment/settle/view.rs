//! The rows that settling looks at, and what is said and stored of each.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use base::category::Category;
use base::{AccountId, Currency, Date, TransactionId, date_from_days};
use calc::enrich::{self, Cleaned, Enriched, Stage};
use calc::transfers::{Decided, Kind, Leg, Pair, Said, Words};
use db::{Tx, params};

use super::super::{Desk, Told};
use crate::Result;
use crate::classify::recompute::Recompute;

/// A transaction as far as pairing looks at it. There may be a hundred thousand, so what is stored beside is compared
/// while it is read, and read again in the few places where it is to change.
pub(super) struct Row {
    pub(super) id: TransactionId,
    pub(super) account: AccountId,
    pub(super) on_days: i64,
    /// Seen or hidden: what is hidden still moved, and its other leg is neither earned nor spent.
    pub(super) posted: bool,
    pub(super) hidden: bool,
    pub(super) amount_minor: i64,
    pub(super) currency: Currency,
    pub(super) authorized_on: Option<Date>,
    /// A place in the texts of the view.
    pub(super) text: usize,
    pub(super) told_category: Option<Category>,
    pub(super) transfer: Option<TransactionId>,
    pub(super) transfer_kind: Option<Kind>,
    /// Whether the rest of what is stored is what would be judged of it as that half of that move, or was not asked for.
    pub(super) holds: bool,
}

impl Row {
    /// What is pending is in sight until it is posted: its text may still change.
    pub(super) fn is_to_hide(&self, enriched: &Enriched) -> bool {
        self.posted && enriched.hidden
    }

    /// Whether it is stored as half of just this move, or of none.
    pub(super) fn is_settled(&self, pair: Option<&Pair>) -> bool {
        self.transfer == pair.map(|it| it.outflow) && self.transfer_kind == pair.map(|it| it.kind)
    }
}

/// A bank's text, read once at most, however many rows have it: banks repeat themselves, and reading costs most.
struct Text {
    description: Arc<str>,
    cleaned: OnceCell<Cleaned>,
}

/// The rows that were read and matter.
#[derive(Default)]
pub(super) struct View {
    pub(super) rows: Vec<Row>,
    texts: Vec<Text>,
    text_places: HashMap<Arc<str>, usize>,
}

impl View {
    /// The rows of some days; or all there are, which are judged as they come.
    pub(super) fn load(
        tx: &mut Tx<'_>,
        run: &Recompute,
        (desk, decided): (&Desk, &Decided),
        days: Option<(i64, i64)>,
    ) -> Result<View> {
        let mut view = View::default();
        let Some((from, to)) = days else {
            let judge = Some((desk, run));
            tx.each(ROWS, params![run.user], |row| view.add(row, judge))?;
            return Ok(view);
        };
        tx.each(LEGS, params![run.user, from, to], |row| view.add(row, None))?;
        // A pair that the person confirmed may lie far apart.
        if !decided.confirmed.is_empty() {
            let there: BTreeSet<TransactionId> = view.rows.iter().map(|it| it.id).collect();
            for (outflow, inflow) in &decided.confirmed {
                for (id, other) in [(outflow, inflow), (inflow, outflow)] {
                    if there.contains(other) && !there.contains(id) {
                        tx.each(ROW, params![run.user, *id], |row| view.add(row, None))?;
                    }
                }
            }
        }
        Ok(view)
    }

    fn add(&mut self, stored: &db::Row<'_>, judge: Option<(&Desk, &Recompute)>) -> db::Result<()> {
        let mut row = read(stored, self.place_of(stored.get(7)?))?;
        if let Some((desk, run)) = judge {
            let told = told(&row, stored.get(11)?);
            let enriched = desk.judge(run, &told, self.cleaned(&row), row.transfer_kind);
            row.holds =
                Stored::of(stored)?.is(&enriched) && row.hidden == row.is_to_hide(&enriched);
        }
        self.rows.push(row);
        Ok(())
    }

    fn place_of(&mut self, description: &str) -> usize {
        if let Some(place) = self.text_places.get(description) {
            return *place;
        }
        let description: Arc<str> = description.into();
        self.text_places.insert(Arc::clone(&description), self.texts.len());
        self.texts.push(Text { description, cleaned: OnceCell::new() });
        self.texts.len() - 1
    }

    pub(super) fn cleaned(&self, row: &Row) -> &Cleaned {
        let text = &self.texts[row.text];
        text.cleaned.get_or_init(|| enrich::clean(&text.description))
    }

    /// What is posted, each with the place of its row.
    pub(super) fn legs(&self) -> (Vec<Leg>, Vec<usize>) {
        let mut legs = Vec::with_capacity(self.rows.len());
        let mut places = Vec::with_capacity(self.rows.len());
        for (place, row) in self.rows.iter().enumerate().filter(|(_, row)| row.posted) {
            places.push(place);
            legs.push(Leg {
                id: row.id,
                account: row.account,
                on: date_from_days(row.on_days),
                authorized_on: row.authorized_on,
                amount_minor: row.amount_minor,
                currency: row.currency,
            });
        }
        (legs, places)
    }

    pub(super) fn said(&self, place: usize, desk: &Desk, run: &Recompute) -> Said {
        let row = &self.rows[place];
        let cleaned = self.cleaned(row);
        // The name that the source gives has no part in the category.
        let enriched = desk.judge(run, &told(row, None), cleaned, None);
        Said {
            description: self.texts[row.text].description.to_string(),
            category: enriched.category.filter(|_| !is_echo(&enriched)),
            merchant: cleaned.merchant.is_some_and(sells),
            words: Words {
                transfer: cleaned.transfer_words,
                refund: cleaned.refund_words,
                person: cleaned.person,
            },
        }
    }
}

pub(super) fn told<'a>(row: &Row, counterparty: Option<&'a str>) -> Told<'a> {
    Told {
        id: Some(row.id),
        account: row.account,
        amount_minor: row.amount_minor,
        counterparty,
        category: row.told_category,
    }
}

/// What is stored of a row, beside the move it is half of.
pub(super) struct Stored<'a> {
    counterparty: Option<&'a str>,
    category: Option<Category>,
    stage: Option<Stage>,
    merchant_key: Option<&'a str>,
}

impl<'a> Stored<'a> {
    pub(super) fn of(row: &'a db::Row<'_>) -> db::Result<Stored<'a>> {
        let (category, stage): (Option<&str>, Option<&str>) = (row.get(13)?, row.get(14)?);
        Ok(Stored {
            counterparty: row.get(12)?,
            category: category.and_then(Category::parse),
            stage: stage.and_then(Stage::parse),
            merchant_key: row.get(15)?,
        })
    }

    /// Whether nobody who reads the transaction would see a difference.
    pub(super) fn reads_as(&self, enriched: &Enriched) -> bool {
        self.counterparty == enriched.counterparty.as_deref() && self.category == enriched.category
    }

    pub(super) fn is(&self, enriched: &Enriched) -> bool {
        self.reads_as(enriched)
            && self.stage == Some(enriched.stage)
            && self.merchant_key == Some(&enriched.key)
    }
}

/// Whether a category only repeats the words of the text, which are evidence already.
fn is_echo(enriched: &Enriched) -> bool {
    let moves = ["TRANSFER_IN", "TRANSFER_OUT", "LOAN_PAYMENTS"];
    let is_move =
        |it: Category| moves.contains(&it.primary()) && it.detailed() != "TRANSFER_OUT_WITHDRAWAL";
    matches!(enriched.stage, Stage::Keyword | Stage::Structure)
        && enriched.category.is_some_and(is_move)
}

/// Whether money for a merchant is money spent: a shop or a service, and no bank, employer or payment app.
fn sells(merchant: &enrich::Merchant) -> bool {
    let moves = ["TRANSFER_IN", "TRANSFER_OUT", "LOAN_PAYMENTS", "INCOME"];
    !merchant.is(enrich::Flag::P2p) && !moves.contains(&merchant.category.primary())
}

fn read(row: &db::Row<'_>, text: usize) -> db::Result<Row> {
    let (told_category, kind): (Option<&str>, Option<&str>) = (row.get(8)?, row.get(10)?);
    let state: &str = row.get(3)?;
    Ok(Row {
        id: row.get(0)?,
        account: row.get(1)?,
        on_days: row.get(2)?,
        posted: matches!(state, "posted" | "hidden"),
        hidden: state == "hidden",
        amount_minor: row.get(4)?,
        currency: row.get(5)?,
        authorized_on: row.get(6)?,
        text,
        told_category: told_category.and_then(Category::parse),
        transfer: row.get(9)?,
        transfer_kind: kind.and_then(Kind::parse),
        holds: true,
    })
}

const LEGS: &str =
    "select id, account_id, posted_on, state, amount_minor, currency, authorized_on, description,
    told_category, transfer_id, transfer_kind from transactions
    where user_id = $1 and posted_on between $2 and $3 and state <> 'removed'";
// The same, and what is stored of them beside.
const ROWS: &str = "select id, account_id, posted_on, state, amount_minor, currency, authorized_on, description,
    told_category, transfer_id, transfer_kind, told_counterparty, counterparty, category, category_stage,
    merchant_key from transactions where user_id = $1 and state <> 'removed'";
pub(super) const ROW: &str = "select id, account_id, posted_on, state, amount_minor, currency, authorized_on, description,
    told_category, transfer_id, transfer_kind, told_counterparty, counterparty, category, category_stage,
    merchant_key from transactions where user_id = $1 and id = $2 and state <> 'removed'";

pub(super) const STATEMENTS: &[&str] = &[LEGS, ROWS, ROW];
