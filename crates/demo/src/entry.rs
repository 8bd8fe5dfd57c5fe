//! One transaction of the simulator, together with its correct labels.

use std::borrow::Cow;

use base::category::Category;

use super::accounts::Account;
use super::calendar::{Cadence, Day};
use super::draw::Draw;
use super::merchants::category;

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) account: Account,
    pub(super) authorized_on: Option<Day>,
    pub(super) posted_on: Day,
    pub(super) minor: i64,
    /// The amount of the authorization, before a tip or the final bill.
    pub(super) pending_minor: i64,
    pub(super) description: String,
    pub(super) merchant: Cow<'static, str>,
    pub(super) category: Category,
    pub(super) label: Label,
}

/// The correct labels of a transaction, which detection should find and never sees.
#[derive(Debug, Clone, Default)]
pub(super) struct Label {
    pub(super) stream: Option<String>,
    pub(super) cadence: Option<Cadence>,
    pub(super) pair: Option<String>,
    pub(super) transfer_kind: Option<&'static str>,
    pub(super) income: Option<&'static str>,
    pub(super) refund_of: Option<String>,
    pub(super) tags: Vec<&'static str>,
}

impl Entry {
    /// A transaction that is booked on one day and never shown as pending.
    pub(super) fn posted(
        draw: &mut Draw,
        account: Account,
        on: Day,
        minor: i64,
        description: String,
    ) -> Entry {
        Entry {
            id: draw.id(),
            account,
            authorized_on: None,
            posted_on: on,
            minor,
            pending_minor: minor,
            description,
            merchant: Cow::Borrowed(""),
            category: category("OTHER_OTHER"),
            label: Label::default(),
        }
    }

    pub(super) fn by(mut self, merchant: impl Into<Cow<'static, str>>, code: &str) -> Entry {
        self.merchant = merchant.into();
        self.category = category(code);
        self
    }

    pub(super) fn authorized(mut self, on: Day) -> Entry {
        self.authorized_on = Some(on);
        self
    }

    pub(super) fn stream(mut self, name: &str, cadence: Cadence) -> Entry {
        self.label.stream = Some(name.to_owned());
        self.label.cadence = Some(cadence);
        self
    }

    pub(super) fn income(mut self, label: &'static str) -> Entry {
        self.label.income = Some(label);
        self
    }

    pub(super) fn refund_of(mut self, id: &str) -> Entry {
        self.label.refund_of = Some(id.to_owned());
        self
    }

    pub(super) fn tag(mut self, tag: &'static str) -> Entry {
        self.label.tags.push(tag);
        self
    }

    /// Sets the final amount where it differs from the authorized one.
    pub(super) fn settled_for(mut self, minor: i64) -> Entry {
        self.minor = minor;
        self
    }
}
