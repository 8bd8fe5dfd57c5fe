//! Properties that hold for every text.

use base::category::Category;
use base::draft::AccountKind;
use proptest::prelude::*;

use super::cascade::facts;
use crate::enrich::fold::fold;
use crate::enrich::*;

/// Pieces of real descriptors, combined in any order to exercise the rules about prefixes and endings.
const PIECES: [&str; 48] = [
    "SQ *",
    "TST*",
    "PAYPAL *",
    "POS DEBIT",
    "ACH",
    "DD",
    "DD *",
    "SEPA",
    "VIR",
    "CARTE",
    "STORE",
    "12",
    "3",
    "0042",
    "1234567",
    "#99",
    "*A1B2",
    "MAR",
    "MAI",
    "2024-03-12",
    "12/03",
    "800-555-1234",
    "CA",
    "DE",
    "CO",
    "NEW",
    "YORK",
    "OAKLAND",
    "GMBH",
    "& CO",
    "PPD ID:",
    "REF",
    "EREF+12MAR",
    "SVWZ+",
    "//",
    "AMZN MKTP",
    "AMAZON",
    "UBER",
    "EATS",
    "ZELLE TO",
    "GOOGLE",
    "WWW.SHOP.COM/BILL",
    "BILL",
    "XX12",
    "7-ELEVEN",
    "LUIGI",
    "MSFT",
    "ON",
];

const NAMES: [&str; 10] = [
    "BLUE KETTLE",
    "LUIGI",
    "RED BARN TACKLE",
    "KROGER",
    "ZUM GOLDENEN HIRSCH",
    "FIVE GUYS",
    "7-ELEVEN",
    "CAFÉ MÜLLER",
    "O'NEILL & SONS",
    "CHEZ PAUL",
];

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..9).prop_map(|it| it.join(" "))
}

fn prefix() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("SQ *".to_owned()),
        Just("AplPay ".to_owned()),
        Just("POS DEBIT VISA DDA ".to_owned()),
        Just("SEPA-LASTSCHRIFT ".to_owned()),
        (1..13_u8, 1..29_u8).prop_map(|(m, d)| format!("PURCHASE AUTHORIZED ON {m:02}/{d:02} ")),
        (1..13_u8, 1..29_u8).prop_map(|(m, d)| format!("CARTE {d:02}/{m:02} ")),
    ]
}

fn location() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" OAKLAND CA".to_owned()),
        Just(" SAN MARINO CA".to_owned()),
        Just(" NOBLESVILLE IN".to_owned()),
        Just(" PALM SPRINGS CA".to_owned()),
        Just("   WALLA WALLA   WA".to_owned()),
        Just(" 800-555-1234 NY".to_owned()),
        Just(" HELP.SHOP.COM CA".to_owned()),
        Just(" BERLIN DE".to_owned()),
        Just(" LONDON GB".to_owned()),
        Just(" MADRID".to_owned()),
    ]
}

fn store() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (0..99_999_u32).prop_map(|it| format!(" #{it}")),
        (100..99_999_u32).prop_map(|it| format!(" {it}")),
        (0..9_999_u32).prop_map(|it| format!(" {it:05}")),
        (0..99_u32).prop_map(|it| format!(" STORE {it}")),
        (100..9_999_u32).prop_map(|it| format!(" F{it}")),
    ]
}

fn reference() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (1000..9_999_u32).prop_map(|it| format!(" XXXX{it}")),
        (1000..9_999_u32).prop_map(|it| format!(" CARD {it}")),
        (1000..9_999_u32).prop_map(|it| format!(" CB*{it}")),
        any::<u32>().prop_map(|it| format!(" REF {it}")),
        any::<u32>().prop_map(|it| format!(" WEB ID: {it}")),
        any::<u32>().prop_map(|it| format!(" EREF+{it} MREF+A{it}")),
        (1..13_u8, 1..29_u8).prop_map(|(m, d)| format!(" {m:02}/{d:02}")),
        any::<u16>().prop_map(|it| format!("//BERLIN/DE {it}")),
    ]
}

fn row() -> impl Strategy<Value = (bool, i64, usize, Option<usize>)> {
    (
        any::<bool>(),
        any::<i64>(),
        0..AccountKind::ALL.len(),
        prop::option::of(0..Category::ALL.len()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn cleaning_a_key_again_changes_nothing(text in pieces()) {
        let CleanedDescriptor { key, person, .. } = clean(&text);
        // The key of a payment to a person is a name, in which no merchant is looked for.
        prop_assume!(!person);
        prop_assert_eq!(&clean(&key).key, &key, "{}", text);
    }

    #[test]
    fn the_key_of_any_text_is_stable_and_never_empty(text in "\\PC{0,60}") {
        let key = clean(&text).key;
        prop_assert!(!key.is_empty());
        prop_assert_eq!(&clean(&key).key, &key);
    }

    #[test]
    fn a_key_is_words_with_single_spaces(text in "[ -~]{0,60}") {
        let key = clean(&text).key;
        prop_assert!(key.split(' ').all(|word| !word.is_empty()), "{key}");
        let allowed = |it: char| it.is_alphanumeric() || matches!(it, '&' | '+' | '-' | ' ');
        prop_assert!(key.chars().all(allowed), "{key}");
    }

    #[test]
    fn noise_around_a_name_does_not_change_its_key(
        name in prop::sample::select(&NAMES[..]),
        prefix in prefix(), store in store(), location in location(), reference in reference(),
    ) {
        let noisy = format!("{prefix}{name}{store}{location}{reference}");
        prop_assert_eq!(clean(&noisy).key, clean(name).key, "{}", noisy);
    }

    #[test]
    fn two_names_with_the_same_noise_have_different_keys(
        a in 0..NAMES.len(), b in 0..NAMES.len(),
        prefix in prefix(), store in store(), location in location(), reference in reference(),
    ) {
        let key = |at: usize| clean(&format!("{prefix}{}{store}{location}{reference}", NAMES[at])).key;
        prop_assert_eq!(key(a) == key(b), a == b);
    }

    #[test]
    fn the_persons_override_always_wins(
        text in pieces(), (inflow, amount_minor, kind, provided) in row(), own in 0..Category::ALL.len(),
    ) {
        let own = Category::ALL[own];
        let fix = TransactionOverride {
            counterparty: Some("Mine".to_owned()), category: Some(own), hidden: None,
        };
        let facts = TransactionFacts {
            inflow, amount_minor, account_kind: AccountKind::ALL[kind], user_override: Some(&fix),
            source_category: provided.map(|it| Category::ALL[it]), source_counterparty: Some("Told"),
            transfer: Some(TransferKind::Transfer), ..facts()
        };
        let rule = Rule {
            id: 1, key: Some(clean(&text).key), words: None, account: None, inflow: None,
            counterparty: Some("Ruled".to_owned()), category: Category::parse("OTHER_OTHER"),
            amounts: None, position: None, from_ms: None, hides: false,
        };
        let found = enrich(&clean(&text), &facts, &Rules::new(vec![rule]), &History::empty());
        prop_assert_eq!(found.counterparty.as_deref(), Some("Mine"));
        prop_assert_eq!((found.category, found.category_source), (Some(own), CategorySource::User));
    }

    #[test]
    fn enrichment_is_deterministic_and_consistent(text in pieces(), (inflow, amount_minor, kind, provided) in row()) {
        let facts = TransactionFacts {
            inflow, amount_minor, account_kind: AccountKind::ALL[kind],
            source_category: provided.map(|it| Category::ALL[it]), ..facts()
        };
        let answer = || enrich(&clean(&text), &facts, &Rules::none(), &History::empty());
        let found = answer();
        prop_assert_eq!(&found, &answer());
        prop_assert_eq!(found.category.is_none(), found.category_source == CategorySource::None);
        prop_assert!(found.counterparty.is_none_or(|it| !it.is_empty()));
    }
}

#[test]
fn folding_any_character_twice_changes_nothing() {
    for character in '\0'..=char::MAX {
        let once = fold(&character.to_string());
        assert_eq!(fold(&once), once, "{character:?}");
    }
}

#[test]
fn only_the_first_512_characters_are_read() {
    for unit in [
        "A",
        "SQ *",
        "POS ",
        "12/",
        "//",
        "&amp;",
        "\u{202e}א",
        "1-",
        "A.",
        "NEW YORK CA ",
        "\u{0}",
    ] {
        let long = unit.repeat(10_000);
        let cleaned = clean(&long);
        assert!(!cleaned.key.is_empty() && cleaned.key.len() < 1_000);
        let beginning: String = long.chars().take(512).collect();
        assert_eq!(clean(&beginning), cleaned);
    }
}
