//! Tests of transaction matching, and properties of importing.

use std::collections::BTreeSet;
use std::slice;

use base::{Currency, date_from_days};
use proptest::prelude::*;

use super::DraftMatch::{Changed, New, Repeated, Seen};
use super::*;

/// Day numbers of the tests are relative to this day.
const ZERO: i64 = 20_000;

fn draft(id: &str, day: i64, minor: i64, description: &str) -> TransactionDraft {
    TransactionDraft {
        external_id: (!id.is_empty()).then(|| id.to_owned()),
        pending: false,
        settles: None,
        posted_on: date_from_days(ZERO + day),
        authorized_on: None,
        amount: Money::new(minor, Currency::USD),
        description: description.to_owned(),
        counterparty: None,
        counterparty_logo_url: None,
        category: None,
    }
}

fn pending(id: &str, day: i64, minor: i64, description: &str) -> TransactionDraft {
    TransactionDraft { pending: true, ..draft(id, day, minor, description) }
}

/// Imports like the product: new transactions get the next id, changed ones keep theirs.
fn import(known: &mut Vec<KnownTransaction>, drafts: &[TransactionDraft]) -> Vec<DraftMatch> {
    import_by("", known, drafts)
}

fn import_by(
    provenance: &str,
    known: &mut Vec<KnownTransaction>,
    drafts: &[TransactionDraft],
) -> Vec<DraftMatch> {
    let matches = match_drafts(known, drafts, provenance);
    for (draft, matched) in drafts.iter().zip(&matches) {
        match *matched {
            DraftMatch::New => {
                let number = known.len() as u128;
                let id = TransactionId::from_bytes(number.to_be_bytes());
                known.push(KnownTransaction {
                    id,
                    content: draft.clone(),
                    provenance: provenance.into(),
                });
            }
            DraftMatch::Changed(at) => known[at].content = merged(&known[at].content, draft),
            DraftMatch::Seen(_) | DraftMatch::Repeated(_) => {}
        }
    }
    matches
}

fn imported(drafts: &[TransactionDraft]) -> Vec<KnownTransaction> {
    let mut known = Vec::new();
    import(&mut known, drafts);
    known
}

fn check(known: &[TransactionDraft], drafts: &[TransactionDraft], expected: &[DraftMatch]) {
    let known: Vec<KnownTransaction> = imported(known);
    assert_eq!(match_drafts(&known, drafts, ""), expected);
}

#[test]
fn an_equal_id_matches_whatever_else_changed() {
    let known = [draft("a", 1, -500, "Shop"), draft("b", 1, -500, "Shop")];
    check(
        &known,
        &[draft("b", 9, -700, "Other"), draft("a", 1, -500, "Shop")],
        &[Changed(1), Seen(0)],
    );
}

#[test]
fn equal_content_under_another_id_is_another_transaction() {
    check(&[draft("a", 1, -500, "Shop")], &[draft("b", 1, -500, "Shop")], &[New]);
}

#[test]
fn a_posted_transaction_replaces_the_pending_one_it_settles() {
    let known = [pending("p", 1, -500, "HOLD"), draft("q", 1, -500, "HOLD")];
    let settles = |id: &str| TransactionDraft {
        settles: Some(id.to_owned()),
        ..draft("t", 4, -9_900, "Completely different")
    };
    check(&known, &[settles("p")], &[Changed(0)]);
    check(&known, &[settles("q")], &[New]);
    let mut settled = imported(&known);
    assert_eq!(import(&mut settled, &[settles("p")]), [Changed(0)]);
    assert_eq!(import(&mut settled, &[settles("p")]), [Seen(0)]);
    let unnamed = draft("t", 4, -9_900, "Completely different");
    check(&[unnamed], &[settles("p")], &[Seen(0)]);
    let still_listed = pending("p", 1, -500, "HOLD");
    check(&known, &[settles("p"), still_listed], &[New, Seen(0)]);
}

#[test]
fn a_draft_that_settles_an_unknown_transaction_matches_no_other() {
    let named = TransactionDraft { settles: Some("x".to_owned()), ..draft("t", 2, -500, "Shop") };
    check(&[pending("p", 1, -500, "Shop")], &[named], &[New]);
}

#[test]
fn a_pending_transaction_is_recognized_when_it_posts_under_another_id_or_none() {
    let known = [pending("p", 5, -500, "SQ *BLUE BOTTLE")];
    for id in ["t", ""] {
        check(&known, &[draft(id, 7, -500, "Blue Bottle Coffee Oakland")], &[Changed(0)]);
        check(&known, &[draft(id, 2, -500, "BLUE-BOTTLE")], &[Changed(0)]);
        check(&known, &[draft(id, 19, -500, "BLUE-BOTTLE")], &[Changed(0)]);
        check(&known, &[draft(id, 1, -500, "BLUE-BOTTLE")], &[New]);
        check(&known, &[draft(id, 20, -500, "BLUE-BOTTLE")], &[New]);
        check(&known, &[draft(id, 7, 500, "BLUE BOTTLE")], &[New]);
        check(&known, &[draft(id, 7, -500, "RED KETTLE")], &[New]);
        check(&known, &[draft(id, 7, -500, "BLUE CHAIR HOTEL")], &[New]);
        check(&known, &[pending(id, 7, -500, "BLUE BOTTLE")], &[New]);
    }
}

#[test]
fn a_tip_or_a_hold_may_change_the_amount_of_an_outflow_but_not_of_an_inflow() {
    let dinner = [pending("p", 5, -4_000, "Trattoria Roma")];
    for (minor, expected) in
        [(-3_000, Changed(0)), (-2_999, New), (-6_000, Changed(0)), (-6_001, New)]
    {
        check(&dinner, &[draft("t", 6, minor, "TRATTORIA ROMA")], &[expected]);
    }
    let lunch = [pending("p", 5, -4_001, "Trattoria Roma")];
    check(&lunch, &[draft("t", 6, -3_000, "Trattoria Roma")], &[New]);
    let salary = [pending("p", 5, 4_000, "Payroll")];
    check(&salary, &[draft("t", 6, 4_001, "Payroll")], &[New]);
    check(&salary, &[draft("t", 6, 4_000, "Payroll")], &[Changed(0)]);
}

#[test]
fn the_exact_amount_is_preferred_to_the_nearest_day() {
    let known = [pending("p", 5, -1_100, "Cafe"), pending("q", 3, -1_000, "Cafe")];
    let drafts = [draft("t", 5, -1_000, "Cafe"), draft("u", 5, -1_200, "Cafe")];
    check(&known, &drafts, &[Changed(1), Changed(0)]);
    check(&known, &drafts[..1], &[Changed(1)]);
    let equal = [pending("p", 2, -1_000, "Cafe"), pending("q", 5, -1_000, "Cafe")];
    let drafts = [draft("t", 4, -1_000, "Cafe"), draft("u", 5, -1_000, "Cafe")];
    check(&equal, &drafts, &[Changed(0), Changed(1)]);
}

#[test]
fn a_pending_transaction_still_listed_does_not_match_a_similar_posted_one() {
    for id in ["p", ""] {
        let known = [pending(id, 5, -275, "Metro")];
        let drafts = [draft("", 5, -275, "Metro"), pending(id, 5, -275, "Metro")];
        check(&known, &drafts, &[New, Seen(0)]);
    }
    let known = [pending("p", 5, -275, "Metro"), pending("q", 4, -275, "Metro")];
    let drafts = [draft("t", 5, -275, "Metro"), pending("p", 5, -275, "Metro")];
    check(&known, &drafts, &[Changed(1), Seen(0)]);
}

#[test]
fn two_equal_purchases_of_one_day_stay_two() {
    let coffee = draft("", 1, -450, "Coffee");
    check(slice::from_ref(&coffee), &[coffee.clone(), coffee.clone()], &[Seen(0), New]);
    check(&[coffee.clone(), coffee.clone()], &[coffee.clone(), coffee], &[Seen(0), Seen(1)]);
}

#[test]
fn a_file_recognizes_transactions_of_the_bank_and_the_other_way_round() {
    let (from_file, from_bank) = (draft("", 1, -450, "Coffee"), draft("a", 1, -450, "Coffee"));
    check(slice::from_ref(&from_bank), slice::from_ref(&from_file), &[Seen(0)]);
    let both = [from_bank.clone(), from_file.clone()];
    check(slice::from_ref(&from_file), &both, &[New, Seen(0)]);
    check(&[from_file], &[from_bank], &[Changed(0)]);
}

#[test]
fn fields_that_an_update_leaves_out_are_kept() {
    let complete = TransactionDraft {
        counterparty: Some("Blue Bottle".to_owned()),
        ..draft("a", 1, -450, "Coffee")
    };
    let mut known = imported(&[complete]);
    assert_eq!(import(&mut known, &[draft("", 1, -450, "Coffee")]), [Seen(0)]);
    assert_eq!(import(&mut known, &[draft("a", 1, -460, "Coffee")]), [Changed(0)]);
    assert_eq!(known[0].content.counterparty.as_deref(), Some("Blue Bottle"));
    assert_eq!(known[0].content.external_id.as_deref(), Some("a"));
}

#[test]
fn an_id_repeated_in_a_batch_counts_once_with_its_last_content() {
    let drafts = [draft("a", 1, -1, "x"), draft("b", 1, -1, "x"), draft("a", 1, -2, "x")];
    check(&[], &drafts, &[Repeated(2), New, New]);
    check(&[draft("a", 1, -2, "x")], &drafts, &[Repeated(2), New, Seen(0)]);
}

#[test]
fn descriptions_without_words_match_only_each_other() {
    check(&[pending("p", 1, -5, "***")], &[draft("t", 2, -5, "--")], &[Changed(0)]);
    check(&[pending("p", 1, -5, "***")], &[draft("t", 2, -5, "Shop")], &[New]);
}

#[test]
fn match_counts_include_every_draft_once() {
    let matches = [New, Seen(0), Changed(1), Repeated(0), New];
    assert_eq!(MatchCounts::of(&matches), MatchCounts { new: 2, changed: 1, seen: 2 });
}

/// A draft with few possible days, amounts and words, so that similar and equal transactions are common.
fn any_content() -> impl Strategy<Value = TransactionDraft> {
    let amounts = prop::sample::select(vec![-1_200, -1_000, -1_000, -400, 400, 0]);
    let words = prop::sample::select(vec!["Cafe Roma", "CAFE", "Roma Hotel", "Metro", ""]);
    (0..25_i64, amounts, words, prop::bool::weighted(0.3)).prop_map(
        |(day, minor, words, is_pending)| TransactionDraft {
            pending: is_pending,
            ..draft("", day, minor, words)
        },
    )
}

fn with_ids(drafts: Vec<TransactionDraft>, prefix: &str) -> Vec<TransactionDraft> {
    let name = |(at, it)| TransactionDraft { external_id: Some(format!("{prefix}{at}")), ..it };
    drafts.into_iter().enumerate().map(name).collect()
}

fn any_batch() -> impl Strategy<Value = Vec<TransactionDraft>> {
    let id = prop::option::of(0..1_000_u32);
    prop::collection::vec((any_content(), id), 0..40).prop_map(|rows| {
        let with_id = |(it, id): (TransactionDraft, Option<u32>)| TransactionDraft {
            external_id: id.map(|it| it.to_string()),
            ..it
        };
        rows.into_iter().map(with_id).collect()
    })
}

fn any_batch_with_ids(prefix: &'static str) -> impl Strategy<Value = Vec<TransactionDraft>> {
    prop::collection::vec(any_content(), 0..40).prop_map(move |it| with_ids(it, prefix))
}

fn matched_index(matched: &DraftMatch) -> Option<usize> {
    match *matched {
        Seen(at) | Changed(at) => Some(at),
        New | Repeated(_) => None,
    }
}

/// The pairs of a draft's external id and the known transaction that it matches, independent of order.
fn pairs(
    known: &[KnownTransaction],
    drafts: &[TransactionDraft],
) -> BTreeSet<(Option<String>, usize)> {
    let matches = match_drafts(known, drafts, "");
    let pair = |(draft, matched): (&TransactionDraft, &DraftMatch)| {
        matched_index(matched).map(|at| (draft.external_id.clone(), at))
    };
    drafts.iter().zip(&matches).filter_map(pair).collect()
}

fn contents(known: &[KnownTransaction]) -> BTreeSet<String> {
    known.iter().map(|it| format!("{:?}", it.content)).collect()
}

proptest! {
    #[test]
    fn importing_a_batch_again_changes_nothing(batch in any_batch()) {
        let mut known = imported(&batch);
        let count = known.len();
        let matches = import(&mut known, &batch);
        prop_assert!(matches.iter().all(|it| matches!(it, Seen(_) | Repeated(_))), "{matches:?}");
        prop_assert_eq!(known.len(), count);
    }

    #[test]
    fn a_known_transaction_matches_at_most_one_draft(first in any_batch(), second in any_batch()) {
        let known = imported(&first);
        let matches = match_drafts(&known, &second, "");
        let indexes: Vec<usize> = matches.iter().filter_map(matched_index).collect();
        let distinct: BTreeSet<usize> = indexes.iter().copied().collect();
        prop_assert_eq!(indexes.len(), distinct.len());
        prop_assert!(distinct.iter().all(|it| *it < known.len()));
    }

    #[test]
    fn different_ids_match_only_when_a_pending_transaction_posts(
        first in any_batch(), second in any_batch(),
    ) {
        let known = imported(&first);
        for (draft, matched) in second.iter().zip(match_drafts(&known, &second, "")) {
            let Some(at) = matched_index(&matched) else { continue };
            let old = &known[at].content;
            let differ = draft.external_id.is_some()
                && old.external_id.is_some()
                && draft.external_id != old.external_id;
            prop_assert!(!differ || (old.pending && !draft.pending));
        }
    }

    #[test]
    fn the_order_of_a_batch_with_ids_does_not_matter(
        first in any_batch_with_ids("p"),
        (second, shuffled) in any_batch_with_ids("t")
            .prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        let known = imported(&first);
        prop_assert_eq!(pairs(&known, &second), pairs(&known, &shuffled));
    }

    /// Posted transactions only: in one batch, a purchase listed both pending and posted cannot be recognized as one.
    #[test]
    fn importing_two_batches_equals_importing_their_union(
        rows in any_batch_with_ids("t"), cut: prop::sample::Index, overlap in 0..10_usize,
    ) {
        let rows: Vec<_> =
            rows.into_iter().map(|it| TransactionDraft { pending: false, ..it }).collect();
        let cut = cut.index(rows.len() + 1);
        let mut known = imported(&rows[..(cut + overlap).min(rows.len())]);
        import(&mut known, &rows[cut..]);
        prop_assert_eq!(known.len(), rows.len());
        prop_assert_eq!(contents(&known), contents(&imported(&rows)));
    }

    #[test]
    fn a_pending_transaction_keeps_its_id_when_it_posts(
        before in any_batch_with_ids("p"), after in any_content(), pick: prop::sample::Index,
    ) {
        prop_assume!(!before.is_empty());
        let mut known = imported(&before);
        let at = pick.index(before.len());
        let id = known[at].id;
        known[at].content.pending = true;
        let posted = TransactionDraft {
            external_id: before[at].external_id.clone(),
            pending: false,
            ..after
        };
        prop_assert_eq!(import(&mut known, slice::from_ref(&posted)), [Changed(at)]);
        prop_assert_eq!(known.len(), before.len());
        prop_assert_eq!((known[at].id, &known[at].content), (id, &posted));
    }
}

/// The same purchase in a bank's OFX file and in its CSV file.
fn reported_twice(id: u32, day: i64, minor: i64) -> (TransactionDraft, TransactionDraft) {
    let ofx = draft(&format!("file:ofx {id}"), day, minor, "BLUE BOTTLE COFFEE 0042 OAKLAND");
    (ofx, draft("", day - 1, minor, "Blue Bottle Coffee"))
}

#[test]
fn two_sources_of_one_account_create_no_duplicates_in_either_order() {
    let days = [0, 0, 1, 2, 9, 10, 30];
    let (ofx, csv): (Vec<_>, Vec<_>) =
        days.iter().enumerate().map(|(n, day)| reported_twice(n as u32, *day, -450)).unzip();
    let mut one = Vec::new();
    assert_eq!(import_by("file:ofx", &mut one, &ofx), vec![New; 7]);
    let again = import_by("file:csv", &mut one, &csv);
    assert!(again.iter().all(|it| matches!(it, Seen(_))), "{again:?}");
    let mut other = Vec::new();
    import_by("file:csv", &mut other, &csv);
    let better = import_by("file:ofx", &mut other, &ofx);
    assert!(better.iter().all(|it| matches!(it, Changed(_))), "{better:?}");
    let sorted = |known: &[KnownTransaction]| {
        let mut texts: Vec<_> = known.iter().map(|it| format!("{:?}", it.content)).collect();
        texts.sort();
        texts
    };
    assert_eq!(sorted(&one), sorted(&other));
    for (provenance, drafts) in [("file:csv", &csv), ("file:ofx", &ofx)] {
        let matches = import_by(provenance, &mut other, drafts);
        assert!(matches.iter().all(|it| matches!(it, Seen(_))), "{provenance}: {matches:?}");
    }
}

#[test]
fn a_source_never_matches_two_of_its_own_rows() {
    let mut known = Vec::new();
    import_by("file:csv", &mut known, &[draft("", 10, -450, "BLUE BOTTLE")]);
    assert_eq!(import_by("file:csv", &mut known, &[draft("", 11, -450, "BLUE BOTTLE")]), [New]);
    import_by("file:ofx", &mut known, &[draft("file:ofx 1", 20, -450, "BLUE BOTTLE")]);
    let next = draft("file:ofx 2", 21, -450, "BLUE BOTTLE");
    assert_eq!(import_by("file:ofx", &mut known, &[next]), [New]);
}

#[test]
fn transactions_of_two_sources_that_differ_do_not_match() {
    let mut known = Vec::new();
    import_by("file:ofx", &mut known, &[draft("file:ofx 1", 10, -450, "BLUE BOTTLE COFFEE")]);
    for other in [
        draft("", 15, -450, "BLUE BOTTLE COFFEE"),
        draft("", 5, -450, "BLUE BOTTLE COFFEE"),
        draft("", 10, -451, "BLUE BOTTLE COFFEE"),
        draft("", 10, 450, "BLUE BOTTLE COFFEE"),
        draft("", 10, -450, "Shell Oil"),
    ] {
        assert_eq!(match_drafts(&known, slice::from_ref(&other), "file:csv"), [New], "{other:?}");
    }
    let edge = draft("", 14, -450, "Blue Bottle");
    assert_eq!(match_drafts(&known, &[edge], "file:csv"), [Seen(0)]);
}

#[test]
fn an_id_that_a_file_reuses_later_is_another_transaction() {
    let mut known = Vec::new();
    import_by("file:ofx", &mut known, &[draft("file:ofx 1", 10, -450, "BLUE BOTTLE")]);
    let cases = [
        (draft("file:ofx 1", 10, -460, "BLUE BOTTLE"), Changed(0)),
        (draft("file:ofx 1", 12, -450, "BLUE BOTTLE"), Changed(0)),
        (draft("file:ofx 1", 70, -450, "BLUE BOTTLE"), New),
        (draft("file:ofx 1", 12, -999, "SHELL"), New),
    ];
    for (later, matched) in cases {
        assert_eq!(match_drafts(&known, slice::from_ref(&later), "file:ofx"), [matched]);
    }
    let mut synced = Vec::new();
    import_by("sf:1", &mut synced, &[draft("sf:1 1", 10, -450, "BLUE BOTTLE")]);
    let moved = draft("sf:1 1", 70, -999, "SHELL");
    assert_eq!(match_drafts(&synced, &[moved], "sf:1"), [Changed(0)]);
}

#[test]
fn our_own_exports_are_recognized_by_their_ids() {
    let known = imported(&[draft("bank-1", 10, -450, "BLUE BOTTLE")]);
    let mut exported =
        draft(&format!("{EVENKEEL_EXPORT} {}", known[0].id), 10, -450, "BLUE BOTTLE");
    assert_eq!(match_drafts(&known, slice::from_ref(&exported), EVENKEEL_EXPORT), [Seen(0)]);
    exported.description = "Changed by hand in a spreadsheet".to_owned();
    assert_eq!(match_drafts(&known, &[exported], EVENKEEL_EXPORT), [Seen(0)]);
}

proptest! {
    /// However often and in whatever order two sources report one history, each transaction exists once.
    #[test]
    fn a_history_reported_by_two_sources_is_stored_once(
        purchases in prop::collection::vec((0_i64..40, 1_i64..4, 0_i64..2), 0..30),
        order in prop::collection::vec(any::<bool>(), 1..6),
    ) {
        // Purchases that one source dates differently get unique amounts, because equal ones cannot be told apart.
        let numbered = purchases.iter().enumerate();
        let (ofx, csv): (Vec<_>, Vec<_>) = numbered
            .map(|(n, (day, minor, early))| {
                let own = early * (n as i64 + 1);
                let (ofx, csv) = reported_twice(n as u32, *day, -minor * 100 - own);
                let posted_on = if *early == 0 { ofx.posted_on } else { csv.posted_on };
                (ofx, TransactionDraft { posted_on, ..csv })
            })
            .unzip();
        let mut known = Vec::new();
        for first in order {
            let (provenance, drafts) = if first { ("file:ofx", &ofx) } else { ("file:csv", &csv) };
            import_by(provenance, &mut known, drafts);
            prop_assert_eq!(known.len(), purchases.len());
        }
    }
}
