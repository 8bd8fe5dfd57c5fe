//! Properties that hold for every statement.

use std::collections::BTreeSet;

use base::date_from_days;
use proptest::prelude::*;

use super::super::super::catalog::cards;
use super::*;

/// Day numbers of the tests are relative to this day in late 2025, so that a year's end lies among them.
const ZERO: i64 = 20_400;

const DESCRIPTIONS: [&str; 14] = [
    "AMEX DINING CREDIT",
    "AMEX RESY CREDIT",
    "AMEX DUNKIN' CREDIT",
    "TRAVEL CREDIT $300/YEAR",
    "THE EDIT CREDIT",
    "GLOBAL ENTRY CREDIT",
    "RIDESHARE CREDIT",
    "RENEWAL MEMBERSHIP FEE",
    "GRUBHUB",
    "RESY* LITTLE FINCH",
    "DUNKIN #204",
    "UBER *TRIP",
    "CORNER BISTRO",
    "",
];

fn any_entry() -> impl Strategy<Value = Entry> {
    let minor = prop_oneof![
        6 => -120_00_i64..120_00,
        1 => proptest::sample::select(vec![i64::MIN, i64::MAX, 0, -50_00, 50_00, 10_00, 7_00]),
    ];
    let day = prop_oneof![12 => 0_i64..700, 1 => -739_000_i64..2_912_000];
    let text = prop_oneof![
        8 => proptest::sample::select(DESCRIPTIONS.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,20}",
    ];
    let category = proptest::option::of(proptest::sample::select(Category::ALL.to_vec()));
    (minor, day, proptest::option::of(-3_i64..5), text, category).prop_map(
        |(amount_minor, day, lag, description, category)| Entry {
            id: TransactionId::from_bytes([0; 16]),
            on: date_from_days(ZERO + day),
            authorized_on: lag.map(|lag| date_from_days(ZERO + day - lag)),
            amount_minor,
            description,
            key: String::new(),
            category,
        },
    )
}

fn any_entries() -> impl Strategy<Value = Vec<Entry>> {
    proptest::collection::vec(any_entry(), 0..40).prop_map(|mut entries| {
        for (number, entry) in entries.iter_mut().enumerate() {
            entry.id = TransactionId::from_bytes((number as u128).to_be_bytes());
        }
        entries
    })
}

fn any_account() -> impl Strategy<Value = Account> {
    let day = || proptest::option::of((-2_000_i64..700).prop_map(|it| date_from_days(ZERO + it)));
    (day(), proptest::option::of(any::<i8>())).prop_map(|(opened_on, closing_day)| Account {
        opened_on,
        closing_day,
        closed_on: None,
    })
}

fn any_marks() -> impl Strategy<Value = Vec<Mark>> {
    let what = prop_oneof![
        Just(MarkValue::Activated),
        Just(MarkValue::Used(None)),
        any::<i64>().prop_map(|it| MarkValue::Used(Some(it))),
        (0_i64..60_00).prop_map(|it| MarkValue::Used(Some(it))),
    ];
    let ids = vec!["dining", "resy", "uber-cash", "travel", "free-night", "nothing"];
    let mark = (proptest::sample::select(ids), 0_i64..700, what).prop_map(|(id, day, what)| Mark {
        benefit: id.to_owned(),
        on: date_from_days(ZERO + day),
        what,
    });
    proptest::collection::vec(mark, 0..6)
}

fn any_card() -> impl Strategy<Value = &'static Card> {
    proptest::sample::select(cards().iter().collect::<Vec<_>>())
}

fn any_observable() -> impl Strategy<Value = (&'static Card, &'static Benefit)> {
    let all: Vec<(&'static Card, &'static Benefit)> = cards()
        .iter()
        .flat_map(|card| card.benefits.iter().map(move |it| (card, it)))
        .filter(|(_, it)| it.observable)
        .collect();
    proptest::sample::select(all)
}

/// An eligible purchase, and its credit `delay` days later.
fn purchase_and_credit(benefit: &Benefit, day: i64, delay: i64) -> [Entry; 2] {
    let phrase = |it: Option<&Words>| it.map(|it| it.iter().collect::<Vec<_>>().join(" "));
    let categories = [&benefit.eligible.categories, &benefit.eligible.possible_categories];
    let purchase = Entry {
        id: TransactionId::from_bytes([1; 16]),
        on: date_from_days(ZERO + day),
        authorized_on: None,
        amount_minor: -1_000_00,
        description: phrase(benefit.eligible.merchants.first()).unwrap_or_default(),
        key: String::new(),
        category: categories.into_iter().flatten().next().copied(),
    };
    let credit = Entry {
        id: TransactionId::from_bytes([2; 16]),
        on: date_from_days(ZERO + day + delay),
        amount_minor: benefit.amount_minor.unwrap_or(0),
        description: phrase(benefit.credit_patterns.first()).unwrap_or_default(),
        category: None,
        ..purchase.clone()
    };
    [purchase, credit]
}

/// Everything a person would see in a result, as comparable text.
fn visible(usage: &Usage<'_>) -> Vec<String> {
    let row = |it: &BenefitState<'_>| {
        let amounts = (it.used_minor, it.pending_minor, it.captured_minor);
        let fields = (&it.benefit.id, it.status, it.activated);
        format!("{fields:?} {:?} {amounts:?} {:?}", it.cycle, it.evidence)
    };
    usage.current.iter().chain(&usage.ended).map(row).collect()
}

proptest! {
    #[test]
    fn used_and_pending_amounts_stay_within_the_total(
        card in any_card(),
        account in any_account(),
        entries in any_entries(),
        marks in any_marks(),
        day in 0_i64..700,
    ) {
        let as_of = date_from_days(ZERO + day);
        let usage = usage(card, &account, &entries, &marks, as_of);
        for it in usage.current.iter().chain(&usage.ended) {
            prop_assert!((0..=it.total_minor).contains(&it.used_minor));
            prop_assert!((0..=it.used_minor).contains(&it.captured_minor));
            prop_assert!((0..=it.remaining_minor).contains(&it.pending_minor));
            prop_assert_eq!(it.remaining_minor, it.total_minor - it.used_minor);
            prop_assert!(it.expires_on <= it.cycle.end);
        }
        for it in &usage.ended {
            prop_assert!(it.expires_on < as_of && it.expires_on.year() == as_of.year());
        }
        let sums = summary(&usage);
        prop_assert_eq!(sums.remaining_minor, sums.total_minor - sums.used_minor);
        prop_assert_eq!(sums.net_value_minor, sums.captured_minor - sums.annual_fee_minor);
    }

    #[test]
    fn a_credit_is_linked_at_most_once_and_a_purchase_once_for_each_benefit(
        card in any_card(),
        account in any_account(),
        entries in any_entries(),
        day in 0_i64..700,
    ) {
        let usage = usage(card, &account, &entries, &[], date_from_days(ZERO + day));
        let (mut credits, mut purchases) = (BTreeSet::new(), BTreeSet::new());
        for it in usage.current.iter().chain(&usage.ended) {
            for link in &it.evidence {
                prop_assert!(link.amount_minor > 0);
                prop_assert!(it.cycle.contains(link.on));
                prop_assert!(link.credit.is_none_or(|credit| credits.insert(credit)));
                let purchase = link.purchase.map(|purchase| (&it.benefit.id, purchase));
                prop_assert!(purchase.is_none_or(|purchase| purchases.insert(purchase)));
            }
        }
    }

    #[test]
    fn entry_order_and_later_entries_do_not_matter(
        card in any_card(),
        account in any_account(),
        entries in any_entries(),
        marks in any_marks(),
        day in 0_i64..700,
    ) {
        let as_of = date_from_days(ZERO + day);
        let all = usage(card, &account, &entries, &marks, as_of);
        let past: Vec<Entry> =
            entries.iter().rev().filter(|it| it.on <= as_of).cloned().collect();
        let past_marks: Vec<Mark> =
            marks.iter().filter(|it| it.on <= as_of).cloned().collect();
        let past = usage(card, &account, &past, &past_marks, as_of);
        prop_assert_eq!(visible(&all), visible(&past));
    }

    #[test]
    fn the_posting_delay_of_a_credit_does_not_change_its_period(
        (card, benefit) in any_observable(),
        account in any_account(),
        bought in 0_i64..700,
        (one, other) in (any::<proptest::sample::Index>(), any::<proptest::sample::Index>()),
    ) {
        prop_assume!(benefit.is_valid(date_from_days(ZERO + bought)));
        let delays = benefit.posting_days.max as usize + 1;
        let linked = |delay: usize| {
            let entries = purchase_and_credit(benefit, bought, delay as i64);
            let lines = Line::sorted(&entries.iter().collect::<Vec<_>>());
            let anniversary = account.opened_on.map(Anniversary::opened_on);
            let observed = observe(card, &lines, anniversary);
            let at = card.benefits.iter().position(|it| it.id == benefit.id).unwrap();
            observed[at].links.iter().map(|it| (it.purchase, it.on)).collect::<Vec<_>>()
        };
        let (one, other) = (linked(one.index(delays)), linked(other.index(delays)));
        prop_assert_eq!(one.len(), 1);
        prop_assert!(one[0].0.is_some());
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_wider_window_includes_everything_in_a_narrower_one(
        card in any_card(),
        entries in any_entries(),
        day in 0_i64..700,
        days in 1_i64..365,
        more in 0_i64..365,
    ) {
        let as_of = date_from_days(ZERO + day);
        let usage = usage(card, &Account::default(), &entries, &[], as_of);
        let narrow = expiring(&usage.current, days, as_of);
        let wide = expiring(&usage.current, days + more, as_of);
        let ids = |it: &[&BenefitState<'_>]| -> Vec<String> {
            it.iter().map(|it| it.benefit.id.clone()).collect()
        };
        prop_assert_eq!(ids(&narrow), &ids(&wide)[..narrow.len()]);
        let last = wide.last().map_or(1, |it| days_left(it, as_of));
        prop_assert!((0..=days + more).contains(&last));
    }

    #[test]
    fn any_day_is_accepted(
        card in any_card(),
        account in any_account(),
        entries in any_entries(),
        marks in any_marks(),
        day in -719_162_i64..=2_932_896,
    ) {
        let usage = usage(card, &account, &entries, &marks, date_from_days(day));
        prop_assert!(usage.current.len() <= card.benefits.len());
    }
}
