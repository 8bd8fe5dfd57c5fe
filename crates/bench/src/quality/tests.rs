//! Tests of the scoring, on cases small enough to score by hand.

use std::path::Path;

use base::category::Category;
use base::{Currency, Date, Timestamp, date_from_days, days_from_date};
use calc::enrich::CategorySource;
use calc::income::Window;
use calc::recurring::Frequency;
use calc::transfers::TransferKind;

use super::case::{Case, Row, Stream};
use super::product::{self, Answer, RowAnswer, Transfer};
use super::share::{Share, Spread};
use super::{adversarial, categories, descriptors, recurring, transfers};
use crate::households::{Preset, household};

const DAY: Date = Date::constant(2026, 1, 1);

fn code(code: &str) -> Category {
    Category::parse(code).unwrap()
}

fn row(index: usize, stream: Option<usize>) -> Row {
    Row {
        name: ("account".to_owned(), index.to_string()),
        description: format!("ROW {index}"),
        amount_minor: -1000,
        posted_on: DAY,
        merchant: "Somebody".to_owned(),
        category: code("FOOD_AND_DRINK_COFFEE"),
        stream,
        pair: None,
        transfer: None,
        income: false,
        noise: String::new(),
    }
}

fn leg(index: usize, amount_minor: i64, pair: Option<&str>, transfer: Option<&str>) -> Row {
    let (pair, transfer) = (pair.map(str::to_owned), transfer.map(str::to_owned));
    Row { amount_minor, pair, transfer, ..row(index, None) }
}

/// A case with one row for each item, which belongs to the given stream.
fn case(streams: &[Option<usize>]) -> Case {
    let rows: Vec<Row> = streams.iter().enumerate().map(|(at, it)| row(at, *it)).collect();
    let count = streams.iter().flatten().max().map_or(0, |it| it + 1);
    let truth = |index| Stream {
        merchant: "Somebody".to_owned(),
        cadence: Frequency::Monthly,
        next_on: Some(Some(DAY)),
        occurrences: streams.iter().filter(|it| **it == Some(index)).count(),
        short: false,
        counts: true,
    };
    Case {
        group: "tests",
        as_of: Timestamp::UNIX_EPOCH,
        currency: Currency::USD,
        statements: Vec::new(),
        rows,
        streams: (0..count).map(truth).collect(),
    }
}

fn answer(case: &Case, streams: &[&[usize]]) -> Answer {
    let row_answer = |key: &str| {
        Some(RowAnswer { key: key.to_owned(), category: None, stage: CategorySource::None })
    };
    let found = |rows: &&[usize]| product::Stream {
        rows: rows.to_vec(),
        name: "Found".to_owned(),
        frequency: Frequency::Monthly,
        next_on: Some(DAY),
    };
    Answer {
        rows: case.rows.iter().map(|_| row_answer("KEY")).collect(),
        streams: streams.iter().map(found).collect(),
        transfers: Vec::new(),
        income: (Window { start: DAY, end: DAY, months: 1, complete: false }, 0),
    }
}

fn share(hits: usize, of: usize) -> Share {
    Share { hits, of }
}

const A: Option<usize> = Some(0);
const B: Option<usize> = Some(1);

#[test]
fn a_found_stream_equal_to_a_true_stream_is_right() {
    let case = case(&[A, A, A, A, None]);
    let score = recurring::score(&case, &answer(&case, &[&[0, 1, 2, 3]]));
    assert_eq!((score.precision, score.recall_of_all()), (share(1, 1), share(1, 1)));
    assert_eq!((score.frequency, score.next_exact), (share(1, 1), share(1, 1)));
}

#[test]
fn a_found_stream_needs_four_fifths_purity_and_half_of_the_true_rows() {
    let case = case(&[A, A, A, A, A, A, A, A, None, None]);
    let right = recurring::score(&case, &answer(&case, &[&[0, 1, 2, 3, 8]]));
    assert_eq!((right.precision, right.recall_of_all()), (share(1, 1), share(1, 1)));
    let impure = recurring::score(&case, &answer(&case, &[&[0, 1, 2, 3, 4, 8, 9]]));
    assert_eq!((impure.precision, impure.recall_of_all()), (share(0, 1), share(0, 1)));
    assert_eq!(impure.wrong.names(), ["a stream with other rows in it"]);
    let little = recurring::score(&case, &answer(&case, &[&[0, 1, 2]]));
    assert_eq!((little.precision, little.recall_of_all()), (share(0, 1), share(0, 1)));
    assert_eq!(little.wrong.names(), ["less than half of a stream"]);
    assert_eq!(little.missed.names(), ["found, but too little of it or with others"]);
}

#[test]
fn a_habit_found_as_a_stream_is_wrong_and_listed_by_its_category() {
    let case = case(&[None, None, None]);
    let score = recurring::score(&case, &answer(&case, &[&[0, 1, 2]]));
    assert_eq!(score.precision, share(0, 1));
    assert_eq!(score.wrong.names(), ["no stream: FOOD_AND_DRINK_COFFEE"]);
}

#[test]
fn two_true_streams_found_as_one_are_a_merge_and_both_missed() {
    let case = case(&[A, A, A, B, B, B]);
    let score = recurring::score(&case, &answer(&case, &[&[0, 1, 2, 3, 4, 5]]));
    assert_eq!((score.precision, score.merged), (share(0, 1), share(1, 1)));
    assert_eq!(score.recall_of_all(), share(0, 2));
    assert_eq!(score.wrong.names(), ["several streams in one"]);
}

#[test]
fn a_true_stream_found_as_two_is_fragmented() {
    let case = case(&[A, A, A, A, A, A]);
    let score = recurring::score(&case, &answer(&case, &[&[0, 1, 2, 3], &[4, 5]]));
    assert_eq!((score.precision, score.fragmented), (share(1, 2), share(1, 1)));
    assert_eq!(score.recall_of_all(), share(1, 1));
}

#[test]
fn a_short_stream_may_be_missed_but_is_right_when_found() {
    let mut case = case(&[A, A]);
    case.streams[0].short = true;
    let missed = recurring::score(&case, &answer(&case, &[]));
    assert_eq!((missed.recall_of_all(), missed.short), (share(0, 0), share(0, 1)));
    let found = recurring::score(&case, &answer(&case, &[&[0, 1]]));
    assert_eq!((found.precision, found.recall_of_all()), (share(1, 1), share(0, 0)));
    assert_eq!(found.short, share(1, 1));
}

#[test]
fn legs_of_own_transfers_do_not_count_as_streams() {
    let mut case = case(&[A, A, A]);
    case.streams[0].counts = false;
    case.rows.iter_mut().for_each(|it| it.transfer = Some("savings".to_owned()));
    let score = recurring::score(&case, &answer(&case, &[&[0, 1, 2]]));
    assert_eq!((score.precision, score.recall_of_all()), (share(0, 1), share(0, 0)));
    assert_eq!(score.wrong.names(), ["leg of an own transfer: savings"]);
}

#[test]
fn the_outflow_of_a_loan_payment_counts_as_a_stream_and_the_inflow_does_not() {
    let world = household(Preset::TwoEarners, 1, 18);
    let case = Case::of_world("two_earners", world).unwrap();
    let mut sides = Vec::new();
    for row in case.rows.iter().filter(|it| it.transfer.as_deref() == Some("loan_payment")) {
        let stream = row.stream.map(|it| case.streams[it].counts);
        sides.push((row.amount_minor < 0, stream));
    }
    assert!(sides.contains(&(true, Some(true))) && sides.contains(&(false, Some(false))));
    assert!(sides.iter().all(|(leaves, counts)| *counts == Some(*leaves)));
}

#[test]
fn the_next_date_is_scored_only_for_streams_that_continue() {
    let mut case = case(&[A, A, A]);
    let late = |days| Some(date_from_days(days_from_date(DAY) + days));
    let scored = |case: &Case, next_on| {
        let mut answer = answer(case, &[&[0, 1, 2]]);
        answer.streams[0].next_on = next_on;
        let score = recurring::score(case, &answer);
        [score.status, score.next_exact, score.next_within_1, score.next_within_3]
    };
    let (yes, no, none) = (share(1, 1), share(0, 1), share(0, 0));
    assert_eq!(scored(&case, late(0)), [yes, yes, yes, yes]);
    assert_eq!(scored(&case, late(-1)), [yes, no, yes, yes]);
    assert_eq!(scored(&case, late(3)), [yes, no, no, yes]);
    assert_eq!(scored(&case, late(4)), [yes, no, no, no]);
    assert_eq!(scored(&case, None), [no, no, no, no]);
    case.streams[0].next_on = Some(None);
    assert_eq!(scored(&case, None), [yes, none, none, none]);
    case.streams[0].next_on = None;
    assert_eq!(scored(&case, late(0)), [none, none, none, none]);
}

#[test]
fn missed_streams_are_listed_by_cause() {
    let case = case(&[A, A, A]);
    let mut nothing = answer(&case, &[]);
    let score = recurring::score(&case, &nothing);
    assert_eq!(score.missed.names(), ["not seen, said to be nothing"]);
    nothing.rows[0].as_mut().unwrap().key = "OTHER".to_owned();
    let score = recurring::score(&case, &nothing);
    assert_eq!(score.missed.names(), ["its rows have several keys"]);
}

#[test]
fn transfers_are_counted_by_row_and_by_pair() {
    let mut case = case(&[]);
    let savings = Some("savings");
    case.rows = vec![
        leg(0, -100, Some("p"), savings),
        leg(1, 100, Some("p"), savings),
        leg(2, -100, Some("q"), savings),
        leg(3, 100, Some("q"), savings),
        leg(4, -100, None, None),
        leg(5, 100, None, savings),
        leg(6, -7, Some("r"), savings),
        leg(7, 7, Some("r"), savings),
    ];
    let pair =
        |outflow, inflow, paired| Transfer { outflow, inflow, paired, kind: TransferKind::Savings };
    let mut answer = answer(&case, &[]);
    // In order: a right pair, one with a purchase, one with a leg whose true other leg is not in the data, and a right
    // pair that is only suggested.
    answer.transfers =
        vec![pair(0, 1, true), pair(4, 3, true), pair(2, 5, true), pair(6, 7, false)];
    let score = transfers::score(&case, &answer);
    assert_eq!((score.pair_precision, score.pair_recall), (share(1, 3), share(1, 3)));
    assert_eq!((score.flag_precision, score.flag_recall), (share(5, 6), share(4, 6)));
    assert_eq!(score.suggested_recall, share(2, 3));
    let wrong = ["FOOD_AND_DRINK_COFFEE with savings", "savings with savings"];
    assert_eq!(score.wrong.names(), wrong);
    assert_eq!(score.missed.names(), ["savings [ / ]"]);
}

#[test]
fn identical_legs_may_be_swapped_but_each_pair_counts_once() {
    let mut case = case(&[]);
    let savings = Some("savings");
    case.rows = vec![
        leg(0, -100, Some("p"), savings),
        leg(1, -100, Some("q"), savings),
        leg(2, 100, Some("p"), savings),
        leg(3, 100, Some("q"), savings),
        leg(4, 100, None, None),
    ];
    case.rows[1].description = case.rows[0].description.clone();
    let pair =
        |outflow, inflow| Transfer { outflow, inflow, paired: true, kind: TransferKind::Savings };
    let mut answer = answer(&case, &[]);
    answer.transfers = vec![pair(0, 3), pair(1, 2)];
    let exchanged = transfers::score(&case, &answer);
    assert_eq!((exchanged.pair_precision, exchanged.pair_recall), (share(2, 2), share(2, 2)));
    case.rows[4].description = case.rows[2].description.clone();
    answer.transfers = vec![pair(0, 2), pair(1, 4)];
    let once = transfers::score(&case, &answer);
    assert_eq!((once.pair_precision, once.pair_recall), (share(1, 2), share(1, 2)));
}

#[test]
fn categories_are_scored_at_both_tiers_and_a_missing_one_is_wrong() {
    let mut score = categories::Score::default();
    let truth = code("INCOME_WAGES");
    for found in ["INCOME_SALARY", "INCOME_DIVIDENDS", "TRANSFER_IN_DEPOSIT"] {
        score.count(truth, (Some(code(found)), CategorySource::Keyword), String::new);
    }
    score.count(truth, (None, CategorySource::None), String::new);
    assert_eq!((score.tier1, score.detailed), (share(2, 4), share(1, 4)));
    assert_eq!(score.covered, share(3, 4));
    assert_eq!(score.by_stage[&CategorySource::Keyword], (share(2, 3), share(1, 3)));
}

const ROWS: &str = "\
# description\tdirection\tkind\tsubtype\tamount\tcurrency\tmerchant\tcategory\tcountry\ttier\tformat
STARBUCKS STORE 08812\toutflow\tcredit\tcredit card\t6.45\tUSD\tOne\tFOOD_AND_DRINK_COFFEE\tUS\tchain\tx
STARBUCKS STORE 00017\toutflow\tcredit\tcredit card\t6.45\tUSD\tOne\tFOOD_AND_DRINK_COFFEE\tUS\tchain\tx
STARBUCKS STORE 00018\toutflow\tcredit\tcredit card\t6.45\tUSD\tTwo\tFOOD_AND_DRINK_COFFEE\tUS\tbare\tx
NETFLIX.COM\toutflow\tcredit\tcredit card\t6.45\tUSD\tOne\tFOOD_AND_DRINK_COFFEE\tUS\tchain\ty
";

#[test]
fn descriptor_scores_cover_stability_collisions_and_tiers() {
    let score = descriptors::score(&descriptors::read(ROWS).unwrap());
    assert_eq!(score.all.tier1, share(3, 4));
    assert_eq!(score.without("bare").tier1, share(2, 3));
    assert_eq!((score.key_stability, score.merchant_stability), (share(1, 3), share(1, 3)));
    assert_eq!(score.collisions, share(1, 2));
}

#[test]
fn an_external_file_without_labels_is_scored_by_its_categories() {
    let rows = descriptors::read(ROWS).unwrap();
    let accepted = descriptors::accepted(&rows, Path::new("nowhere/rows.tsv"));
    assert_eq!(accepted, [("x".to_owned(), share(3, 3)), ("y".to_owned(), share(0, 1))]);
}

#[test]
fn the_interval_of_a_share_is_the_wilson_interval() {
    // Computed by hand from the formula, for 8 of 10.
    let (low, high) = share(8, 10).interval().unwrap();
    assert_eq!((format!("{low:.4}"), format!("{high:.4}")), ("0.4902".into(), "0.9433".into()));
    assert_eq!(share(0, 0).interval(), None);
    let spread = Spread::of([share(1, 2), share(0, 0), share(1, 1), share(3, 4)].into_iter());
    assert_eq!(spread.unwrap().to_string(), "households: worst 0.500, median 0.750");
}

#[tokio::test]
async fn the_product_answers_for_every_row_of_a_household() {
    let case = Case::of_world("thin", household(Preset::Thin, 1, 6)).unwrap();
    let answer = product::run_case(&case).await.unwrap();
    assert!(answer.rows.iter().all(Option::is_some));
    assert!(!answer.streams.is_empty() && !answer.transfers.is_empty());
    assert!(answer.income.1 > 0);
    let found: Vec<usize> = answer.streams.iter().flat_map(|it| it.rows.clone()).collect();
    assert!(found.iter().all(|it| *it < case.rows.len()));
}

#[tokio::test]
async fn only_the_known_failures_fail_among_reported_cases() {
    let outcomes = adversarial::check().await.unwrap();
    let failed: Vec<&str> = outcomes.iter().filter(|it| it.1.is_some()).map(|it| it.0).collect();
    let known: Vec<&str> = adversarial::KNOWN_FAILURES.iter().map(|it| it.0).collect();
    assert_eq!(failed, known, "{outcomes:#?}");
    assert!(adversarial::KNOWN_FAILURES.iter().all(|it| !it.1.is_empty()));
}
