//! Deviations from the specification that real servers and banks have.

use sources::simplefin::{NoticeKind, Query};
use testkit::simplefin::{Account, Fault, Transaction};

use super::{ask, drafted, household, march, noon, rows};

#[tokio::test]
async fn a_failing_login_does_not_affect_the_others() {
    let (server, access) = household().await;
    server.needs_auth("CON-2", true);
    server.set_incomplete("ACT-card", true);
    let set = ask(&access, &march()).await.unwrap();
    assert_eq!(set.accounts.len(), 3);
    let notices: Vec<_> = set
        .notices
        .iter()
        .map(|it| (it.kind, it.connection.as_deref(), it.account.as_deref()))
        .collect();
    assert_eq!(
        notices,
        [
            (NoticeKind::Reauthenticate, Some("CON-2"), None),
            (NoticeKind::Retry, Some("CON-1"), Some("ACT-card")),
        ]
    );
    server.use_version_one();
    let set = ask(&access, &march()).await.unwrap();
    let notice = &set.notices[0];
    assert_eq!(notice.kind, NoticeKind::Reauthenticate);
    let connection = set.connections.iter().find(|it| Some(&it.id) == notice.connection.as_ref());
    assert_eq!(connection.unwrap().name, "Second Bank");
}

#[tokio::test]
async fn a_booked_transaction_may_keep_its_id_or_get_a_new_one() {
    let (server, access) = household().await;
    server.transaction(
        "ACT-checking",
        Transaction::pending("T4", noon("2026-03-09"), "-9.00", "LUNCH"),
    );
    server.post("ACT-checking", "T3", noon("2026-03-10"), None);
    server.post("ACT-checking", "T4", noon("2026-03-10"), Some("T4-BOOKED"));
    let set = ask(&access, &march()).await.unwrap();
    assert_eq!(rows(&drafted(&set), "ACT-checking"), ["T2", "T3", "T4-BOOKED"]);
}

#[tokio::test]
async fn a_pending_and_a_booked_row_with_the_same_id_are_one_transaction() {
    let (server, access) = household().await;
    let booked = Transaction::posted("T3", noon("2026-03-10"), "-5.40", "COFFEE AND TIP");
    server.transaction("ACT-checking", booked);
    let drafts = drafted(&ask(&access, &march()).await.unwrap());
    assert_eq!(rows(&drafts, "ACT-checking"), ["T2", "T3"]);
}

#[tokio::test]
async fn a_transaction_without_a_posting_date_is_not_pending() {
    let (server, access) = household().await;
    let mut odd = Transaction::posted("T5", noon("2026-03-08"), "-1.00", "ODD");
    (odd.posted, odd.transacted_at) = (None, Some(noon("2026-03-08")));
    server.transaction("ACT-checking", odd);
    // The server assigns it to no date, so the query has no date range.
    let query = Query { pending: true, ..Query::default() };
    let drafts = drafted(&ask(&access, &query).await.unwrap());
    assert_eq!(rows(&drafts, "ACT-checking"), ["T1", "T2", "T5", "T3?"]);
}

#[tokio::test]
async fn a_relinked_institution_adds_accounts_with_new_ids() {
    let (server, access) = household().await;
    server.relink("CON-1", true);
    let set = ask(&access, &march()).await.unwrap();
    let drafts = drafted(&set);
    assert_eq!(drafts.len(), 5);
    assert_eq!(rows(&drafts, "ACT-checking"), ["T2", "T3?"]);
    assert_eq!(rows(&drafts, "ACT-checking-NEW"), ["T2-NEW", "T3-NEW?"]);
    server.relink("CON-1", false);
    assert_eq!(ask(&access, &march()).await.unwrap().accounts.len(), 5);
}

#[tokio::test]
async fn an_account_in_custom_units_is_unsupported() {
    let (server, access) = household().await;
    server
        .update_account("ACT-loan", |it| it.currency = format!("{}/miles", "https://air.example"));
    let set = ask(&access, &march()).await.unwrap();
    assert_eq!((set.accounts.len(), set.unsupported.len()), (2, 1));
    assert!(set.unsupported[0].reason.contains("points or miles"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn holdings_have_prices_and_cost_bases() {
    let (server, access) = household().await;
    let mut account =
        Account::new("CON-2", "ACT-invest", "Brokerage", "2750.00", noon("2026-03-10"));
    account.holdings = Some(vec![
        r#"{"id":"HOL-1","created":1600000000,"currency":"USD","cost_basis":"200.00",
            "description":"Vanguard Total Stock Market","market_value":"2500.00",
            "purchase_price":"0.00","shares":"10.00","symbol":"VTI"}"#
            .to_owned(),
        r#"{"id":"HOL-2","currency":"","cost_basis":null,"description":"Target 2050",
            "market_value":250,"shares":12.5,"symbol":""}"#
            .to_owned(),
    ]);
    server.account(account);
    let drafts = drafted(&ask(&access, &march()).await.unwrap());
    let holdings = drafts.last().unwrap().holdings.clone().unwrap();
    let shown: Vec<String> = holdings
        .iter()
        .map(|it| {
            let price = it.security.price.unwrap();
            let cost = it.cost_basis_minor;
            format!("{} {} x {price} cost {cost:?}", it.security.external_id, it.quantity)
        })
        .collect();
    assert_eq!(shown, ["VTI 10 x 250 cost Some(200000)", "HOL-2 12.5 x 20 cost None"]);
    assert!(drafts[0].holdings.is_none());
}

#[tokio::test]
async fn markup_is_removed_from_error_messages() {
    let (server, access) = household().await;
    server.add_error(
        "<script>alert(1)</script>Please <a href='https://evil.example'>sign in</a> again",
    );
    let set = ask(&access, &march()).await.unwrap();
    assert_eq!(set.notices[0].text, "Please sign in again");
}

#[tokio::test]
async fn an_invalid_response_is_reported() {
    let (server, access) = household().await;
    for body in ["<html>Welcome</html>", "", "{\"accounts\": \"none\"}"] {
        server.fail_next(Fault::Response(200, body.to_owned()));
        let error = ask(&access, &march()).await.unwrap_err();
        assert!(error.to_string().starts_with("This is not a valid response of"), "{error}");
    }
}
