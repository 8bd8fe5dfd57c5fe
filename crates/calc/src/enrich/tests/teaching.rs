//! Tests of predictions from a person's own rows.

use base::category::Category;
use base::draft::AccountKind;

use super::cascade::facts;
use crate::enrich::*;

fn sample(key: &str, inflow: bool, amount_minor: i64) -> Sample<'_> {
    Sample { key, inflow, amount_minor, account_kind: AccountKind::Depository }
}

fn allotment() -> Category {
    Category::parse("HOME_IMPROVEMENT_HARDWARE").unwrap()
}

fn choir() -> Category {
    Category::parse("ENTERTAINMENT_MUSIC_AND_AUDIO").unwrap()
}

/// The given number of rows for each of two habits.
fn rows(of_each: usize) -> Vec<(Sample<'static>, Category)> {
    let first = (0..of_each).map(|_| (sample("ZWIEBELHOF QUAST", false, 2_000), allotment()));
    let second = (0..of_each).map(|_| (sample("LIEDERKREIS QUAST", false, 1_500), choir()));
    first.chain(second).collect()
}

fn guess(history: &History, key: &str) -> Option<Category> {
    history.guess(&sample(key, false, 1_900))
}

#[test]
fn history_predicts_from_twenty_rows_but_not_from_nineteen() {
    let all = rows(10);
    let enough = History::train(all.iter().copied());
    assert_eq!(guess(&enough, "ZWIEBELHOF NEU"), Some(allotment()));
    assert_eq!(guess(&enough, "LIEDERKREIS NEU"), Some(choir()));
    let too_few = History::train(all.iter().skip(1).copied());
    assert_eq!(guess(&too_few, "ZWIEBELHOF NEU"), None);
}

#[test]
fn a_word_shared_by_both_habits_gives_no_prediction() {
    let history = History::train(rows(20).into_iter());
    assert_eq!(guess(&history, "QUAST"), None);
}

#[test]
fn a_key_without_a_known_word_gives_no_prediction() {
    let only = (0..50).map(|_| (sample("ZWIEBELHOF", false, 2_000), allotment()));
    let history = History::train(only);
    assert_eq!(guess(&history, "SOMETHING NEW"), None);
    assert_eq!(guess(&history, "ZWIEBELHOF"), Some(allotment()));
    assert_eq!(guess(&History::empty(), "ZWIEBELHOF"), None);
}

#[test]
fn direction_and_amount_influence_the_prediction() {
    let bought = (0..20).map(|_| (sample("QUAST", false, 2_000), allotment()));
    let earned = (0..20).map(|_| (sample("QUAST", true, 90_000), choir()));
    let history = History::train(bought.chain(earned));
    assert_eq!(history.guess(&sample("QUAST", false, 2_100)), Some(allotment()));
    assert_eq!(history.guess(&sample("QUAST", true, 95_000)), Some(choir()));
    assert_eq!(history.guess(&sample("QUAST", true, i64::MIN)), Some(choir()));
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    let forward = History::train(rows(15).into_iter());
    let backward = History::train(rows(15).into_iter().rev());
    assert_eq!(forward, backward);
}

#[test]
fn history_is_used_only_when_no_other_source_decides() {
    let history = History::train(rows(10).into_iter());
    let found = |description: &str| {
        let it = enrich(&clean(description), &facts(), &Rules::none(), &history);
        (it.category, it.category_source)
    };
    assert_eq!(found("ZWIEBELHOF 12"), (Some(allotment()), CategorySource::History));
    let restaurant = Category::parse("FOOD_AND_DRINK_RESTAURANT");
    assert_eq!(found("ZWIEBELHOF RESTAURANT"), (restaurant, CategorySource::Keyword));
}
