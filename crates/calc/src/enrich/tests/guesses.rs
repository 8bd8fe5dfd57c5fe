//! Tests of the model and its guesses.

use base::category::Category;
use base::draft::AccountKind;
use proptest::prelude::*;

use super::cascade::{facts, facts_for, plain};
use crate::enrich::model::{CLASSES, PaidBy, WEIGHTS, guess};
use crate::enrich::*;

#[test]
fn the_model_is_the_one_that_the_tables_give() {
    assert!(train_model() == WEIGHTS, "data/model.bin is out of date: run `cargo xtask generate`");
}

#[test]
fn names_that_tell_their_trade_are_guessed_with_a_confidence() {
    for (key, primary) in [
        ("HILLSIDE TANDOORI SPICES", "FOOD_AND_DRINK"),
        ("ORTHODONTIX SMILES", "MEDICAL"),
        ("AUTOWERKZ MOTORS REPAIRS", "GENERAL_SERVICES"),
    ] {
        let found = guess(key, PaidBy::Account).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(found.category.primary(), primary, "{key}");
        assert!((35..=80).contains(&found.confidence), "{key}");
    }
}

#[test]
fn bare_names_are_not_guessed() {
    for key in ["LUIGI", "QXB", "KESTREL", "", "日本"] {
        assert_eq!(guess(key, PaidBy::Account), None, "{key}");
    }
}

#[test]
fn a_card_is_used_for_food_more_often_than_an_account() {
    let names = ["TWO PINES", "LITTLE OWL", "WILD HARE", "FIG TREE", "THE HIDEOUT", "BLACK HERON"];
    let food = |paid_by: PaidBy| {
        let guesses = names.iter().filter_map(|it| guess(it, paid_by));
        guesses.filter(|it| it.category.primary() == "FOOD_AND_DRINK").count()
    };
    assert!(food(PaidBy::Card) > food(PaidBy::Account));
    let owl = |text| plain(text, &facts()).category.map(Category::primary);
    assert_eq!(owl("SQ *LITTLE OWL"), Some("FOOD_AND_DRINK"));
    assert_eq!(owl("ACH LITTLE OWL WEB"), None);
}

#[test]
fn every_class_is_a_primary_category() {
    for class in CLASSES {
        assert!(Category::ALL.iter().any(|it| it.primary() == class), "{class}");
    }
}

#[test]
fn a_guess_is_the_weakest_source() {
    let guessed = plain("HARBOR CRABSHACK", &facts());
    assert_eq!(guessed.category_source, CategorySource::Guess);
    let other = Category::parse("OTHER_OTHER");
    let row = TransactionFacts { source_category: other, ..facts() };
    let provided = plain("HARBOR CRABSHACK", &row);
    assert_eq!((provided.category, provided.category_source), (other, CategorySource::Provider));
    let paid = plain("HARBOR CRABSHACK", &facts_for(AccountKind::Depository, true));
    assert_eq!((paid.category, paid.category_source), (None, CategorySource::None));
}

proptest! {
    #[test]
    fn a_guess_never_makes_income_or_a_transfer(text in "\\PC{0,60}", inflow in any::<bool>()) {
        let found = plain(&text, &facts_for(AccountKind::Depository, inflow));
        if found.category_source == CategorySource::Guess {
            let primary = found.category.unwrap().primary();
            let money = ["INCOME", "TRANSFER_IN", "TRANSFER_OUT", "LOAN_PAYMENTS", "LOAN_DISBURSEMENTS"];
            prop_assert!(!inflow && !money.contains(&primary), "{text}");
        }
    }

    #[test]
    fn the_same_key_has_the_same_guess(text in "[A-Z ]{0,40}") {
        prop_assert_eq!(guess(&text, PaidBy::Card), guess(&text.clone(), PaidBy::Card));
    }
}
