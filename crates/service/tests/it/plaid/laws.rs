//! Laws: whatever happens at the bank, and whatever fails on the way, in the end exactly what Plaid has is stored.

use base::ConnectionId;
use serde_json::Value;
use service::App;
use testkit::plaid::Fault;
use testkit::{Person, World};

use super::{CHECKING, PlaidFixture, row};
use crate::listed::Listed;
use crate::random_history::{self, Bank, Dice};

struct PlaidBank {
    fixture: PlaidFixture,
    id: ConnectionId,
    item: String,
    made: u32,
    /// How much changes in a day, at most.
    changes_max: u32,
}

impl Bank for PlaidBank {
    /// New, pending, posted, changed and removed transactions.
    fn live_a_day(&mut self, dice: &Dice) {
        let (server, item) = (&self.fixture.server, &self.item);
        for _ in 0..dice.below(self.changes_max) {
            let now: Vec<Value> = server.transactions(item).into_values().collect();
            let chosen = dice.pick(&now).cloned();
            self.made += 1;
            let made = self.made;
            let (id, amount) = (format!("t{made}"), format!("{made}.{:02}", dice.below(100)));
            let date = format!("2026-02-{:02}", 1 + dice.below(28));
            let new = row(&id, &date, &amount, &format!("SHOP {made}"));
            match (dice.below(10), chosen) {
                (0..=4, _) | (_, None) => server.add(item, new),
                (5, _) => {
                    let mut pending = new;
                    pending["pending"] = true.into();
                    server.add(item, pending);
                }
                (6..=7, Some(it)) if it["pending"] == true => {
                    let mut posted = it.clone();
                    posted["pending"] = false.into();
                    posted["transaction_id"] = id.into();
                    server.post(item, it["transaction_id"].as_str().unwrap(), posted);
                }
                (8, Some(mut it)) => {
                    it["amount"] = serde_json::from_str(&amount).unwrap();
                    server.modify(item, it);
                }
                (_, Some(it)) => {
                    server.remove(item, it["transaction_id"].as_str().unwrap(), CHECKING);
                }
            }
        }
    }

    fn fail_somewhere(&self, dice: &Dice) {
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
        self.fixture.server.fail_next(path, fault);
    }

    fn clear_faults(&self) -> bool {
        self.fixture.server.clear_faults()
    }

    async fn sync(&self) -> bool {
        self.fixture.try_sync(self.id).await.is_ok()
    }

    fn parts(&self) -> (&World, &App, &Person, ConnectionId) {
        let PlaidFixture { world, app, robin, .. } = &self.fixture;
        (world, app, robin, self.id)
    }

    fn end_day(&self) {
        self.fixture.world.advance_seconds(86_400);
    }

    fn expected(&self) -> Vec<(String, i64, bool)> {
        let cents = |it: &Value| {
            let text = it["amount"].to_string();
            let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
            let part = format!("{part:0<2}");
            -(whole.parse::<i64>().unwrap() * 100 + part[..2].parse::<i64>().unwrap())
        };
        let row = |it: &Value| {
            (it["name"].as_str().unwrap().to_owned(), cents(it), it["pending"] == true)
        };
        self.fixture.server.transactions(&self.item).values().map(row).collect()
    }

    async fn rows(&self) -> Vec<Listed> {
        self.fixture.rows().await
    }
}

#[tokio::test]
async fn random_histories_with_random_faults_end_with_exactly_what_plaid_has() {
    for seed in 1..3 {
        let (fixture, id, item) = PlaidFixture::synced().await;
        let mut bank = PlaidBank { fixture, id, item, made: 0, changes_max: 30 };
        random_history::check(&Dice::seeded(seed), &mut bank, 4).await;
    }
}

#[tokio::test]
async fn a_crash_at_any_step_of_a_sync_loses_and_doubles_nothing() {
    let (fixture, id, item) = PlaidFixture::synced().await;
    let mut bank = PlaidBank { fixture, id, item, made: 0, changes_max: 4 };
    random_history::check_crashes(&Dice::seeded(7), &mut bank).await;
}
