//! Tests of stable stream ids.

use super::super::match_stream_ids;
use super::id;
use base::TransactionId;
use proptest::prelude::*;

fn ids(numbers: std::ops::Range<usize>) -> Vec<TransactionId> {
    numbers.map(id).collect()
}

#[test]
fn a_stream_that_grew_keeps_its_id() {
    let known = [('a', ids(0..6)), ('b', ids(10..16))];
    assert_eq!(match_stream_ids(&known, &[ids(10..17), ids(0..7)]), [Some('b'), Some('a')]);
}

#[test]
fn at_least_half_of_all_transactions_must_be_in_both() {
    let known = [('a', ids(0..4))];
    assert_eq!(match_stream_ids(&known, &[ids(0..8)]), [Some('a')]);
    assert_eq!(match_stream_ids(&known, &[ids(0..9)]), [None]);
    assert_eq!(match_stream_ids(&known, &[ids(2..4)]), [Some('a')]);
    assert_eq!(match_stream_ids(&known, &[ids(4..8), Vec::new()]), [None, None]);
}

#[test]
fn the_better_overlap_gets_the_id_and_it_is_given_once() {
    let known = [('a', ids(0..10))];
    assert_eq!(match_stream_ids(&known, &[ids(0..5), ids(3..10)]), [None, Some('a')]);
    assert_eq!(match_stream_ids(&known, &[ids(0..5), ids(5..10)]), [Some('a'), None]);
    let merged = [('b', ids(0..5)), ('a', ids(5..10))];
    assert_eq!(match_stream_ids(&merged, &[ids(0..10)]), [Some('a')]);
}

#[test]
fn an_id_listed_twice_counts_once() {
    let known = [(1, vec![id(1), id(1), id(2)])];
    assert_eq!(match_stream_ids(&known, &[vec![id(2), id(1), id(2)]]), [Some(1)]);
}

proptest! {
    #[test]
    fn the_same_streams_keep_their_ids_in_any_order(
        sizes in prop::collection::vec(1_usize..9, 0..8),
        rotation in 0_usize..8,
    ) {
        let streams = sizes.iter().enumerate();
        let mut known: Vec<(usize, Vec<TransactionId>)> =
            streams.map(|(at, size)| (at, ids(at * 10..at * 10 + size))).collect();
        let found: Vec<Vec<TransactionId>> = known.iter().map(|it| it.1.clone()).collect();
        let rotation = rotation.min(known.len());
        known.rotate_left(rotation);
        let expected: Vec<_> = (0..sizes.len()).map(Some).collect();
        prop_assert_eq!(match_stream_ids(&known, &found), expected);
    }

    #[test]
    fn no_id_is_given_twice(
        known in prop::collection::vec(prop::collection::vec(0_usize..12, 0..8), 0..6),
        found in prop::collection::vec(prop::collection::vec(0_usize..12, 0..8), 0..6),
    ) {
        let named = |it: &Vec<usize>| it.iter().copied().map(id).collect::<Vec<_>>();
        let known: Vec<_> = known.iter().map(named).enumerate().collect();
        let found: Vec<_> = found.iter().map(named).collect();
        let mut given: Vec<_> = match_stream_ids(&known, &found).into_iter().flatten().collect();
        let count = given.len();
        given.sort_unstable();
        given.dedup();
        prop_assert_eq!(given.len(), count);
    }
}
