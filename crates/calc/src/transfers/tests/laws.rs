//! Properties that hold for every list of legs.

use std::collections::{BTreeMap, BTreeSet};

use base::days_from_date;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

const TEXTS: [&str; 10] = [
    "",
    "TRANSFER TO SAVINGS",
    "AMEX EPAYMENT",
    "TRANSFER FROM CHASE X1111",
    "ALLY 2222",
    "TO VACATION",
    "SCHWAB MONEYLINK",
    "CASH ADVANCE",
    "BALANCE TRANSFER WISE",
    "GROCERIES",
];
const CODES: [&str; 8] = [
    "",
    "",
    "",
    "TRANSFER_OUT_ACCOUNT_TRANSFER",
    "TRANSFER_IN_SAVINGS",
    "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT",
    "FOOD_AND_DRINK_GROCERIES",
    "TRANSFER_OUT_WITHDRAWAL",
];
/// Equal amounts, amounts that differ by a fee, and two that agree at the exchange rate.
const AMOUNTS: [i64; 7] = [50_000, 50_000, 49_700, 45_500, 12_357, 3_111, 500];

/// A leg with few possible amounts, days and texts, so that candidates and ties are common.
fn any_leg(days: i64) -> impl Strategy<Value = Leg> {
    let flags = (
        prop::bool::weighted(0.5),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
    );
    let posting = (1..=11_u8, 0..days, prop::option::weighted(0.2, 0..days));
    let amount = (select(&AMOUNTS[..]), any::<bool>(), prop::bool::weighted(0.15));
    (posting, amount, select(&TEXTS[..]), select(&CODES[..]), flags).prop_map(
        |((account, day, authorized), (minor, is_inflow, is_euro), text, code, flags)| {
            let (transfer, refund, person, merchant) = flags;
            let minor = if is_inflow { minor } else { -minor };
            Leg {
                authorized_on: authorized.map(|it| date_from_days(ZERO + it)),
                currency: if is_euro { Currency::EUR } else { Currency::USD },
                merchant,
                words: TextFlags { transfer, refund, person },
                ..categorized(leg(0, account, day, minor, text), code)
            }
        },
    )
}

fn any_legs(days: i64, most: usize) -> impl Strategy<Value = Vec<Leg>> {
    prop::collection::vec(any_leg(days), 0..most).prop_map(|legs| {
        let number = |(at, it): (usize, Leg)| Leg { id: id(at as u64), ..it };
        legs.into_iter().enumerate().map(number).collect()
    })
}

fn all(found: &PairingResult) -> impl Iterator<Item = &Pair> {
    found.pairs.iter().chain(&found.suggestions)
}

fn ids(pairs: &[Pair]) -> BTreeSet<(TransactionId, TransactionId)> {
    pairs.iter().map(|it| (it.outflow, it.inflow)).collect()
}

/// The pairs and suggestions that have one of the given legs.
fn with_legs(found: &PairingResult, some: &BTreeSet<TransactionId>) -> PairingResult {
    let keep = |pairs: &[Pair]| {
        let has_leg = |it: &&Pair| some.contains(&it.outflow) || some.contains(&it.inflow);
        pairs.iter().filter(has_leg).cloned().collect()
    };
    PairingResult { pairs: keep(&found.pairs), suggestions: keep(&found.suggestions) }
}

fn is_near(leg: &Leg, others: &[&Leg]) -> bool {
    let day = days_from_date(leg.on);
    others.iter().any(|it| (days_from_date(it.on) - day).abs() <= REACH_DAYS)
}

fn groups(legs: &[Leg], overrides: &TransferOverrides) -> Vec<Vec<usize>> {
    components(&accounts(), legs, overrides, &convert)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_order_of_accounts_and_legs_does_not_matter(
        (legs, shuffled) in any_legs(12, 60)
            .prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
        accounts in Just(accounts()).prop_shuffle(),
    ) {
        prop_assert_eq!(found(&legs), pair(&accounts, &shuffled, &TransferOverrides::default(), &convert));
    }

    #[test]
    fn every_pair_is_two_opposite_legs_that_no_other_pair_has(legs in any_legs(12, 60)) {
        let found = found(&legs);
        let by_id: BTreeMap<TransactionId, &Leg> = legs.iter().map(|it| (it.id, it)).collect();
        let used: Vec<TransactionId> = all(&found).flat_map(|it| [it.outflow, it.inflow]).collect();
        let distinct: BTreeSet<TransactionId> = used.iter().copied().collect();
        prop_assert_eq!(used.len(), distinct.len());
        for it in all(&found) {
            let (out, into) = (by_id[&it.outflow], by_id[&it.inflow]);
            prop_assert!(out.amount_minor < 0 && into.amount_minor > 0);
            prop_assert!(out.account != into.account);
            if out.currency == into.currency {
                prop_assert_eq!(out.amount_minor + into.amount_minor + it.fee_minor, 0);
                prop_assert!((0..=500).contains(&it.fee_minor));
            } else {
                prop_assert_eq!(it.fee_minor, 0);
            }
            let points: i32 = it.evidence.iter().map(|it| it.points_halves()).sum();
            prop_assert_eq!(it.points_halves, points);
            prop_assert!(it.evidence.iter().all(|it| it.text().ends_with('.')));
        }
        for pairs in [&found.pairs, &found.suggestions] {
            prop_assert!(pairs.is_sorted_by_key(|it| (it.outflow, it.inflow)));
        }
        prop_assert!(found.pairs.iter().all(|it| it.points_halves >= ACCEPT_HALVES));
        prop_assert!(found.suggestions.iter().all(|it| it.points_halves >= SUGGEST_HALVES));
    }

    #[test]
    fn a_refused_pair_is_never_found_again(legs in any_legs(12, 60)) {
        let mut overrides = TransferOverrides::default();
        loop {
            let found = found_with(&legs, &overrides);
            prop_assert!(all(&found).all(|it| !overrides.refused.contains(&(it.outflow, it.inflow))));
            if all(&found).next().is_none() {
                break;
            }
            overrides.refused.extend(all(&found).map(|it| (it.outflow, it.inflow)));
        }
        prop_assert!(groups(&legs, &overrides).is_empty());
    }

    #[test]
    fn a_leg_marked_as_no_transfer_is_in_no_pair(
        legs in any_legs(12, 60), no in prop::collection::btree_set(0..60_u64, 0..30),
    ) {
        let not_transfers: BTreeSet<TransactionId> = no.into_iter().map(id).collect();
        let overrides = TransferOverrides { not_transfers, ..TransferOverrides::default() };
        let found = found_with(&legs, &overrides);
        prop_assert_eq!(with_legs(&found, &overrides.not_transfers), PairingResult::default());
    }

    #[test]
    fn confirming_the_found_pairs_changes_nothing(legs in any_legs(12, 60)) {
        let first = found(&legs);
        let overrides = TransferOverrides { confirmed: ids(&first.pairs), ..TransferOverrides::default() };
        let second = found_with(&legs, &overrides);
        prop_assert_eq!(ids(&second.pairs), ids(&first.pairs));
        // A confirmed leg is open to no other, and the pairs that it could have formed with others are not counted as
        // repetitions any more.
        let is_repeated = |it: &Pair| it.evidence.contains(&Evidence::Repeated);
        if !first.suggestions.iter().chain(&second.suggestions).any(is_repeated) {
            prop_assert_eq!(ids(&second.suggestions), ids(&first.suggestions));
        }
    }

    #[test]
    fn an_account_without_equal_amounts_changes_nothing(
        legs in any_legs(12, 60), others in any_legs(12, 20),
    ) {
        let stranger = account(99, AccountKind::Depository, "checking", ["Zion", "Zeta", "0909"]);
        let accounts = [accounts(), vec![stranger]].concat();
        let moved = |(at, it): (usize, Leg)| Leg {
            id: id(1_000 + at as u64),
            account: AccountId::from_bytes([99; 16]),
            amount_minor: it.amount_minor * 1_000,
            ..it
        };
        let more = [legs.clone(), others.into_iter().enumerate().map(moved).collect()].concat();
        prop_assert_eq!(found(&legs), pair(&accounts, &more, &TransferOverrides::default(), &convert));
    }

    #[test]
    fn both_legs_of_a_pair_are_in_the_same_group(legs in any_legs(40, 60)) {
        let found = found(&legs);
        let groups = groups(&legs, &TransferOverrides::default());
        let members: Vec<BTreeSet<TransactionId>> =
            groups.iter().map(|it| it.iter().map(|at| legs[*at].id).collect()).collect();
        for it in all(&found) {
            let holds = |group: &&BTreeSet<TransactionId>| group.contains(&it.outflow);
            let group = members.iter().find(holds);
            prop_assert!(group.is_some_and(|group| group.contains(&it.inflow)));
        }
        let count: usize = groups.iter().map(Vec::len).sum();
        let distinct: BTreeSet<usize> = groups.iter().flatten().copied().collect();
        prop_assert_eq!(count, distinct.len());
        prop_assert!(groups.iter().all(|it| it.is_sorted()) && groups.is_sorted());
    }

    #[test]
    fn a_group_and_the_legs_within_reach_give_the_same_pairs_as_all_legs(
        legs in any_legs(150, 120),
        picked in prop::collection::vec(any::<Index>(), 1..3),
        more in prop::collection::btree_set(0..120_usize, 0..20),
    ) {
        let groups = groups(&legs, &TransferOverrides::default());
        let at = |it: &Index| it.index(groups.len().max(1));
        let chosen: BTreeSet<usize> =
            picked.iter().filter_map(|it| groups.get(at(it))).flatten().copied().collect();
        let inside: Vec<&Leg> = chosen.iter().map(|at| &legs[*at]).collect();
        let some: Vec<Leg> = legs
            .iter()
            .enumerate()
            .filter(|(at, it)| more.contains(at) || is_near(it, &inside))
            .map(|(_, it)| it.clone())
            .collect();
        let names: BTreeSet<TransactionId> = inside.iter().map(|it| it.id).collect();
        prop_assert_eq!(with_legs(&found(&some), &names), with_legs(&found(&legs), &names));
    }

    #[test]
    fn a_new_leg_changes_only_pairs_within_its_reach(
        legs in any_legs(150, 120), new in any_leg(150),
    ) {
        let new = Leg { id: id(500), ..new };
        let after = [legs.clone(), vec![new.clone()]].concat();
        let mut far: BTreeSet<TransactionId> = after.iter().map(|it| it.id).collect();
        for legs in [&legs, &after] {
            for group in groups(legs, &TransferOverrides::default()) {
                if group.iter().any(|at| is_near(&legs[*at], &[&new])) {
                    far.retain(|id| !group.iter().any(|at| legs[*at].id == *id));
                }
            }
        }
        prop_assert_eq!(with_legs(&found(&legs), &far), with_legs(&found(&after), &far));
    }

    #[test]
    fn no_input_panics(
        rows in prop::collection::vec(
            (any::<u8>(), any::<i64>(), -719_528..2_932_896_i64, any::<String>(), any::<bool>()),
            0..40,
        ),
        texts in prop::collection::vec(any::<String>(), 3),
        rate: i64,
    ) {
        let mut accounts = accounts();
        accounts[0].name = texts[0].clone();
        accounts[1].institution = Some(texts[1].clone());
        accounts[2].mask = Some(texts[2].clone());
        let extremes = [i64::MIN, i64::MAX, -i64::MAX, 0, 1, -1];
        let mut legs = Vec::new();
        for (at, (account, minor, day, text, is_extreme)) in rows.into_iter().enumerate() {
            let minor = if is_extreme { extremes[account as usize % 6] } else { minor };
            let day = if is_extreme { 2_932_896 - ZERO } else { day - ZERO };
            let currency = if minor % 3 == 0 { Currency::EUR } else { Currency::USD };
            let leg = transfer_leg(at as u64, account % 11, day, minor, &text);
            legs.push(Leg { currency, ..leg });
        }
        let found = pair(&accounts, &legs, &TransferOverrides::default(), &|_, _, _, _| Some(rate));
        prop_assert!(found.pairs.len() * 2 <= legs.len());
    }
}

#[test]
fn texts_are_read_once_and_only_where_amounts_and_days_agree() {
    let legs = [
        transfer_leg(1, CHECKING, 0, -50_000, "TRANSFER TO SAVINGS"),
        transfer_leg(2, SAVINGS, 1, 49_700, "TRANSFER"),
        transfer_leg(3, SAVINGS, 1, 50_000, "TRANSFER"),
        // The same amount, but much later.
        transfer_leg(4, CHECKING, 30, -50_000, "TRANSFER TO SAVINGS"),
        // A similar amount, but less.
        transfer_leg(5, CHECKING, 1, -49_000, "TRANSFER TO SAVINGS"),
        leg(6, AMEX, 1, -1_234, "SHOP"),
        transfer_leg(7, VACATION, 2, -80_000, "TRANSFER"),
    ];
    let read_legs = std::cell::RefCell::new(Vec::new());
    let (bare, texts_of_legs): (Vec<_>, Vec<_>) = legs.iter().map(Leg::parts).unzip();
    let read_text = |leg: usize| {
        read_legs.borrow_mut().push(leg);
        texts_of_legs[leg].clone()
    };
    let found =
        super::super::pair(&accounts(), &bare, &read_text, &TransferOverrides::default(), &convert);
    assert_eq!(shown(&found), "1>3:19");
    read_legs.borrow_mut().sort_unstable();
    assert_eq!(read_legs.into_inner(), [0, 1, 2]);
}

/// Leg 4 makes the amount of 1 and 2 common, and so decides whether 2 has a better partner than 3.
#[test]
fn a_leg_can_make_an_amount_common_a_month_away() {
    let legs = [
        leg(1, CHECKING, 30, -12_357, "ACH"),
        transfer_leg(2, SAVINGS, 35, 12_357, "DEPOSIT"),
        transfer_leg(3, BROKERAGE, 30, -12_400, "TRANSFER"),
        leg(4, AMEX, 0, -12_357, "SHOP"),
    ];
    check(&legs[..3], "1>2:9?");
    check(&legs, "3>2:9?");
    assert!(days_from_date(legs[1].on) - days_from_date(legs[3].on) <= REACH_DAYS);
}

/// Three transfers of one amount support each other, two do not; the first leg decides about the last.
#[test]
fn a_standing_order_without_words_is_recognized_by_repetition() {
    let order = |at: u64, day: i64| {
        [
            leg(at, CHECKING, day, -50_000, "ACH DEBIT"),
            leg(at + 1, SAVINGS, day + 1, 50_000, "ACH CREDIT"),
        ]
    };
    let legs = [order(1, 0), order(3, REPEAT_DAYS / 2), order(5, REPEAT_DAYS)].concat();
    check(&legs, "1>2:10 3>4:10 5>6:10");
    check(&legs[1..], "");
    let reach = days_from_date(legs[5].on) - days_from_date(legs[0].on);
    assert!(reach > REPEAT_DAYS && reach <= REACH_DAYS);
    let small: Vec<Leg> =
        legs.into_iter().map(|it| Leg { amount_minor: it.amount_minor / 50, ..it }).collect();
    check(&small, "");
}
