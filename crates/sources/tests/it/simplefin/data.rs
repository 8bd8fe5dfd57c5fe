//! Queries and their responses, in both protocol versions.

use sources::simplefin::{Query, fetch, windows};
use testkit::day;
use testkit::simplefin::{SimpleFin, Transaction};

use super::{ask, drafted, household, march, noon, rows};

#[tokio::test]
async fn both_versions_make_the_same_drafts() {
    let (server, access) = household().await;
    let two = drafted(&ask(&access, &march()).await.unwrap());
    server.use_version_one();
    let one = drafted(&ask(&access, &march()).await.unwrap());
    server.swap_numbers_and_strings();
    let mixed = drafted(&ask(&access, &march()).await.unwrap());
    assert_eq!(rows(&two, "ACT-checking"), ["T2", "T3?"]);
    for other in [&one, &mixed] {
        for (a, b) in two.iter().zip(other) {
            assert_eq!(a.transactions, b.transactions);
            assert_eq!(a.balance, b.balance);
            assert_eq!(
                (&a.external_id, &a.institution_name),
                (&b.external_id, &b.institution_name)
            );
        }
        assert_eq!(two.len(), other.len());
    }
    let currents: Vec<i64> = two.iter().map(|it| it.balance.unwrap().current_minor).collect();
    assert_eq!(currents, [10_023, 42_000, 900_000]);
}

#[tokio::test]
async fn pending_transactions_are_returned_only_if_requested() {
    let (server, access) = household().await;
    let booked = Query { pending: false, ..march() };
    let set = ask(&access, &booked).await.unwrap();
    assert_eq!(rows(&drafted(&set), "ACT-checking"), ["T2"]);
    assert!(!server.requests()[0].path.contains("pending"));
}

#[tokio::test]
async fn ranges_are_half_open_and_windows_miss_nothing() {
    let (server, access) = household().await;
    for (id, on) in [("W1", "2025-12-01"), ("W2", "2026-01-25"), ("W3", "2026-01-26")] {
        server.transaction(
            "ACT-checking",
            Transaction::posted(id, noon(on) - 43_200, "-1.00", "EDGE OF A DAY"),
        );
    }
    let mut found = Vec::new();
    for (start, end) in windows(day("2025-12-01"), day("2026-03-11")) {
        let query = Query { start: Some(start), end: Some(end), ..Query::default() };
        found.extend(rows(&drafted(&ask(&access, &query).await.unwrap()), "ACT-checking"));
    }
    found.sort();
    assert_eq!(found, ["T1", "T2", "W1", "W2", "W3"]);
}

#[tokio::test]
async fn accounts_can_be_chosen_and_balances_requested_alone() {
    let (server, access) = household().await;
    let accounts = vec!["ACT-card".to_owned(), "ACT-loan".to_owned()];
    let set = ask(&access, &Query { accounts, ..march() }).await.unwrap();
    let ids: Vec<&str> = set.accounts.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["ACT-card", "ACT-loan"]);
    assert!(server.requests()[0].path.ends_with("&account=ACT-card&account=ACT-loan"));
    let set = ask(&access, &Query { balances_only: true, ..march() }).await.unwrap();
    assert!(set.accounts.iter().all(|it| it.transactions.is_empty() && it.balance.is_some()));
}

#[tokio::test]
async fn too_many_accounts_for_a_url_are_filtered_locally() {
    let (server, access) = household().await;
    let mut accounts: Vec<String> = (0..200).map(|it| format!("ACT-other-{it}")).collect();
    accounts.push("ACT-loan".to_owned());
    let set =
        fetch(&SimpleFin::http_client(), &access, &Query { accounts, ..march() }).await.unwrap();
    assert_eq!(set.accounts.len(), 1);
    assert!(!server.requests()[0].path.contains("account="));
}
