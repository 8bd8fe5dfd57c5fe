//! Text search in counterparty names and descriptions: finds exactly that text, whatever characters it has.

use service::ledger::transactions::{self, Filter};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World};

use super::everything;
use crate::listed::{self, descriptions};
use crate::param;

const DESCRIPTIONS: [&str; 12] = [
    "KROGER #339 INDIANAPOLIS IN",
    "100% COTTON",
    "100 COTTON",
    "UNDER_SCORE",
    "UNDERXSCORE",
    "WOW! SALE",
    "O'BRIEN'S \"PUB\"",
    "BACK\\SLASH",
    "CAFÉ NOIR",
    "Straße 7 Köln",
    "東京駅 SHOP",
    "PRICE $5 ?1 :name",
];

/// A person with a transaction of each description, and one with a counterparty.
async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let all = DESCRIPTIONS.into_iter().map(|it| txn("2026-03-01", -1, it));
    let named = txn("2026-03-01", -1, "POS 0042").from("Blue Door Bistro");
    robin.import(statement([checking("A").with_all(all).with(named)])).await;
    robin
}

async fn check(cases: &[(&str, &[&str])]) {
    let world = World::new().await;
    let robin = household(&world).await;
    for is_packed in [false, true] {
        for (q, expected) in cases {
            let filter = Filter { q: Some((*q).to_owned()), ..everything() };
            let rows = listed::all(&world.app, &robin.caller, &filter).await;
            assert_eq!(descriptions(&rows), *expected, "{q} {is_packed}");
        }
        while transactions::index_once(&world.app).await.unwrap() > 0 {}
    }
}

#[tokio::test]
async fn characters_with_a_meaning_in_sql_match_only_themselves() {
    check(&[
        ("100%", &["100% COTTON"]),
        ("r_s", &["UNDER_SCORE"]),
        ("wow!", &["WOW! SALE"]),
        ("!", &["WOW! SALE"]),
        ("o'brien's", &["O'BRIEN'S \"PUB\""]),
        ("\"pub\"", &["O'BRIEN'S \"PUB\""]),
        ("k\\s", &["BACK\\SLASH"]),
        ("$5 ?1", &["PRICE $5 ?1 :name"]),
        (":NAME", &["PRICE $5 ?1 :name"]),
        ("%_%", &[]),
    ])
    .await;
}

#[tokio::test]
async fn letters_of_any_script_match_in_either_case() {
    check(&[
        ("kroger", &["KROGER #339 INDIANAPOLIS IN"]),
        ("INDIANAPOLIS in", &["KROGER #339 INDIANAPOLIS IN"]),
        ("CAFÉ", &["CAFÉ NOIR"]),
        ("café noir", &["CAFÉ NOIR"]),
        ("straße", &["Straße 7 Köln"]),
        ("KÖLN", &["Straße 7 Köln"]),
        ("köln", &["Straße 7 Köln"]),
        ("東京", &["東京駅 SHOP"]),
        ("駅 shop", &["東京駅 SHOP"]),
        ("STRASSE", &["Straße 7 Köln"]),
        ("stra", &["Straße 7 Köln"]),
        ("kõln", &[]),
    ])
    .await;
}

#[tokio::test]
async fn one_or_two_characters_are_enough() {
    check(&[
        ("7", &["Straße 7 Köln"]),
        ("駅", &["東京駅 SHOP"]),
        ("K\\", &["BACK\\SLASH"]),
        ("zq", &[]),
        ("é", &["CAFÉ NOIR"]),
        ("ö", &["Straße 7 Köln"]),
    ])
    .await;
}

#[tokio::test]
async fn the_counterparty_is_searched_too() {
    check(&[("blue door", &["POS 0042"]), ("nowhere", &[])]).await;
}

#[tokio::test]
async fn a_text_with_a_nul_character_is_refused() {
    let world = World::new().await;
    let robin = world.someone().await;
    let filter = Filter { q: Some("a\0b".to_owned()), ..everything() };
    assert_eq!(param(listed::first_page(&world.app, &robin.caller, &filter).await), "q");
}
