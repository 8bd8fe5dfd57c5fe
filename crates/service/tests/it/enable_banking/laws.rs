//! Laws: whatever happens at the bank, and whatever fails on the way, in the end exactly what the bank lists is stored.

use base::{ConnectionId, date_from_days};
use serde_json::{Value, json};
use service::App;
use service::ingest::connections;
use testkit::enable_banking::{Fault, PendingList, Quirks, entry, pending, with};
use testkit::{Person, World};

use super::{BankFixture, GIRO};
use crate::listed::Listed;
use crate::random_history::{self, Bank, Dice};

struct EuropeanBank {
    fixture: BankFixture,
    id: ConnectionId,
    made: u32,
    pending: PendingList,
}

impl EuropeanBank {
    async fn synced(dice: &Dice) -> EuropeanBank {
        let (fixture, id) = BankFixture::synced().await;
        let lists = [PendingList::WithBooked, PendingList::Separate];
        EuropeanBank { fixture, id, made: 0, pending: lists[dice.below(2) as usize] }
    }
}

impl Bank for EuropeanBank {
    /// New and pending transactions, and pending ones that are booked with or without their reference.
    fn live_a_day(&mut self, dice: &Dice) {
        let page = dice.below(4) as usize;
        let quirks = Quirks { page, pending: self.pending, ..Quirks::default() };
        self.fixture.server.set_quirks(quirks);
        let today = self.fixture.world.clock.now().as_second().div_euclid(86_400);
        let made = self.made;
        self.fixture.server.update(GIRO, |it| {
            // No purchase stays pending for weeks.
            let oldest = date_from_days(today - 3).to_string();
            for (index, row) in it.transactions.iter_mut().enumerate() {
                if row["status"] == "PDNG" && row["value_date"].as_str() < Some(&oldest) {
                    book(row, &format!("late{made}-{index}"));
                }
            }
        });
        for _ in 0..dice.below(12) {
            self.made += 1;
            let made = self.made;
            let (id, amount) = (format!("t{made}"), format!("{made}.{:02}", dice.below(100)));
            let text = format!("LADEN {made}");
            let date = date_from_days(today - i64::from(dice.below(5))).to_string();
            let booked = entry(&id, &date, &amount, "DBIT", &text);
            let nameless = json!({ "transaction_id": null, "entry_reference": null });
            let new = match dice.below(8) {
                0 => pending(&id, &date, &amount, &text),
                1 => with(pending(&id, &date, &amount, &text), nameless),
                2 => with(booked, nameless),
                _ => booked,
            };
            self.fixture.server.update(GIRO, |it| {
                let waiting = it.transactions.iter_mut().find(|it| it["status"] == "PDNG");
                match waiting {
                    Some(row) if dice.below(3) == 0 => book(row, &id),
                    _ => it.transactions.push(new),
                }
                // Some banks list a row twice, with another reference.
                if dice.below(6) == 0
                    && let Some(last) = it.transactions.last().cloned()
                    && last["transaction_id"].is_string()
                {
                    it.transactions
                        .push(with(last, json!({ "entry_reference": format!("x{made}") })));
                }
            });
        }
    }

    fn fail_somewhere(&self, dice: &Dice) {
        let paths = ["/transactions", "/sessions", "continuation_key", "PDNG"];
        let path = paths[dice.below(4) as usize];
        let (path, fault) = match dice.below(4) {
            0 => (path, Fault::Cut),
            1 => (path, Fault::Response(502, "<html>".to_owned())),
            // For the list of pending transactions, this would be a refusal for a week.
            2 => {
                let refusal = "{\"error\":\"WRONG_CONTINUATION_KEY\"}";
                ("continuation_key", Fault::Response(400, refusal.to_owned()))
            }
            _ => (path, Fault::Response(200, "{}".to_owned())),
        };
        self.fixture.server.fail_next(path, fault);
    }

    fn clear_faults(&self) -> bool {
        self.fixture.server.clear_faults()
    }

    async fn sync(&self) -> bool {
        let synced = self.fixture.sync_now(self.id).await;
        synced.is_ok_and(|it| it.accounts_with_problems == 0)
    }

    fn parts(&self) -> (&World, &App, &Person, ConnectionId) {
        let BankFixture { world, app, robin, .. } = &self.fixture;
        (world, app, robin, self.id)
    }

    fn end_day(&self) {
        self.fixture.world.advance_seconds(86_400);
    }

    fn expected(&self) -> Vec<(String, i64, bool)> {
        let row = |it: &Value| {
            let text = it["remittance_information"][0].as_str().unwrap().to_owned();
            let cents = it["transaction_amount"]["amount"].as_str().unwrap().replace('.', "");
            (text, -cents.parse::<i64>().unwrap(), it["status"] == "PDNG")
        };
        let mut all: Vec<_> = self.fixture.server.transactions(GIRO).iter().map(row).collect();
        all.sort();
        // Every transaction has its own text, so that equal ones were listed twice.
        all.dedup();
        all
    }

    async fn rows(&self) -> Vec<Listed> {
        self.fixture.rows().await
    }
}

/// Books a pending transaction: it gets an id and a date, and keeps its reference if it has one.
fn book(row: &mut Value, id: &str) {
    row["transaction_id"] = id.into();
    row["status"] = "BOOK".into();
    row["booking_date"] = row["value_date"].clone();
}

#[tokio::test]
async fn random_histories_with_random_faults_end_with_exactly_what_the_bank_has() {
    for seed in 1..4 {
        let dice = Dice::seeded(seed);
        let mut bank = EuropeanBank::synced(&dice).await;
        random_history::check(&dice, &mut bank, 3).await;
        connections::revoke_once(&bank.fixture.app).await.unwrap();
    }
}

#[tokio::test]
async fn a_crash_at_any_step_of_a_sync_loses_and_doubles_nothing() {
    let dice = Dice::seeded(7);
    let mut bank = EuropeanBank::synced(&dice).await;
    random_history::check_crashes(&dice, &mut bank).await;
}
