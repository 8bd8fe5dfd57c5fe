//! The byte format of a month of cash flows: each account, category and counterparty is written once, and flows refer
//! to them by index, so that sums are taken by index too.

use std::collections::HashMap;

use base::AccountId;
use base::category::Category;
use calc::income::CashFlow;

use crate::insights::byte_reader::ByteReader;

/// What a cash flow is. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::insights) enum FlowKind {
    Income = 0,
    Spending = 1,
    Unclassified = 2,
}

impl FlowKind {
    pub(super) fn of(flow: CashFlow) -> FlowKind {
        match flow {
            CashFlow::Income => FlowKind::Income,
            CashFlow::Spending(_) => FlowKind::Spending,
            CashFlow::Unclassified => FlowKind::Unclassified,
        }
    }

    fn from_byte(byte: u8) -> Option<FlowKind> {
        [FlowKind::Income, FlowKind::Spending, FlowKind::Unclassified]
            .get(usize::from(byte))
            .copied()
    }
}

/// A cash flow to pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::insights) struct PackedFlow<'a> {
    /// The day of the month.
    pub(in crate::insights) day: i8,
    pub(in crate::insights) kind: FlowKind,
    pub(in crate::insights) account: AccountId,
    pub(in crate::insights) category: Option<Category>,
    /// Empty if it is not known.
    pub(in crate::insights) counterparty: &'a str,
    /// In the account's currency, negative if money goes out.
    pub(in crate::insights) amount_minor: i64,
    /// Whether it is a further part of the split transaction whose part is the flow before it.
    pub(in crate::insights) is_further_part: bool,
}

#[derive(Default)]
pub(super) struct PackedMonth {
    accounts: Table<AccountId>,
    categories: Table<Option<Category>>,
    counterparties: Table<String>,
    flows: Vec<u8>,
}

/// Distinct values in the order in which they were first seen.
struct Table<T> {
    indexes: HashMap<T, u32>,
    values: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { indexes: HashMap::new(), values: Vec::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    fn index_of<Q>(&mut self, value: &Q) -> u32
    where
        Q: ?Sized + Eq + std::hash::Hash + ToOwned<Owned = T>,
        T: std::borrow::Borrow<Q>,
    {
        if let Some(index) = self.indexes.get(value) {
            return *index;
        }
        let index = self.values.len() as u32;
        self.indexes.insert(value.to_owned(), index);
        self.values.push(value.to_owned());
        index
    }
}

impl PackedMonth {
    pub(super) fn add(&mut self, flow: &PackedFlow<'_>) {
        self.flows.push(flow.day.unsigned_abs());
        let further = if flow.is_further_part { FURTHER_PART } else { 0 };
        self.flows.push(flow.kind as u8 | further);
        let indexes = [
            self.accounts.index_of(&flow.account),
            self.categories.index_of(&flow.category),
            self.counterparties.index_of(flow.counterparty),
        ];
        for index in indexes {
            self.flows.extend_from_slice(&index.to_le_bytes());
        }
        self.flows.extend_from_slice(&flow.amount_minor.to_le_bytes());
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.flows.len() + 4096);
        let count = |bytes: &mut Vec<u8>, count: usize| {
            bytes.extend_from_slice(&(count as u32).to_le_bytes());
        };
        count(&mut bytes, self.accounts.values.len());
        self.accounts.values.iter().for_each(|it| bytes.extend_from_slice(it.as_bytes()));
        count(&mut bytes, self.categories.values.len());
        for category in &self.categories.values {
            let code = category.map_or("", Category::detailed);
            count(&mut bytes, code.len());
            bytes.extend_from_slice(code.as_bytes());
        }
        count(&mut bytes, self.counterparties.values.len());
        for counterparty in &self.counterparties.values {
            count(&mut bytes, counterparty.len());
            bytes.extend_from_slice(counterparty.as_bytes());
        }
        bytes.extend_from_slice(&self.flows);
        bytes
    }
}

/// The bit of the kind that marks a further part of a split transaction.
const FURTHER_PART: u8 = 0x80;

/// The bytes of one flow: day, kind, three indexes and the amount.
const FLOW_BYTES: usize = 1 + 1 + 3 * 4 + 8;

/// A month with its tables unpacked. Flows are unpacked while they are visited.
#[derive(Debug)]
pub(in crate::insights) struct UnpackedMonth<'a> {
    pub(in crate::insights) accounts: Vec<AccountId>,
    pub(in crate::insights) categories: Vec<Option<Category>>,
    pub(in crate::insights) counterparties: Vec<&'a str>,
    flows: &'a [[u8; FLOW_BYTES]],
}

/// A flow whose account, category and counterparty are indexes in the tables of its month.
#[derive(Debug, Clone, Copy)]
pub(in crate::insights) struct IndexedFlow {
    pub(in crate::insights) day: i8,
    pub(in crate::insights) kind: FlowKind,
    pub(in crate::insights) account: usize,
    pub(in crate::insights) category: usize,
    pub(in crate::insights) counterparty: usize,
    pub(in crate::insights) amount_minor: i64,
    pub(in crate::insights) is_further_part: bool,
}

impl UnpackedMonth<'_> {
    /// The flows in the order of their days.
    pub(in crate::insights) fn flows(&self) -> impl Iterator<Item = IndexedFlow> {
        self.flows.iter().filter_map(read_flow)
    }

    fn is_valid(&self) -> bool {
        let known = |it: &IndexedFlow| {
            it.account < self.accounts.len()
                && it.category < self.categories.len()
                && it.counterparty < self.counterparties.len()
                && (1..=31).contains(&it.day)
        };
        self.flows.iter().map(read_flow).all(|it| it.as_ref().is_some_and(known))
    }
}

fn read_flow(bytes: &[u8; FLOW_BYTES]) -> Option<IndexedFlow> {
    let mut reader = ByteReader(bytes);
    let [day, kind] = reader.take()?;
    Some(IndexedFlow {
        day: i8::try_from(day).ok()?,
        kind: FlowKind::from_byte(kind & !FURTHER_PART)?,
        is_further_part: kind & FURTHER_PART != 0,
        account: reader.index()?,
        category: reader.index()?,
        counterparty: reader.index()?,
        amount_minor: i64::from_le_bytes(reader.take()?),
    })
}

/// Unpacks a month. None if the bytes are cut off or hold an unknown word.
pub(super) fn unpack(bytes: &[u8]) -> Option<UnpackedMonth<'_>> {
    let mut reader = ByteReader(bytes);
    let count = reader.index()?;
    let accounts: Option<Vec<AccountId>> =
        (0..count).map(|_| reader.take().map(AccountId::from_bytes)).collect();
    let codes = reader.words()?;
    let category = |code: &str| match code {
        "" => Some(None),
        code => Category::parse(code).map(Some),
    };
    let counterparties = reader.words()?;
    let (flows, rest) = reader.0.as_chunks();
    let month = UnpackedMonth {
        accounts: accounts?,
        categories: codes.into_iter().map(category).collect::<Option<_>>()?,
        counterparties,
        flows,
    };
    (rest.is_empty() && month.is_valid()).then_some(month)
}
