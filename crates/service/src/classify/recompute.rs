//! The context of one person's recompute, which classification and every later step of the pipeline share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{AccountId, Currency, Date, TimeZone, Timestamp, TransactionId, UserId};
use calc::rates::Rates;
use calc::transfers::{self, LinkedDebts};
use db::{Tx, params};
use webhooks::outbox;
use wire::v1::Event;

use super::cleaned_descriptions::CleanedDescriptions;
use super::cleaned_handover::{ClassifiedRows, QueueEntry};
use crate::ledger::accounts::{self, Account};
use crate::ledger::{rates, stamps};
use crate::platform::dirty_queue::DirtyTransaction;
use crate::{App, Error, Result};

/// The rows that a recompute looks at.
#[derive(Debug, Clone)]
pub(crate) enum RecomputeScope {
    Everything,
    Around(BTreeSet<DirtyTransaction>),
}

pub(crate) struct Recompute {
    pub(crate) app: App,
    pub(crate) user: UserId,
    pub(crate) now: Timestamp,
    /// The stamp of the transactions that it changes, once there is one.
    stamp: Option<Timestamp>,
    pub(crate) timezone: TimeZone,
    /// The present date in the person's time zone.
    pub(crate) today: Date,
    pub(crate) currency: Currency,
    pub(crate) rates: Rates,
    /// All accounts of the person, hidden and closed ones too: money moved to a hidden account is not spent.
    pub(crate) accounts: Vec<Account>,
    pub(crate) scope: RecomputeScope,
    /// Whether rows of any month may have changed. Otherwise only those of `changed_days` have.
    pub(crate) all_months: bool,
    /// The posting dates of rows that changed since the last recompute or in this one, in days since 1970.
    pub(crate) changed_days: BTreeSet<i64>,
    /// Transactions that the person just corrected: they are classified again even if nothing else changed.
    pub(crate) corrected: BTreeSet<TransactionId>,
    /// Descriptions that the import before it has cleaned.
    pub(super) cleaned: Arc<CleanedDescriptions>,
    /// Rows that the import before it has classified.
    classified: Option<ClassifiedRows>,
    pub(crate) events: Vec<Event>,
    /// Transactions whose classification changed.
    pub(crate) updated: BTreeMap<AccountId, Vec<TransactionId>>,
    /// Transactions that a rule now hides.
    pub(crate) hidden: BTreeMap<AccountId, Vec<TransactionId>>,
}

/// The person and the accounts that an analysis covers.
pub(crate) struct Household<'a> {
    pub(crate) user: UserId,
    pub(crate) today: Date,
    pub(crate) currency: Currency,
    pub(crate) rates: &'a Rates,
    pub(crate) accounts: Vec<&'a Account>,
    /// All linked cards and loans, hidden and closed ones too.
    pub(crate) debts: LinkedDebts,
}

impl Recompute {
    pub(crate) fn new(
        tx: &mut Tx<'_>,
        app: &App,
        user: UserId,
        scope: RecomputeScope,
    ) -> Result<Recompute> {
        let person = tx.first(PERSON, params![user], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (currency, timezone): (Currency, TimeZone) = person.ok_or(Error::NotFound("user"))?;
        let now = tx.now()?;
        let handed_over = app.cleaned_handover.take(user);
        Ok(Recompute {
            app: app.clone(),
            user,
            now,
            stamp: None,
            timezone,
            today: timezone.date_at(now),
            currency,
            rates: rates::latest_in(tx, user, currency)?,
            accounts: accounts::list_in_tx(tx, user)?,
            scope,
            all_months: true,
            changed_days: BTreeSet::new(),
            corrected: BTreeSet::new(),
            cleaned: Arc::new(handed_over.cleaned),
            classified: handed_over.classified,
            events: Vec::new(),
            updated: BTreeMap::new(),
            hidden: BTreeMap::new(),
        })
    }

    /// Forgets which rows the import has classified, unless the entry of the dirty queue is still the import's: anything that
    /// could classify them differently would have changed it.
    pub(crate) fn check_handover(&mut self, queued: QueueEntry) {
        self.classified.take_if(|it| it.queued != queued);
    }

    /// Whether the import before it has classified a row that it inserted, and nothing else has changed since.
    pub(super) fn is_classified(&self, id: TransactionId) -> bool {
        self.classified.as_ref().is_some_and(|it| it.ids.contains(&id))
    }

    /// The stamp of the transactions that it changes.
    pub(crate) fn stamp(&mut self, tx: &mut Tx<'_>) -> Result<Timestamp> {
        let stamp = match self.stamp {
            Some(stamp) => stamp,
            None => stamps::next(tx, self.user, self.now)?,
        };
        self.stamp = Some(stamp);
        Ok(stamp)
    }

    /// Hidden accounts are left out, and so are those outside `only`.
    pub(crate) fn household(&self, only: Option<&[AccountId]>) -> Household<'_> {
        self.household_of(|it| {
            it.hidden_at.is_none() && only.is_none_or(|only| only.contains(&it.id))
        })
    }

    /// Hidden accounts are left out except this one.
    pub(crate) fn household_with(&self, hidden: AccountId) -> Household<'_> {
        self.household_of(|it| it.hidden_at.is_none() || it.id == hidden)
    }

    fn household_of(&self, is_in: impl Fn(&Account) -> bool) -> Household<'_> {
        Household {
            user: self.user,
            today: self.today,
            currency: self.currency,
            rates: &self.rates,
            accounts: self.accounts.iter().filter(|it| is_in(it)).collect(),
            debts: LinkedDebts::of(&self.pairing_accounts()),
        }
    }

    /// All accounts as needed for finding transfers.
    pub(crate) fn pairing_accounts(&self) -> Vec<transfers::Account> {
        self.accounts.iter().map(pairing_account).collect()
    }

    pub(crate) fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.iter().find(|it| it.id == id)
    }

    /// Appends an event for every change to the outbox.
    pub(crate) fn publish_events(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let updated = std::mem::take(&mut self.updated);
        for (all, removed) in [(updated, false), (std::mem::take(&mut self.hidden), true)] {
            for (account, ids) in all {
                for chunk in ids.chunks(Event::IDS_MAX) {
                    self.events.push(Event::TransactionsUpdated {
                        account_id: account.to_string(),
                        transaction_ids: chunk.iter().map(ToString::to_string).collect(),
                        count: chunk.len(),
                        removed,
                    });
                }
            }
        }
        Ok(outbox::append(&self.app.webhooks, tx, self.user, &self.events)?)
    }
}

fn pairing_account(account: &Account) -> transfers::Account {
    transfers::Account {
        id: account.id,
        kind: account.kind,
        subtype: account.subtype.clone(),
        institution: account.institution_name.clone(),
        name: account.bank_name.clone(),
        mask: account.mask.clone(),
        manual: account.source == base::draft::Source::Manual,
    }
}

const PERSON: &str = "select base_currency, timezone from users where id = $1";

pub(super) const STATEMENTS: &[&str] = &[PERSON];
