//! Laws: whatever happens at the bank, and whatever fails on the way, in the end exactly what Plaid has is stored.

use std::collections::BTreeMap;

use base::Entropy;
use serde_json::Value;
use testkit::plaid::Fault;

use super::{CHECKING, PlaidFixture, row};

/// Random numbers with a seed.
struct Dice(Entropy);

impl Dice {
    fn below(&self, most: u32) -> u32 {
        u32::from_le_bytes(self.0.bytes()) % most
    }
}

/// Changes an item at random: new, pending, posted, changed and removed transactions.
fn live_a_day(dice: &Dice, fixture: &PlaidFixture, item: &str, made: &mut u32) {
    for _ in 0..dice.below(30) {
        let now = fixture.server.transactions(item);
        let chosen = now.values().nth(dice.below(now.len().max(1) as u32) as usize).cloned();
        *made += 1;
        let (id, amount) = (format!("t{made}"), format!("{}.{:02}", made, dice.below(100)));
        let date = format!("2026-02-{:02}", 1 + dice.below(28));
        let new = row(&id, &date, &amount, &format!("SHOP {made}"));
        match (dice.below(10), chosen) {
            (0..=4, _) | (_, None) => fixture.server.add(item, new),
            (5, _) => {
                let mut pending = new;
                pending["pending"] = true.into();
                fixture.server.add(item, pending);
            }
            (6..=7, Some(it)) if it["pending"] == true => {
                let mut posted = it.clone();
                posted["pending"] = false.into();
                posted["transaction_id"] = id.into();
                fixture.server.post(item, it["transaction_id"].as_str().unwrap(), posted);
            }
            (8, Some(mut it)) => {
                it["amount"] = serde_json::from_str(&amount).unwrap();
                fixture.server.modify(item, it);
            }
            (_, Some(it)) => {
                fixture.server.remove(item, it["transaction_id"].as_str().unwrap(), CHECKING);
            }
        }
    }
}

fn fail_somewhere(dice: &Dice, fixture: &PlaidFixture) {
    let paths = ["/transactions/sync", "/accounts/get", "/liabilities/get"];
    let path = paths[dice.below(3) as usize];
    let fault = match dice.below(4) {
        0 => Fault::Cut,
        1 => Fault::Response(502, "<html>".to_owned()),
        2 => Fault::Error(429, "RATE_LIMIT_EXCEEDED", "TRANSACTIONS_SYNC_LIMIT"),
        _ => {
            let code = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION";
            Fault::Error(400, "TRANSACTIONS_ERROR", code)
        }
    };
    fixture.server.fail_next(path, fault);
}

/// Date, amount in cents with our sign, and whether it is pending, for each description.
fn expected(now: &BTreeMap<String, Value>) -> Vec<(String, i64, bool)> {
    let cents = |it: &Value| {
        let text = it["amount"].to_string();
        let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
        let part = format!("{part:0<2}");
        -(whole.parse::<i64>().unwrap() * 100 + part[..2].parse::<i64>().unwrap())
    };
    let row =
        |it: &Value| (it["name"].as_str().unwrap().to_owned(), cents(it), it["pending"] == true);
    let mut all: Vec<_> = now.values().map(row).collect();
    all.sort();
    all
}

#[tokio::test]
async fn random_histories_with_random_faults_end_with_exactly_what_plaid_has() {
    for seed in 1..3 {
        let dice = Dice(Entropy::seeded(seed));
        let (fixture, id, item) = PlaidFixture::synced().await;
        let mut made = 0;
        for _ in 0..4 {
            live_a_day(&dice, &fixture, &item, &mut made);
            for _ in 0..dice.below(3) {
                fail_somewhere(&dice, &fixture);
            }
            for _ in 0..3 {
                // A failed sync changes nothing that the next one could not continue from.
                let _ = fixture.try_sync(id).await;
            }
            fixture.world.advance_seconds(86_400);
        }
        for _ in 0..12 {
            if fixture.try_sync(id).await.is_ok() {
                break;
            }
        }
        let rows = fixture.rows().await;
        let mut stored: Vec<_> =
            rows.iter().map(|it| (it.description.clone(), it.minor, it.pending)).collect();
        stored.sort();
        assert_eq!(stored, expected(&fixture.server.transactions(&item)), "seed {seed}");
    }
}
