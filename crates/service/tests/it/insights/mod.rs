//! Insights: computed in the background, announced by events when they change, and independent of the order of imports.

mod agreement;
mod benefits;
mod corrections;
mod hiding;
mod income;
mod one_file;
mod own_changes;
mod processes;
mod recompute;
mod recurring;
mod rule_matches;
mod rule_preview;
mod scores;
mod stream_choices;
mod stream_merges;
mod summary;
mod transfers;

use ::webhooks::outbox;
use base::{Date, date_from_days, days_from_date};
use service::insights;
use testkit::draft::{Txn, txn};
use testkit::{Person, World};

/// Computes everything that is queued.
async fn recompute_all(world: &World) {
    insights::pipeline::run_all(&world.app).await.unwrap();
}

/// The number of events of that type.
async fn count_events(world: &World, person: &Person, event_type: &str) -> usize {
    let events = outbox::list(&world.app.db, person.user.id, None, 10_000).await.unwrap();
    events.iter().filter(|it| it.event_type == event_type).count()
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

/// Transactions of the same amount on the same day of many months, the last one in the month of `last`.
fn monthly(last: &str, count: i64, minor: i64, description: &str) -> Vec<Txn> {
    let last = day(last);
    let last_month = i64::from(last.year()) * 12 + i64::from(last.month()) - 1;
    let of_month = |it: i64| {
        let (year, month) =
            ((last_month - it).div_euclid(12), (last_month - it).rem_euclid(12) + 1);
        format!("{year:04}-{month:02}-{:02}", last.day())
    };
    (0..count)
        .map(|it| {
            let on = of_month(it);
            txn(&on, minor, description).id(&format!("{description} {on}"))
        })
        .collect()
}

/// Transactions every `days` days, the last one on `last`.
fn every(days: i64, last: &str, count: i64, minor: i64, description: &str) -> Vec<Txn> {
    let last = days_from_date(day(last));
    (0..count)
        .map(|it| {
            let on = date_from_days(last - it * days).to_string();
            txn(&on, minor, description).id(&format!("{description} {on}"))
        })
        .collect()
}
