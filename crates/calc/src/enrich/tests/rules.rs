//! Tests of the person's rules: which rule decides, and what it changes.

use super::cascade::{account, category, facts};
use crate::enrich::*;

pub(super) fn rule(id: u64) -> Rule {
    Rule {
        id,
        key: None,
        words: None,
        account: None,
        inflow: None,
        amounts: None,
        position: None,
        from_ms: None,
        counterparty: None,
        category: None,
        hides: false,
    }
}

pub(super) fn keyed(id: u64, key: &str, code: &str) -> Rule {
    Rule { key: Some(key.to_owned()), category: Some(category(code)), ..rule(id) }
}

#[test]
fn rules_apply_by_key_and_account_then_key_then_words_and_newest_first() {
    let here = Rule { account: Some(account(1)), ..keyed(1, "LUIGI", "TRAVEL_LODGING") };
    let elsewhere = Rule { account: Some(account(2)), ..keyed(9, "LUIGI", "TRAVEL_FLIGHTS") };
    let old = keyed(2, "LUIGI", "MEDICAL_DENTAL_CARE");
    let new = keyed(3, "LUIGI", "MEDICAL_EYE_CARE");
    let words = Rule {
        words: Some("luigi nr".to_owned()),
        account: Some(account(1)),
        category: Some(category("TRAVEL_RENTAL_CARS")),
        ..rule(8)
    };
    let newer_words = Rule { id: 10, account: None, category: old.category, ..words.clone() };
    let inward = Rule { inflow: Some(true), ..keyed(11, "LUIGI", "INCOME_OTHER") };
    let no_condition = Rule { category: here.category, ..rule(12) };
    let decide = |rules: &[&Rule]| {
        let rules = Rules::new(rules.iter().map(|it| (*it).clone()).collect());
        let found = enrich(&clean("Luigi  Nr. 7"), &facts(), &rules, &History::empty());
        (found.category_source == CategorySource::Rule).then_some(found.category).flatten()
    };
    assert_eq!(decide(&[&old, &new, &here, &elsewhere, &words, &inward]), here.category);
    assert_eq!(decide(&[&new, &old, &elsewhere, &words]), new.category);
    assert_eq!(decide(&[&words, &elsewhere]), words.category);
    assert_eq!(decide(&[&words, &newer_words]), newer_words.category);
    assert_eq!(decide(&[&elsewhere, &inward, &no_condition]), None);
}

#[test]
fn a_rule_may_ask_for_an_amount_in_its_currency() {
    let range =
        |least_minor, most_minor, currency| Some(AmountRange { currency, least_minor, most_minor });
    let decide = |amounts: Option<AmountRange>, account: Option<AccountId>| {
        let travel = Some(category("TRAVEL_LODGING"));
        let rules = Rules::new(vec![Rule { amounts, account, category: travel, ..rule(1) }]);
        enrich(&clean("LUIGI"), &facts(), &rules, &History::empty()).category == travel
    };
    let usd = Currency::USD;
    assert!(decide(range(Some(1_234), Some(1_234), usd), None), "both ends are included");
    assert!(decide(range(None, Some(2_000), usd), Some(account(1))));
    assert!(decide(range(Some(100), None, usd), None));
    assert!(!decide(range(Some(1_235), None, usd), None));
    assert!(!decide(range(None, Some(1_233), usd), None));
    assert!(!decide(range(Some(100), None, Currency::EUR), None));
    assert!(decide(None, Some(account(1))), "an account alone is a condition");
    assert!(!decide(None, Some(account(2))));
    assert!(!decide(None, None), "a rule without conditions applies to nothing");
}

#[test]
fn the_order_of_the_person_comes_before_every_other_precedence() {
    let keyed = Rule { account: Some(account(1)), ..keyed(1, "LUIGI", "TRAVEL_LODGING") };
    let words = Some("luigi".to_owned());
    let worded = Rule { words, category: Some(category("TRAVEL_FLIGHTS")), ..rule(2) };
    let decide = |keyed_position, worded_position| {
        let keyed = Rule { position: keyed_position, ..keyed.clone() };
        let worded = Rule { position: worded_position, ..worded.clone() };
        let rules = Rules::new(vec![worded, keyed]);
        enrich(&clean("LUIGI"), &facts(), &rules, &History::empty()).category
    };
    assert_eq!(decide(None, None), keyed.category);
    assert_eq!(decide(Some(2), Some(1)), worded.category);
    assert_eq!(decide(Some(1), Some(2)), keyed.category);
    assert_eq!(decide(Some(1), None), worded.category, "a rule without a place comes first");
}

#[test]
fn one_rule_may_set_the_name_and_another_the_category() {
    let name =
        Rule { counterparty: Some("Luigi's".to_owned()), ..keyed(2, "LUIGI", "OTHER_OTHER") };
    let name = Rule { category: None, ..name };
    let rules = Rules::new(vec![name, keyed(1, "LUIGI", "TRAVEL_LODGING")]);
    let found = enrich(&clean("LUIGI"), &facts(), &rules, &History::empty());
    assert_eq!(found.counterparty.as_deref(), Some("Luigi's"));
    assert_eq!(found.category, Some(category("TRAVEL_LODGING")));
}

#[test]
fn a_rule_with_a_start_ignores_rows_imported_before_it() {
    let old = keyed(1, "LUIGI", "TRAVEL_LODGING");
    let newer = Rule { from_ms: Some(1_000), ..keyed(2, "LUIGI", "TRAVEL_FLIGHTS") };
    let rules = Rules::new(vec![old, newer]);
    for (imported_at_ms, code) in
        [(Some(999), "TRAVEL_LODGING"), (Some(1_000), "TRAVEL_FLIGHTS"), (None, "TRAVEL_FLIGHTS")]
    {
        let row = TransactionFacts { imported_at_ms, ..facts() };
        let found = enrich(&clean("LUIGI"), &row, &rules, &History::empty());
        assert_eq!(found.category, Some(category(code)), "{imported_at_ms:?}");
    }
}

#[test]
fn a_hiding_rule_hides_only_the_rows_it_matches() {
    let hiding = Rule { hides: true, category: None, ..keyed(1, "LUIGI", "OTHER_OTHER") };
    let named = keyed(2, "LUIGI", "TRAVEL_FLIGHTS");
    let only_in = Rule { inflow: Some(true), ..hiding.clone() };
    let enriched = |rules: Vec<Rule>, text: &str| {
        enrich(&clean(text), &facts(), &Rules::new(rules), &History::empty())
    };
    let both = enriched(vec![hiding.clone(), named.clone()], "LUIGI");
    assert_eq!((both.hidden, both.category_source), (true, CategorySource::Rule));
    assert!(!enriched(vec![hiding], "MARIO").hidden);
    assert!(!enriched(vec![only_in, named], "LUIGI").hidden);
}
