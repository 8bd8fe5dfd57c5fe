//! Tests of every line of the tables.

use std::collections::{BTreeMap, BTreeSet};

use base::category::Category;
use base::draft::AccountKind;

use crate::enrich::descriptor_parser::normalized_words;
use crate::enrich::fuzzy_spellings::Spelling;
use crate::enrich::merchants::{MERCHANTS, read};
use crate::enrich::{
    Processor, UNKNOWN, brands, clean, descriptors, keywords, merchant, merchants,
};

/// Every spelling with its merchant's name, sorted.
fn spellings() -> BTreeMap<&'static str, &'static str> {
    let name = |it: &Spelling| MERCHANTS.merchants[it.merchant].name;
    MERCHANTS.spellings.values().map(|it| (it.text, name(it))).collect()
}

/// Reading the table already checks that no two merchants share a spelling.
#[test]
fn every_spelling_is_its_own_key() {
    let mut wrong = Vec::new();
    for (spelling, name) in spellings() {
        let key = clean(spelling).key;
        if key != spelling || key == UNKNOWN {
            wrong.push(format!("{name}: write {key} for {spelling}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(MERCHANTS.merchants.len() >= 450);
}

#[test]
fn the_key_of_a_merchant_is_the_key_of_its_name() {
    for merchant in &MERCHANTS.merchants {
        assert_eq!(clean(merchant.name).key, merchant.key, "{}", merchant.name);
    }
}

#[test]
#[should_panic(expected = "LUIGI is a spelling of Luigi and of Mario")]
fn two_merchants_cannot_share_a_spelling() {
    read("[FOOD_AND_DRINK_COFFEE]\nLuigi\nMario = LUIGI");
}

#[test]
fn no_two_merchants_share_a_name() {
    let names: BTreeSet<&str> = MERCHANTS.merchants.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), MERCHANTS.merchants.len());
}

#[test]
fn a_merchant_is_found_behind_every_kind_of_noise() {
    let mut wrong = Vec::new();
    // CHASE CARD #1234 names a card of Chase, so spellings that end in CARD are left out.
    for (spelling, name) in spellings().into_iter().filter(|(it, _)| !it.ends_with(" CARD")) {
        for noisy in [
            format!("{spelling} #1234"),
            format!("POS DEBIT {spelling} 00123 OAKLAND CA"),
            format!("{spelling} 800-555-1234 CA"),
            format!("CARTE 12/03 {spelling} CB*1234"),
            format!("KARTENZAHLUNG {spelling} 4711//BERLIN/DE 2024-03-12"),
        ] {
            let cleaned = clean(&noisy);
            let found = merchant(&cleaned.key).map(|it| it.name);
            if found != Some(name) {
                wrong.push(format!("{noisy} -> {} is {found:?}, not {name}", cleaned.key));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_merchant_is_found_with_spaces_missing_or_its_end_cut_off() {
    for (description, name) in [
        ("HOMEDEPOT 0123", Some("Home Depot")),
        ("HOMEDEPOT COM", Some("Home Depot")),
        ("TRADER-JOES", Some("Trader Joe's")),
        ("SPROUTS FARMERS MARK", Some("Sprouts Farmers Market")),
        ("WHOLEFOODSMARK", Some("Whole Foods Market")),
        ("HEMKOP UPPSALA", Some("Hemköp")),
        // Not found: whole words may be another name, and nine letters are too few.
        ("GOLDEN STATE", None),
        ("SPRTSFRM", None),
    ] {
        let found = merchant(&clean(description).key).map(|it| it.name);
        assert_eq!(found, name, "{description}");
    }
}

#[test]
fn no_line_of_the_tables_exceeds_100_characters() {
    for text in [descriptors::TEXT, keywords::TEXT, merchants::TEXT, brands::TEXT] {
        let long: Vec<_> = text.lines().filter(|it| it.chars().count() > 100).collect();
        assert!(long.is_empty(), "{long:#?}");
    }
}

#[test]
fn every_keyword_is_normalized_and_has_a_category_or_is_a_bank_phrase() {
    let mut count = 0;
    for (keyword, phrases) in keywords::sections() {
        assert!(keyword.category.is_some() || keyword.is_bank, "{phrases:?}");
        for phrase in &phrases {
            let plain = phrase.trim_start_matches('*');
            assert_eq!(normalized_words(plain), plain);
            assert!(!phrase.starts_with('*') || !plain.contains(' '), "{phrase}");
        }
        count += phrases.len();
    }
    assert!(count >= 400);
}

#[test]
fn every_heading_of_the_keyword_table_is_valid() {
    let known = ["in", "out", "bank", "depository", "credit", "loan", "investment", "other"];
    let text = include_str!("../../../../../data/keywords.txt");
    for head in text.lines().filter_map(|it| it.strip_prefix('[')) {
        let (code, rest) = head.split_once(']').unwrap();
        let category = Category::parse(code).map(Category::detailed);
        assert!(code == "-" || category == Some(code), "{head}");
        assert!(rest.split_whitespace().all(|it| known.contains(&it)), "{head}");
    }
}

#[test]
fn no_phrase_has_two_categories_for_the_same_row() {
    let mut seen = BTreeMap::new();
    let mut wrong = BTreeSet::new();
    let rows = || {
        [true, false]
            .into_iter()
            .flat_map(|it| AccountKind::ALL.iter().map(move |kind| (it, *kind)))
    };
    for (keyword, phrases) in keywords::sections() {
        for phrase in phrases {
            for (inflow, kind) in rows().filter(|(inflow, kind)| keyword.fits(*inflow, *kind)) {
                let Some(category) = keyword.category else { continue };
                if let Some(other) = seen.insert((phrase, inflow, kind), category) {
                    wrong.insert(format!("{phrase} is {other:?} and {category:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_line_of_the_descriptor_table_is_valid() {
    let sections = [
        "channel",
        "processor",
        "family",
        "name",
        "cut",
        "marker",
        "trailing",
        "state",
        "country",
        "city",
        "city-ahead",
        "city-first",
        "city-last",
        "of",
        "month",
        "transfer",
        "refund",
        "neutral",
        "everyday",
        "issuer",
        "payment",
        "fee",
        "charged",
        "given-name",
    ];
    for (section, line) in descriptors::lines() {
        assert!(sections.contains(&section), "{section}");
        let (phrase, value) = line.split_once(" = ").map_or((line, None), |(a, b)| (a, Some(b)));
        let plain = phrase.trim_end_matches(['*', ':', '/']);
        assert_eq!(normalized_words(plain), plain, "{section}");
        match section {
            "processor" => assert!(Processor::parse(value.unwrap()).is_some(), "{line}"),
            "family" => assert_eq!(clean(value.unwrap()).key, value.unwrap(), "{line}"),
            "charged" => {
                let is_category = |it| Category::parse(&format!("BANK_FEES_{it}")).is_some();
                assert!(value.is_none_or(is_category), "{line}");
            }
            _ => assert_eq!(value, None, "{line}"),
        }
    }
}

#[test]
fn every_processor_is_found_by_some_phrase() {
    let written: BTreeSet<&str> = descriptors::lines()
        .filter(|(section, _)| *section == "processor")
        .filter_map(|(_, line)| line.split_once(" = "))
        .map(|(_, word)| word)
        .collect();
    assert!(Processor::ALL.iter().all(|it| written.contains(it.as_str())));
}

#[test]
fn every_brand_is_normalized_and_unknown_to_the_merchants() {
    let mut count = 0;
    for (code, name) in brands::sections() {
        assert!(Category::parse(code).is_some_and(|it| it.detailed() == code), "{code}");
        assert_eq!(normalized_words(name), name);
        assert!(!MERCHANTS.spellings.contains_key(name), "{name} is a merchant too");
        count += 1;
    }
    assert!(count >= 4_000, "{count}");
}
