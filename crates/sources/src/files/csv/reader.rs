//! The layout of a table: its columns, and how its dates and amounts are written.

use std::cell::RefCell;
use std::collections::HashMap;

use base::{Currency, Date};

use super::mapping::{Field, Layout, Mapping};
use super::trades::TradeColumns;
use crate::files::source_category::SourceCategory;
use crate::files::table_amount::DecimalMark;
use crate::files::{DateOrder, ParseOptions};

/// Reads rows by the layout of their table.
pub(super) struct Reader<'m> {
    pub(super) mapping: &'m Mapping,
    pub(super) today: Date,
    pub(super) order: DateOrder,
    pub(super) mark: DecimalMark,
    pub(super) currency: Currency,
    /// The currency that the person usually has.
    pub(super) own_currency: Currency,
    /// Whether the file names no currency, so that the person's usual one is assumed.
    pub(super) currency_is_open: bool,
    /// Whether the person chose the currency for amounts that name none.
    pub(super) currency_is_chosen: bool,
    /// Whether the amounts may name another currency.
    pub(super) currency_is_named: bool,
    /// Whether the columns for money out and in have both signs, so that a minus is a reversal.
    pub(super) has_reversals: [bool; 2],
    /// The number of columns with titles, if there are titles.
    pub(super) width: Option<usize>,
    pub(super) date: Option<usize>,
    pub(super) authorized: Option<usize>,
    pub(super) amount: Option<usize>,
    /// The column of amounts in another currency, and that currency.
    pub(super) other_amount: Option<(usize, Currency)>,
    pub(super) debit: Option<usize>,
    pub(super) credit: Option<usize>,
    pub(super) direction: Option<usize>,
    pub(super) fee: Option<usize>,
    pub(super) balance: Option<usize>,
    pub(super) category: Option<usize>,
    /// Categories that were looked up.
    pub(super) categories: RefCell<HashMap<String, Option<SourceCategory>>>,
    pub(super) merchant_code: Option<usize>,
    pub(super) account: Option<usize>,
    pub(super) account_name: Option<usize>,
    pub(super) account_type: Option<usize>,
    pub(super) card: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) logo: Option<usize>,
    pub(super) description: Vec<usize>,
    pub(super) counterparty: Vec<usize>,
    /// The column that tells a request for money from a payment, where columns name its sender and its receiver.
    pub(super) requests: Option<usize>,
    pub(super) currencies: Vec<usize>,
    pub(super) status: Vec<usize>,
    /// The columns of trades, if the titles name them.
    pub(super) trades: Option<TradeColumns>,
}

impl<'m> Reader<'m> {
    pub(super) fn new(
        mapping: &'m Mapping,
        layout: &Layout,
        options: &ParseOptions,
        (order, mark): (DateOrder, DecimalMark),
        has_reversals: [bool; 2],
        width: usize,
    ) -> Reader<'m> {
        let one = |field| layout.one(field);
        let all = |field| layout.all(field).to_vec();
        let fixed = mapping.currency.as_deref().and_then(|it| Currency::parse(it).ok());
        let chosen = options.chosen_currency;
        // The layout of a file without titles does not tell for sure from which bank it is.
        let fixed = fixed.filter(|_| chosen.is_none() || mapping.has_header);
        Reader {
            mapping,
            today: options.today,
            order,
            mark,
            currency: fixed.unwrap_or(options.default_currency()),
            own_currency: options.currency,
            currency_is_open: fixed.is_none() && layout.all(Field::Currency).is_empty(),
            currency_is_chosen: chosen.is_some(),
            currency_is_named: true,
            has_reversals,
            width: mapping.has_header.then_some(width),
            date: one(Field::Date),
            authorized: one(Field::Authorized),
            amount: one(Field::Amount),
            other_amount: None,
            debit: one(Field::Debit),
            credit: one(Field::Credit),
            direction: one(Field::Direction),
            fee: one(Field::Fee),
            balance: one(Field::Balance),
            category: one(Field::Category),
            categories: RefCell::default(),
            merchant_code: one(Field::MerchantCode),
            account: one(Field::Account),
            account_name: one(Field::AccountName),
            account_type: one(Field::AccountType),
            card: one(Field::Card),
            id: one(Field::Id),
            logo: one(Field::Logo),
            description: all(Field::Description),
            counterparty: all(Field::Counterparty),
            requests: None,
            currencies: all(Field::Currency),
            status: all(Field::Status),
            trades: None,
        }
    }
}
