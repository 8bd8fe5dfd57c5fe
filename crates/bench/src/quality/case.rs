//! A household to put through the product, and what is true of it, whoever invented it.

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

/// What is true of a transaction.
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
    /// The same on both legs of a movement between own accounts, if both are in view.
    pub(super) pair: Option<String>,
    pub(super) transfer: Option<String>,
    pub(super) income: bool,
    /// What makes it hard, in words.
    pub(super) noise: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stream {
    pub(super) merchant: String,
    pub(super) cadence: Frequency,
    /// When it goes on, and none when it has ended; unknown where nobody wrote it down.
    pub(super) next_on: Option<Option<Date>>,
    /// Posted ones, duplicates aside.
    pub(super) occurrences: usize,
    /// Too few to know that it repeats.
    pub(super) short: bool,
    /// A contract or a wage. Legs of own transfers are none, except what leaves for a loan: that
    /// is shown as a bill on purpose.
    pub(super) counts: bool,
}

impl Stream {
    fn begun(merchant: &str, cadence: Frequency) -> Stream {
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
    /// Rows get their place for an id, so that they are found again.
    pub(super) fn of_world(group: &'static str, world: World) -> anyhow::Result<Case> {
        let as_of = Timestamp::from_second(days_from_date(world.as_of) * 86_400 + 43_200)?;
        let mut accounts = world.accounts;
        let streams = world.streams.iter().map(|it| Stream {
            next_on: Some(it.next_on),
            occurrences: it.occurrences,
            short: it.short,
            ..Stream::begun(&it.merchant, frequency(it.cadence))
        });
        let mut streams: Vec<Stream> = streams.collect();
        let mut rows = Vec::new();
        for (place, mut it) in world.transactions.into_iter().enumerate() {
            let account = &mut accounts[it.account];
            let id = format!("t{place}");
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
                noise: said(&it.truth.noise),
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
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
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
                let place = *places.entry(id).or_insert_with(|| {
                    streams.push(Stream::begun(&it.true_merchant, cadence));
                    streams.len() - 1
                });
                streams[place].occurrences += usize::from(!draft.pending);
                // Dividends, purchases of securities and a loan's own interest are left out on purpose.
                let is_left_out =
                    matches!(kinds.get(&name.0), Some(AccountKind::Investment | AccountKind::Loan));
                streams[place].counts &= counts(it.transfer_kind, amount_minor) && !is_left_out;
                place
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
        let group = if hints { "told" } else { "untold" };
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

fn said(noise: &[Noise]) -> String {
    noise.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>().join(" ")
}
