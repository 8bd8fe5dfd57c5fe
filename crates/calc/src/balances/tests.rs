//! Tests of daily balances: the worked example, edge cases, and properties.

use super::*;
use proptest::prelude::*;

/// Day numbers of the tests are relative to this day.
const ZERO: i64 = 20_000;

fn on(day: i64) -> Date {
    date_from_days(ZERO + day)
}

fn snapshot(day: i64, current_minor: i64) -> Snapshot {
    Snapshot { on: on(day), current_minor, available_minor: None, limit_minor: None }
}

fn history(kind: AccountKind, snapshots: &[(i64, i64)], nets: &[(i64, i64)]) -> History {
    History {
        kind,
        currency: Currency::USD,
        snapshots: snapshots.iter().map(|(day, minor)| snapshot(*day, *minor)).collect(),
        net_by_day: nets.iter().map(|(day, net)| (on(*day), *net)).collect(),
        closed_on: None,
    }
}

/// One item per day: its number, balance and source, and its gap if it has one.
fn shown(history: &History, first: i64, last: i64) -> String {
    let describe = |day: &Day| {
        let source = match day.source {
            Source::Reported => "reported",
            Source::Inferred => "inferred",
            Source::Carried => "carried",
        };
        let gap = match day.gap {
            None => String::new(),
            Some(Gap::Drift(minor)) => format!("~{minor}"),
            Some(Gap::Unexplained(minor)) => format!("!{minor}"),
        };
        let number = days_from_date(day.on) - ZERO;
        format!("{number}:{}:{source}{gap}", day.current_minor)
    };
    daily(history, on(first), on(last)).iter().map(describe).collect::<Vec<_>>().join(" ")
}

const EXAMPLE: [(i64, i64); 3] = [(10, 20_000), (9, -5_000), (7, -3_000)];

#[test]
fn days_before_a_snapshot_are_inferred_back_to_the_opening() {
    let history = history(AccountKind::Depository, &[(10, 100_000)], &EXAMPLE);
    assert_eq!(
        shown(&history, 0, 10),
        "6:88000:inferred 7:85000:inferred 8:85000:inferred 9:80000:inferred 10:100000:reported"
    );
}

#[test]
fn a_snapshot_that_disagrees_wins_and_the_next_day_reports_the_difference() {
    let snapshots = [(10, 100_000), (8, 84_500)];
    let history = history(AccountKind::Depository, &snapshots, &EXAMPLE);
    assert_eq!(
        shown(&history, 6, 10),
        "6:87500:inferred 7:84500:inferred 8:84500:reported 9:80000:inferred!500 10:100000:reported"
    );
}

#[test]
fn a_small_difference_is_reported_exactly_as_drift() {
    let gap = |snapshot_minor: i64| {
        let snapshots = [(1, snapshot_minor), (2, 0)];
        shown(&history(AccountKind::Depository, &snapshots, &[]), 2, 2)
    };
    assert_eq!(gap(100), "2:0:reported~-100");
    assert_eq!(gap(101), "2:0:reported!-101");
    let yen = Currency::parse("JPY").unwrap();
    let mut history = history(AccountKind::Depository, &[(1, 2_000), (2, 1_998)], &[]);
    assert_eq!(shown(&history, 2, 2), "2:1998:reported~-2");
    history.currency = yen;
    assert_eq!(shown(&history, 2, 2), "2:1998:reported~-2");
    history.snapshots[1].current_minor = 1_997;
    assert_eq!(shown(&history, 2, 2), "2:1997:reported!-3");
}

#[test]
fn after_the_last_snapshot_transactions_move_the_balance_and_quiet_days_carry_it() {
    let history = history(AccountKind::Depository, &[(1, 500)], &[(1, 5), (3, -200)]);
    assert_eq!(
        shown(&history, 0, 4),
        "0:495:inferred 1:500:reported 2:500:carried 3:300:inferred 4:300:carried"
    );
}

#[test]
fn spending_on_a_card_raises_what_is_owed() {
    let history = history(AccountKind::Credit, &[(2, 30_000)], &[(2, -10_000), (3, 5_000)]);
    assert_eq!(shown(&history, 1, 3), "1:20000:inferred 2:30000:reported 3:25000:inferred");
}

#[test]
fn investments_repeat_their_last_snapshot_regardless_of_trades() {
    let snapshots = [(2, 100), (4, 900)];
    let history = history(AccountKind::Investment, &snapshots, &[(1, 7), (3, 50)]);
    assert_eq!(shown(&history, 0, 5), "2:100:reported 3:100:carried 4:900:reported 5:900:carried");
}

#[test]
fn an_account_is_empty_from_the_day_it_closes() {
    let mut closed = history(AccountKind::Depository, &[(1, 700), (5, 3)], &[(2, -200)]);
    closed.closed_on = Some(on(4));
    assert_eq!(
        shown(&closed, 1, 5),
        "1:700:reported 2:500:inferred 3:500:carried 4:0:reported!-500 5:0:carried"
    );
    closed.snapshots.clear();
    assert_eq!(
        shown(&closed, 0, 5),
        "1:200:inferred 2:0:inferred 3:0:inferred 4:0:reported 5:0:carried"
    );
}

#[test]
fn the_last_of_several_snapshots_of_one_day_counts() {
    let history = history(AccountKind::Depository, &[(3, 100), (3, 900)], &[(2, 50), (3, 10)]);
    assert_eq!(shown(&history, 1, 3), "1:840:inferred 2:890:inferred 3:900:reported");
}

#[test]
fn without_a_snapshot_there_is_no_series() {
    let history = history(AccountKind::Depository, &[], &EXAMPLE);
    assert!(daily(&history, on(0), on(10)).is_empty());
}

#[test]
fn available_stays_on_its_day_and_a_limit_lasts_until_the_next() {
    let mut history = history(AccountKind::Credit, &[(1, 10), (3, 10), (5, 10)], &[]);
    history.snapshots[0].available_minor = Some(90);
    history.snapshots[0].limit_minor = Some(100);
    history.snapshots[2].limit_minor = Some(200);
    let days = daily(&history, on(1), on(6));
    let available: Vec<_> = days.iter().map(|it| it.available_minor).collect();
    assert_eq!(available, [Some(90), None, None, None, None, None]);
    let limits: Vec<_> = days.iter().filter_map(|it| it.limit_minor).collect();
    assert_eq!(limits, [100, 100, 100, 100, 200, 200]);
    history.closed_on = Some(on(6));
    assert_eq!(daily(&history, on(6), on(6))[0].limit_minor, None);
}

fn any_history() -> impl Strategy<Value = History> {
    let kinds = prop::sample::select(AccountKind::ALL);
    let snapshots = prop::collection::btree_map(0..60_i64, -200_000..200_000_i64, 1..6);
    let nets = prop::collection::vec((0..60_i64, -50_000..50_000_i64), 0..30);
    let closed = prop::option::weighted(0.3, 0..70_i64);
    (kinds, snapshots, nets, closed).prop_map(|(kind, snapshots, nets, closed)| {
        let snapshots: Vec<(i64, i64)> = snapshots.into_iter().rev().collect();
        History { closed_on: closed.map(on), ..history(kind, &snapshots, &nets) }
    })
}

fn net_of(history: &History, day: Date) -> i64 {
    let net: i64 = history.net_by_day.iter().filter(|(on, _)| *on == day).map(|(_, net)| net).sum();
    match history.kind {
        AccountKind::Credit | AccountKind::Loan => -net,
        AccountKind::Depository => net,
        AccountKind::Investment | AccountKind::Other => 0,
    }
}

proptest! {
    #[test]
    fn every_change_is_the_transactions_plus_the_gap(history in any_history()) {
        let days = daily(&history, on(-5), on(75));
        for pair in days.windows(2) {
            let gap = pair[1].gap.map_or(0, Gap::minor);
            let change = pair[1].current_minor - pair[0].current_minor;
            if !matches!(history.kind, AccountKind::Investment | AccountKind::Other) {
                prop_assert_eq!(change, net_of(&history, pair[1].on) + gap);
            }
            prop_assert_eq!(pair[0].on.tomorrow().unwrap(), pair[1].on);
        }
    }

    #[test]
    fn the_series_passes_through_every_snapshot_and_ends_at_the_last(history in any_history()) {
        let days = daily(&history, on(0), on(75));
        let at = |day: Date| days.iter().find(|it| it.on == day).unwrap();
        let open = |it: &&Snapshot| history.closed_on.is_none_or(|closed| it.on < closed);
        for snapshot in history.snapshots.iter().filter(open) {
            prop_assert_eq!(at(snapshot.on).current_minor, snapshot.current_minor);
            prop_assert_eq!(at(snapshot.on).source, Source::Reported);
        }
        let latest = history.snapshots.iter().map(|it| it.on).max().unwrap();
        let until_latest = daily(&history, on(-5), latest);
        if history.closed_on.is_none() {
            let current = history.snapshots.iter().find(|it| it.on == latest).unwrap();
            prop_assert_eq!(until_latest.last().unwrap().current_minor, current.current_minor);
        } else if history.closed_on.is_some_and(|closed| closed <= latest) {
            prop_assert!(until_latest.last().is_none_or(|it| it.current_minor == 0));
        }
    }

    #[test]
    fn a_gap_is_reported_only_after_a_snapshot_or_at_the_closing(history in any_history()) {
        for day in daily(&history, on(-5), on(75)).iter().filter(|it| it.gap.is_some()) {
            let after_snapshot =
                history.snapshots.iter().any(|it| it.on.tomorrow().unwrap() == day.on);
            let closed = history.closed_on.is_some_and(|closed| closed <= day.on);
            prop_assert!(after_snapshot || closed);
        }
    }

    #[test]
    fn the_order_of_input_does_not_matter(
        (history, nets) in any_history().prop_flat_map(|it| {
            let nets = Just(it.net_by_day.clone()).prop_shuffle();
            (Just(it), nets)
        })
    ) {
        let mut shuffled = History { net_by_day: nets, ..history.clone() };
        shuffled.snapshots.reverse();
        prop_assert_eq!(daily(&history, on(-5), on(75)), daily(&shuffled, on(-5), on(75)));
    }

    #[test]
    fn a_part_of_the_series_equals_the_same_part_of_the_whole(
        history in any_history(), first in -5..75_i64, length in 0..40_i64,
    ) {
        let whole = daily(&history, on(-5), on(120));
        let within = |it: &&Day| on(first) <= it.on && it.on <= on(first + length);
        let part: Vec<Day> = whole.iter().filter(within).copied().collect();
        prop_assert_eq!(daily(&history, on(first), on(first + length)), part);
    }

    #[test]
    fn a_debt_is_an_asset_with_all_signs_reversed(history in any_history()) {
        let mut reversed = history.clone();
        reversed.kind = match history.kind {
            AccountKind::Credit | AccountKind::Loan => AccountKind::Depository,
            AccountKind::Depository => AccountKind::Credit,
            other => other,
        };
        reversed.net_by_day.iter_mut().for_each(|(_, net)| *net = -*net);
        prop_assert_eq!(daily(&reversed, on(-5), on(75)), daily(&history, on(-5), on(75)));
    }

    #[test]
    fn there_is_no_row_before_the_opening(history in any_history()) {
        let first_net = history.net_by_day.iter().map(|(on, _)| on.yesterday().unwrap()).min();
        let first_known = history.snapshots.iter().map(|it| it.on).chain(history.closed_on).min();
        let opening = first_net.into_iter().chain(first_known).min();
        let days = daily(&history, on(-30), on(75));
        prop_assert!(days.first().is_none_or(|it| Some(it.on) >= opening));
    }

    #[test]
    fn selected_days_equal_the_same_days_of_the_whole_series(
        history in any_history(), picked in prop::collection::btree_set(-5..120_i64, 0..12),
    ) {
        let whole = daily(&history, on(-5), on(120));
        let picked: Vec<Date> = picked.into_iter().map(on).collect();
        let expected: Vec<Day> = whole.iter().filter(|it| picked.contains(&it.on)).copied().collect();
        prop_assert_eq!(on_days(&history, picked), expected);
        let first = opening(&history).filter(|it| *it >= on(-5));
        prop_assert!(first.is_none() || first == whole.first().map(|it| it.on));
    }
}
