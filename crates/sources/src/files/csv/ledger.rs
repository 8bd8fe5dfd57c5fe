//! The accounts of a file, their rows, and what becomes clear only when all rows are read.

use std::collections::BTreeMap;

use base::draft::{AccountDraft, AccountKind, BalanceDraft, TransactionDraft};
use base::{Currency, Date, Money, Timestamp, days_from_date};

use super::mapping::Mapping;
use super::rows::{Entry, Sign};
use super::running::{self, Proof, Step};
use crate::apart::name_apart;
use crate::bounds::is_absurd;
use crate::files::amount::Side;
use crate::files::{Charges, Doubt, FileAccount, Hints, Rejections};

/// A person's file has a handful; more are a column that is no account.
const ACCOUNTS_MAX: usize = 200;

#[derive(Default)]
pub(super) struct Ledger {
    books: Vec<Book>,
    places: BTreeMap<(String, String, Currency), usize>,
    last: usize,
}

struct Book {
    number: String,
    name: String,
    currency: Currency,
    /// The one card of all rows, or none where they are several.
    card: Option<String>,
    rows: Vec<TransactionDraft>,
    notes: Vec<Note>,
}

/// What a draft has no place for.
#[derive(Clone, Copy)]
struct Note {
    line: usize,
    sign: Sign,
    fee_minor: i64,
    balance_minor: Option<i64>,
}

impl Ledger {
    pub(super) fn add(&mut self, line: usize, entry: Entry<'_>) -> Result<(), String> {
        let place = self.place(&entry)?;
        let book = &mut self.books[place];
        if book.card.as_deref().is_some_and(|it| !same(it, entry.card)) {
            book.card = Some(String::new());
        }
        book.notes.push(Note {
            line,
            sign: entry.sign,
            fee_minor: entry.fee_minor,
            balance_minor: entry.balance_minor,
        });
        book.rows.push(TransactionDraft {
            external_id: entry.id,
            pending: entry.is_pending,
            settles: None,
            posted_on: entry.posted_on,
            authorized_on: entry.authorized_on,
            amount: Money::new(entry.minor, entry.currency),
            description: entry.description,
            counterparty: entry.counterparty,
            counterparty_logo_url: entry.logo,
            category: entry.category,
        });
        Ok(())
    }

    fn place(&mut self, entry: &Entry<'_>) -> Result<usize, String> {
        // Rows of one account mostly follow each other.
        if self.books.get(self.last).is_some_and(|it| it.is_of(entry)) {
            return Ok(self.last);
        }
        let key = (entry.account.to_owned(), entry.account_name.to_string(), entry.currency);
        self.last = match self.places.get(&key) {
            Some(place) => *place,
            None if self.books.len() == ACCOUNTS_MAX => {
                return Err(format!("The file has more than {ACCOUNTS_MAX} accounts."));
            }
            None => {
                self.books.push(Book {
                    number: key.0.clone(),
                    name: key.1.clone(),
                    currency: entry.currency,
                    card: Some(entry.card.to_owned()),
                    rows: Vec::new(),
                    notes: Vec::new(),
                });
                self.places.insert(key, self.books.len() - 1);
                self.books.len() - 1
            }
        };
        Ok(self.last)
    }

    /// The accounts as drafts. `number` is the account's where the file says it above the rows.
    pub(super) fn finish(
        mut self,
        mapping: &Mapping,
        hints: &Hints,
        number: Option<String>,
        rejected: &mut Rejections,
    ) -> (Vec<FileAccount>, Vec<Doubt>) {
        if mapping.keeps_one_currency {
            let best = |it: &Book| (it.currency == hints.currency, it.rows.len());
            let kept = self.books.into_iter().max_by_key(best);
            self.books = kept.into_iter().collect();
        }
        if let ([book], Some(number)) = (self.books.as_mut_slice(), number)
            && book.number.is_empty()
        {
            book.number = number;
        }
        let names = names(&self.books, mapping);
        let mut doubt = None;
        let accounts = self
            .books
            .into_iter()
            .zip(names)
            .map(|(book, names)| {
                let (account, open) = book.finish(mapping, hints, names, rejected);
                doubt = doubt.or(open.map(|read_as| Doubt::Charges { read_as }));
                account
            })
            .collect();
        (accounts, doubt.into_iter().collect())
    }
}

/// The id and the name of each account. A currency is part of them where it has to be.
fn names(books: &[Book], mapping: &Mapping) -> Vec<(String, String)> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for book in books {
        *seen.entry((&book.number, &book.name)).or_default() += 1;
    }
    let institution = mapping.institution.as_deref().unwrap_or("Imported account");
    let named = |book: &Book| {
        let shares =
            seen.get(&(book.number.as_str(), book.name.as_str())).is_some_and(|it| *it > 1);
        let currency = match mapping.currencies_are_accounts || shares {
            true => book.currency.code(),
            false => "",
        };
        let id = if book.number.is_empty() { &book.name } else { &book.number };
        let card = book.card.as_deref().unwrap_or_default();
        let name = match (book.name.as_str(), mask(&book.number).or_else(|| mask(card))) {
            ("", Some(mask)) => format!("{institution} {mask}"),
            ("", None) => institution.to_owned(),
            (name, _) => name.to_owned(),
        };
        (joined(id, currency), joined(&name, currency))
    };
    books.iter().map(named).collect()
}

fn joined(text: &str, behind: &str) -> String {
    match (text.is_empty(), behind.is_empty()) {
        (true, _) => behind.to_owned(),
        (false, true) => text.to_owned(),
        (false, false) => format!("{text} {behind}"),
    }
}

/// Asks for the lengths first: mostly both are empty, and comparing nothing with nothing is slow on some processors,
/// because the pointers lead nowhere.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

/// The last four digits of a number.
fn mask(number: &str) -> Option<String> {
    let digits: String = number.chars().rev().take_while(char::is_ascii_digit).take(4).collect();
    (digits.len() == 4).then(|| digits.chars().rev().collect())
}

impl Book {
    fn is_of(&self, entry: &Entry<'_>) -> bool {
        self.currency == entry.currency
            && same(&self.number, entry.account)
            && same(&self.name, &entry.account_name)
    }

    /// The account, and how its signs were read if nothing tells what they mean.
    fn finish(
        mut self,
        mapping: &Mapping,
        hints: &Hints,
        (external_id, name): (String, String),
        rejected: &mut Rejections,
    ) -> (FileAccount, Option<Charges>) {
        let kind = mapping.account_kind.unwrap_or(AccountKind::Other);
        let proof = running::prove(&self.steps());
        let has_open = self.notes.iter().any(|it| it.sign == Sign::Number);
        let (charges, is_open) = self.charges(mapping, hints, proof);
        let turns = has_open && charges == Charges::Positive;
        let is_owned = proof.is_some_and(|it| it.adds_up != turns);
        // What is on a deposit account is the person's own; balances that say otherwise are not understood.
        let proof = proof.filter(|_| is_owned || kind != AccountKind::Depository);
        if mapping.unbalanced_is_pending {
            self.mark_pending();
        }
        let balance = proof.and_then(|it| self.balance(it, is_owned == kind.is_debt()));
        self.settle(turns, rejected);
        let mask = mask(&self.number).or_else(|| mask(self.card.as_deref().unwrap_or_default()));
        let draft = AccountDraft {
            mask,
            subtype: mapping.account_subtype.clone(),
            institution_name: mapping.institution.clone(),
            balance,
            transactions: self.rows,
            ..AccountDraft::new(external_id, name, kind, self.currency)
        };
        (FileAccount { bank: None, draft }, (is_open && has_open).then_some(charges))
    }

    fn steps(&self) -> Vec<Step> {
        let step = |(row, note): (&TransactionDraft, &Note)| {
            let minor = row.amount.minor().saturating_sub(note.fee_minor);
            let day = days_from_date(row.posted_on);
            note.balance_minor.map(|balance_minor| Step { day, minor, balance_minor })
        };
        self.rows.iter().zip(&self.notes).filter_map(step).collect()
    }

    /// What a positive number means, and whether nobody knows. Most rows of most files are money spent.
    fn charges(&self, mapping: &Mapping, hints: &Hints, proof: Option<Proof>) -> (Charges, bool) {
        let is_deposit = mapping.account_kind == Some(AccountKind::Depository);
        match mapping.charges.or(hints.charges) {
            // The balances of a deposit account against what its source is known for: only the person can tell.
            Some(charges) if is_deposit && proof.is_some_and(|it| it.contradicts(charges)) => {
                let other = match charges {
                    Charges::Negative => Charges::Positive,
                    Charges::Positive => Charges::Negative,
                };
                return hints.charges.map_or((other, true), |told| (told, false));
            }
            Some(charges) => return (charges, false),
            None => {}
        }
        if let Some(proof) = proof {
            return (if proof.adds_up { Charges::Negative } else { Charges::Positive }, false);
        }
        let said = |side| self.notes.iter().any(|it| it.sign == Sign::Said(side));
        match (said(Side::In), said(Side::Out)) {
            (true, false) => return (Charges::Positive, false),
            (false, true) => return (Charges::Negative, false),
            _ => {}
        }
        let open = self.rows.iter().zip(&self.notes).filter(|(_, it)| it.sign == Sign::Number);
        let (count, positive) = open.fold((0_usize, 0_usize), |(count, positive), (row, _)| {
            (count + 1, positive + usize::from(row.amount.minor() > 0))
        });
        let is_card = positive * 3 > count * 2;
        (if is_card { Charges::Positive } else { Charges::Negative }, true)
    }

    fn balance(&self, proof: Proof, turns: bool) -> Option<BalanceDraft> {
        let mut told = self
            .rows
            .iter()
            .zip(&self.notes)
            .filter_map(|(row, note)| note.balance_minor.map(|it| (row.posted_on, it)));
        let (on, minor) = if proof.is_oldest_first { told.next_back()? } else { told.next()? };
        let current_minor = if turns { minor.checked_neg()? } else { minor };
        let as_of = midday(on)?;
        Some(BalanceDraft { as_of, current_minor, available_minor: None, limit_minor: None })
    }

    /// Rows without a balance are pending, unless the file has none at all.
    fn mark_pending(&mut self) {
        if self.notes.iter().any(|it| it.balance_minor.is_some()) {
            for (row, note) in self.rows.iter_mut().zip(&self.notes) {
                row.pending |= note.balance_minor.is_none();
            }
        }
    }

    /// Gives every amount its final sign, takes fees off, and makes ids distinct.
    fn settle(&mut self, numbers_turn: bool, rejected: &mut Rejections) {
        let mut fits = Vec::with_capacity(self.rows.len());
        for (row, note) in self.rows.iter_mut().zip(&self.notes) {
            let turns = numbers_turn && note.sign == Sign::Number;
            let minor = row.amount.minor();
            let minor = if turns { minor.checked_neg() } else { Some(minor) };
            let minor = minor.and_then(|it| it.checked_sub(note.fee_minor));
            let minor = minor.filter(|it| !is_absurd(*it));
            match minor {
                Some(minor) => row.amount = Money::new(minor, self.currency),
                None => rejected.add(note.line, "The amount is larger than any we can keep."),
            }
            fits.push(minor.is_some());
        }
        if self.rows.iter().any(|it| it.external_id.is_some()) {
            let distinct = name_apart(&mut self.rows);
            fits.iter_mut().zip(distinct).for_each(|(fits, distinct)| *fits &= distinct);
        }
        let mut fits = fits.into_iter();
        self.rows.retain(|_| fits.next().unwrap_or(true));
    }
}

fn midday(on: Date) -> Option<Timestamp> {
    let seconds = days_from_date(on).checked_mul(86_400)?.checked_add(43_200)?;
    Timestamp::from_second(seconds).ok()
}
