//! Tests of every catalog entry: it has sources, its amounts add up to the advertised value, and an observable
//! benefit can be recognized on a statement.

#![expect(clippy::inconsistent_digit_grouping, reason = "12_50 reads as twelve dollars fifty")]

use std::collections::BTreeSet;

use super::*;

fn benefits() -> impl Iterator<Item = (String, &'static Benefit)> {
    let name = |card: &Card, it: &Benefit| format!("{}/{}", card.id, it.id);
    cards().iter().flat_map(move |card| card.benefits.iter().map(move |it| (name(card, it), it)))
}

#[test]
fn every_file_in_the_folder_is_in_the_catalog_under_its_id() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/cards");
    let name = |it: std::io::Result<std::fs::DirEntry>| it.unwrap().file_name().into_string();
    let found: BTreeSet<String> =
        std::fs::read_dir(folder).unwrap().map(|it| name(it).unwrap()).collect();
    let listed: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed, found);
    let ids: Vec<String> = cards().iter().map(|it| format!("{}.toml", it.id)).collect();
    assert_eq!(ids, Vec::from_iter(found), "ids are unique and in order");
    assert!(find_card("amex-gold").is_some_and(|it| it.id == "amex-gold"));
    assert!(find_card("amex").is_none());
}

#[test]
fn every_card_has_dated_sources() {
    for card in cards() {
        assert!(!card.sources.is_empty(), "{}", card.id);
        for source in &card.sources {
            assert!(!source.at.is_empty() && source.seen_on <= card.verified_on, "{}", card.id);
            assert!(source.dated.is_none_or(|it| it <= source.seen_on), "{}", card.id);
        }
    }
}

#[test]
fn fees_follow_each_other_without_a_gap() {
    for card in cards() {
        let first = card.fees.first().unwrap();
        assert_eq!(first.from, None, "{}", card.id);
        for pair in card.fees.windows(2) {
            assert_eq!(pair[0].to.and_then(|it| it.tomorrow().ok()), pair[1].from, "{}", card.id);
        }
        assert_eq!(card.fees.last().unwrap().to, None, "{}", card.id);
    }
    let gold = find_card("amex-gold").unwrap();
    assert_eq!(gold.fee_minor(Date::constant(2024, 7, 24)), 250_00);
    assert_eq!(gold.fee_minor(Date::constant(2024, 7, 25)), 325_00);
}

#[test]
fn every_benefit_is_complete_and_consistent() {
    for card in cards() {
        let ids: BTreeSet<&str> = card.benefits.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids.len(), card.benefits.len(), "{}", card.id);
    }
    for (name, it) in benefits() {
        assert!(!it.title.is_empty() && it.description.ends_with('.'), "{name}");
        assert!(it.uses > 0 && it.amount_minor.is_none_or(|it| it > 0), "{name}");
        assert_eq!(
            it.kind.benefit_type() == BenefitType::Credit,
            it.amount_minor.is_some(),
            "{name}"
        );
        let in_order = it.valid_from.zip(it.valid_to).is_none_or(|(from, to)| from < to);
        assert!(in_order, "{name}");
        let is_bounded = it.valid_from.is_some() && it.valid_to.is_some();
        assert!(it.cadence != Cadence::OneTime || is_bounded, "{name}");
        // Overrides are looked up by the month in which a period begins.
        let by_month = it.cadence == Cadence::Monthly && it.alignment == Alignment::Calendar;
        assert!(it.overrides.is_empty() || by_month, "{name}");
        let by_year = it.cadence == Cadence::Annual;
        assert!(it.alignment != Alignment::StatementYear || by_year, "{name}");
    }
}

#[test]
fn exactly_the_benefits_with_recognizable_credits_are_observable() {
    for (name, it) in benefits() {
        assert_eq!(it.observable, it.kind == Kind::StatementCredit, "{name}");
        assert_eq!(it.observable, !it.credit_patterns.is_empty(), "{name}");
        let eligible = &it.eligible;
        let causes = eligible.merchants.len()
            + eligible.categories.len()
            + eligible.possible_categories.len();
        assert_eq!(it.observable, causes > 0, "{name}");
        let days = it.posting_days;
        assert!(!it.observable || (0 < days.typical && days.typical <= days.max), "{name}");
        for pattern in &it.credit_patterns {
            // A single word could be the name of a shop, and then every refund would look like a credit.
            assert!(pattern.len() > 1, "{name}");
            let is_merchant = eligible.merchants.iter().any(|it| it.has_all(pattern));
            assert!(!is_merchant, "{name}");
        }
    }
}

#[test]
fn benefits_of_a_card_share_no_credit_pattern_at_the_same_time() {
    for card in cards() {
        for (index, one) in card.benefits.iter().enumerate() {
            for other in &card.benefits[index + 1..] {
                let overlap =
                    one.valid_to.zip(other.valid_from).is_none_or(|(to, from)| from <= to)
                        && other.valid_to.zip(one.valid_from).is_none_or(|(to, from)| from <= to);
                let shared =
                    one.credit_patterns.iter().any(|it| other.credit_patterns.contains(it));
                assert!(!(overlap && shared), "{}: {} {}", card.id, one.id, other.id);
            }
        }
    }
}

/// The advertised value per year in whole dollars: a quarter of four-year benefits, and all of one-time benefits.
const ADVERTISED: &str = "
    amex-blue-cash-preferred/disney 120
    amex-delta-gold/delta-stays 100
    amex-delta-gold/flight-credit 200
    amex-delta-reserve/delta-stays 200
    amex-delta-reserve/resy 240
    amex-delta-reserve/rideshare 120
    amex-delta-reserve/global-entry 30
    amex-delta-reserve/companion 0
    amex-gold/dining 120
    amex-gold/dunkin 84
    amex-gold/resy 100
    amex-gold/uber-cash 120
    amex-hilton-aspire/resort 400
    amex-hilton-aspire/flight 200
    amex-hilton-aspire/clear 219
    amex-hilton-aspire/free-night 0
    amex-marriott-brilliant/dining 300
    amex-marriott-brilliant/global-entry 30
    amex-marriott-brilliant/free-night 0
    amex-platinum/hotel 600
    amex-platinum/resy 400
    amex-platinum/lululemon 300
    amex-platinum/digital-entertainment 300
    amex-platinum/airline-fee 200
    amex-platinum/uber-cash 200
    amex-platinum/uber-one 120
    amex-platinum/saks 100
    amex-platinum/clear 219
    amex-platinum/walmart-plus 155.40
    amex-platinum/equinox 300
    amex-platinum/oura 200
    amex-platinum/global-entry 30
    bank-of-america-premium-rewards/airline 100
    bank-of-america-premium-rewards/global-entry 25
    capital-one-venture-x/travel 300
    capital-one-venture-x/anniversary-miles 0
    capital-one-venture-x/global-entry 30
    chase-freedom-unlimited/doordash 40
    chase-freedom-unlimited/dashpass 0
    chase-sapphire-preferred/hotel 100
    chase-sapphire-preferred/hotel-50 50
    chase-sapphire-preferred/doordash 120
    chase-sapphire-preferred/dashpass 0
    chase-sapphire-preferred/global-entry 30
    chase-sapphire-reserve/travel 300
    chase-sapphire-reserve/dining 300
    chase-sapphire-reserve/stubhub 300
    chase-sapphire-reserve/the-edit 500
    chase-sapphire-reserve/the-edit-2025 500
    chase-sapphire-reserve/select-hotels 250
    chase-sapphire-reserve/doordash 300
    chase-sapphire-reserve/lyft 120
    chase-sapphire-reserve/peloton 120
    chase-sapphire-reserve/apple 0
    chase-sapphire-reserve/global-entry 30
    chase-sapphire-reserve/southwest 500
    chase-sapphire-reserve/shops 250
    chase-united-explorer/rideshare 60
    chase-united-explorer/instacart 120
    chase-united-explorer/jsx 100
    chase-united-explorer/travel-bank 100
    chase-united-explorer/global-entry 30
    citi-strata-elite/hotel 300
    citi-strata-elite/splurge 200
    citi-strata-elite/blacklane 200
    citi-strata-elite/global-entry 30
    citi-strata-premier/hotel 100
    us-bank-altitude-reserve/travel 325
    us-bank-altitude-reserve/travel-dining 325
    us-bank-altitude-reserve/global-entry 25
    wells-fargo-autograph-journey/airline 50
";

#[test]
fn the_periods_of_a_year_add_up_to_the_advertised_value() {
    let minor = |dollars: &str| base::Money::parse(dollars, Currency::USD).unwrap().minor();
    let advertised: Vec<(String, i64)> = ADVERTISED
        .trim()
        .lines()
        .map(|line| line.trim().split_once(' ').unwrap())
        .map(|(name, dollars)| (name.to_owned(), minor(dollars)))
        .collect();
    let ours: Vec<(String, i64)> =
        benefits().map(|(name, it)| (name, it.annual_value_minor())).collect();
    assert_eq!(ours, advertised);
}

#[test]
fn a_card_file_with_an_invalid_value_is_refused() {
    let (_, good) = FILES[3];
    assert!(rows::read(good).is_ok());
    for (valid, invalid) in [
        ("monthly", "fortnightly"),
        ("10.00", "10.005"),
        ("2024-07-24", "2024-02-30"),
        ("not_names", "non_names"),
        ("FOOD_AND_DRINK_FAST_FOOD", "FAST_FOOD"),
        ("observable = true", ""),
    ] {
        let bad = good.replace(valid, invalid);
        assert!(bad != good && rows::read(&bad).is_err(), "{valid}");
    }
}
