//! A household to run through the product, with its ground truth, from either generator.

use std::collections::BTreeMap;

use base::category::Category;
use base::draft::{AccountKind, Source, Statement};
use base::{Currency, Date, Timestamp, days_from_date};
use calc::recurring::Frequency;

use crate::households::{Cadence, Noise, TransferKind, World};

pub(super) struct Case {
    pub(super) group: &'static str,
    pub(super) as_of: Timestamp,
    pub(super) currency: Currency,
    pub(super) statements: Vec<Statement>,
    pub(super) rows: Vec<Row>,
    /// `Row::stream` is an index into these.
    pub(super) streams: Vec<Stream>,
}

/// The truth about a transaction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// The external ids of its account and its own.
    pub(super) name: (String, String),
    pub(super) description: String,
    pub(super) amount_minor: i64,
    pub(super) posted_on: Date,
    pub(super) merchant: String,
    pub(super) category: Category,
    pub(super) stream: Option<usize>,
    /// The same on both legs of a transfer between own accounts, if both are in the data.
    pub(super) pair: Option<String>,
    pub(super) transfer: Option<String>,
    pub(super) income: bool,
    /// The noise of the row, as text.
    pub(super) noise: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stream {
    pub(super) merchant: String,
    pub(super) cadence: Frequency,
    /// The outer option is none if the truth is not recorded. The inner one is the next day, or none if the stream has
    /// ended.
    pub(super) next_on: Option<Option<Date>>,
    /// Posted occurrences, without duplicates.
    pub(super) occurrences: usize,
    /// Whether the occurrences are too few to show that it repeats.
    pub(super) short: bool,
    /// Whether it is a contract or a wage. Legs of own transfers do not count, except outflows to a loan, which are
    /// shown as bills on purpose.
    pub(super) counts: bool,
}

impl Stream {
    fn new(merchant: &str, cadence: Frequency) -> Stream {
        Stream {
            merchant: merchant.to_owned(),
            cadence,
            next_on: None,
            occurrences: 0,
            short: false,
            counts: true,
        }
    }
}

fn counts(transfer: Option<&str>, amount_minor: i64) -> bool {
    transfer.is_none_or(|it| it == "loan_payment" && amount_minor < 0)
}

impl Case {
    /// Rows get their index as id, so that they can be found again.
    pub(super) fn of_world(group: &'static str, world: World) -> anyhow::Result<Case> {
        let as_of = Timestamp::from_second(days_from_date(world.as_of) * 86_400 + 43_200)?;
        let mut accounts = world.accounts;
        let streams = world.streams.iter().map(|it| Stream {
            next_on: Some(it.next_on),
            occurrences: it.occurrences,
            short: it.short,
            ..Stream::new(&it.merchant, frequency(it.cadence))
        });
        let mut streams: Vec<Stream> = streams.collect();
        let mut rows = Vec::new();
        for (index, mut it) in world.transactions.into_iter().enumerate() {
            let account = &mut accounts[it.account];
            let id = format!("t{index}");
            it.draft.external_id = Some(id.clone());
            let transfer = it.truth.transfer.map(kind_name);
            let stream = it.truth.stream.map(|it| it as usize);
            let amount_minor = it.draft.amount.minor();
            if let Some(stream) = stream {
                streams[stream].counts &= counts(transfer, amount_minor);
            }
            rows.push(Row {
                name: (account.external_id.clone(), id),
                description: it.draft.description.clone(),
                amount_minor,
                posted_on: it.draft.posted_on,
                merchant: it.truth.merchant,
                category: it.truth.category,
                stream,
                pair: it.truth.pair.map(|it| it.to_string()),
                transfer: transfer.map(str::to_owned),
                income: it.truth.income && !it.truth.noise.contains(&Noise::Duplicate),
                noise: noise_text(&it.truth.noise),
            });
            account.transactions.push(it.draft);
        }
        let currency = accounts[0].currency;
        let statement = Statement {
            source: Source::File,
            connection: "household".to_owned(),
            institution: None,
            as_of,
            accounts,
            rates: Vec::new(),
        };
        Ok(Case { group, as_of, currency, statements: vec![statement], rows, streams })
    }

    pub(super) fn of_demo(seed: u64, as_of: Timestamp, hints: bool) -> Case {
        let demo = demo::Household::new(seed, as_of);
        let demo = if hints { demo } else { demo.without_hints() };
        let statements = demo.statements();
        let mut drafts = BTreeMap::new();
        let mut kinds = BTreeMap::new();
        for account in statements.iter().flat_map(|it| &it.accounts) {
            kinds.insert(account.external_id.clone(), account.kind);
            for draft in &account.transactions {
                let id = draft.external_id.clone().unwrap_or_default();
                drafts.insert((account.external_id.clone(), id), draft);
            }
        }
        let mut indices: BTreeMap<String, usize> = BTreeMap::new();
        let mut streams: Vec<Stream> = Vec::new();
        let mut rows = Vec::new();
        for it in demo.truth() {
            let name = (it.account_id, it.transaction_id);
            let (Some(draft), Some(category)) = (drafts.get(&name), Category::parse(it.tier2))
            else {
                continue;
            };
            let amount_minor = draft.amount.minor();
            let stream = it.stream_id.zip(it.cadence.and_then(Frequency::parse));
            let stream = stream.map(|(id, cadence)| {
                let index = *indices.entry(id).or_insert_with(|| {
                    streams.push(Stream::new(&it.true_merchant, cadence));
                    streams.len() - 1
                });
                streams[index].occurrences += usize::from(!draft.pending);
                // Dividends, purchases of securities and a loan's own interest are left out on purpose.
                let is_left_out =
                    matches!(kinds.get(&name.0), Some(AccountKind::Investment | AccountKind::Loan));
                streams[index].counts &= counts(it.transfer_kind, amount_minor) && !is_left_out;
                index
            });
            rows.push(Row {
                name,
                description: draft.description.clone(),
                amount_minor,
                posted_on: draft.posted_on,
                merchant: it.true_merchant,
                category,
                stream,
                pair: it.transfer_pair_id,
                transfer: it.transfer_kind.map(str::to_owned),
                income: it.is_income,
                noise: it.noise_tags.join(" "),
            });
        }
        for stream in &mut streams {
            stream.short = stream.occurrences < least_occurrences(stream.cadence);
        }
        let group = if hints { "with hints" } else { "without hints" };
        Case { group, as_of, currency: Currency::USD, statements, rows, streams }
    }
}

fn least_occurrences(frequency: Frequency) -> usize {
    let yearly = [Cadence::Semiannual, Cadence::Annual];
    let cadence = yearly.into_iter().find(|it| self::frequency(*it) == frequency);
    cadence.unwrap_or(Cadence::Monthly).least_occurrences()
}

fn frequency(cadence: Cadence) -> Frequency {
    match cadence {
        Cadence::Weekly => Frequency::Weekly,
        Cadence::Biweekly => Frequency::Biweekly,
        Cadence::Semimonthly => Frequency::SemiMonthly,
        Cadence::Monthly => Frequency::Monthly,
        Cadence::Quarterly => Frequency::Quarterly,
        Cadence::Semiannual => Frequency::SemiAnnually,
        Cadence::Annual => Frequency::Annually,
    }
}

fn kind_name(kind: TransferKind) -> &'static str {
    match kind {
        TransferKind::Between => "transfer",
        TransferKind::CardPayment => "card_payment",
        TransferKind::Investment => "investment",
        TransferKind::LoanPayment => "loan_payment",
        TransferKind::Savings => "savings",
    }
}

fn noise_text(noise: &[Noise]) -> String {
    noise.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>().join(" ")
}
