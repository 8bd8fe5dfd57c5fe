//! Tests of product recognition.

use proptest::prelude::*;

use super::*;

fn shown(name: &str, institution: &str) -> String {
    match match_card(name, "", institution) {
        Match::One(card) => card.id.clone(),
        Match::Unsure(cards) => {
            let ids: Vec<&str> = cards.iter().map(|it| it.id.as_str()).collect();
            format!("ask: {}", ids.join(" "))
        }
        Match::None => "none".to_owned(),
    }
}

#[test]
fn names_as_banks_write_them_are_recognized() {
    let check = |name, institution, expected| {
        assert_eq!(shown(name, institution), expected, "{name}");
    };
    check("American Express Gold Card", "American Express", "amex-gold");
    check("Freedom Unlimited", "Chase", "chase-freedom-unlimited");
    check("Gold Card (1005)", "American Express", "amex-gold");
    check("Amex Gold", "Imported file", "amex-gold");
    check("The Platinum Card®", "American Express", "amex-platinum");
    check("Platinum Card® from American Express -1008", "", "amex-platinum");
    check("Delta SkyMiles® Gold Card", "American Express", "amex-delta-gold");
    check("Hilton Honors Aspire", "American Express", "amex-hilton-aspire");
    check("Marriott Bonvoy Brilliant® Amex", "American Express", "amex-marriott-brilliant");
    check("CHASE SAPPHIRE RESERVE (...1234)", "JPMorgan Chase", "chase-sapphire-reserve");
    check("Sapphire Preferred Visa Signature", "Chase", "chase-sapphire-preferred");
    check("Venture X", "Capital One", "capital-one-venture-x");
    check("Citi Strata Premier World Elite Mastercard", "Citibank Online", "citi-strata-premier");
    check("Citi Strata Elite℠ Card", "Citi", "citi-strata-elite");
    check("U.S. Bank Altitude® Reserve Visa Infinite®", "U.S. Bank", "us-bank-altitude-reserve");
    check("AUTOGRAPH JOURNEY VISA", "Wells Fargo", "wells-fargo-autograph-journey");
    check("Premium Rewards", "Bank of America", "bank-of-america-premium-rewards");
}

#[test]
fn a_product_with_a_similar_name_is_not_recognized() {
    let check = |name, institution| assert_eq!(shown(name, institution), "none", "{name}");
    check("Business Gold Card", "American Express");
    check("Business Platinum Card", "American Express");
    check("Delta SkyMiles Platinum Card", "American Express");
    check("Sapphire Reserve for Business", "Chase");
    check("Freedom Flex", "Chase");
    check("Premium Rewards Elite", "Bank of America");
    check("High Yield Savings", "American Express");
    // The name of another bank's product does not match.
    check("Gold Card", "Chase");
    check("Gold Card", "Somewhere Credit Union");
}

#[test]
fn a_partial_name_gives_candidates() {
    assert_eq!(shown("Sapphire", "Chase"), "ask: chase-sapphire-preferred chase-sapphire-reserve");
    assert_eq!(shown("Freedom", "Chase"), "ask: chase-freedom-unlimited");
    assert_eq!(shown("Venture Rewards", "Capital One"), "ask: capital-one-venture-x");
}

#[test]
fn the_second_text_of_the_bank_is_searched_too() {
    let found = match_card("Visa ...4321", "CHASE SAPPHIRE RESERVE", "Chase");
    assert!(matches!(found, Match::One(card) if card.id == "chase-sapphire-reserve"));
}

#[test]
fn every_product_is_recognized_by_each_of_its_names() {
    for card in cards() {
        for name in &card.names {
            let found = match_card(name, "ending in 1234", &card.issuer);
            assert!(matches!(found, Match::One(it) if it.id == card.id), "{name}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_accepted(name in "\\PC{0,40}", words in "\\PC{0,40}", bank in "\\PC{0,20}") {
        let found = match_card(&name, &words, &bank);
        prop_assert!(!matches!(found, Match::Unsure(cards) if cards.is_empty()));
    }
}
