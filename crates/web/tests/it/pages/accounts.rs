//! The page of one account: its type, its terms, its payoff and its holdings.

use base::draft::AccountKind;
use http::StatusCode;
use testkit::World;
use testkit::draft::{account, brokerage, card, checking, position, statement};

use crate::browser::Browser;

#[tokio::test]
async fn an_account_is_made_a_mortgage_and_shows_when_it_is_paid_off() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("House").balance("2026-03-09T08:00:00Z", -1_000_000)])).await;
    let mut browser = Browser::of(&world, &robin).await;
    let path = format!("/accounts/{}", robin.account("House").await);
    let page = browser.get(&path).await.good();
    assert!(
        page.contains("Account settings") && !page.contains("When will it be paid off?"),
        "{page}"
    );
    assert!(page.find("Account settings") < page.find("Balance over time").or(Some(usize::MAX)));
    let types = [("type", "loan/mortgage")];
    let page = browser.submit(&format!("{path}/type"), &types).await.good();
    assert!(page.contains("Type saved.") && page.contains("Owed"), "{page}");
    assert!(page.contains("Enter the interest rate and the monthly payment"), "{page}");
    let terms =
        [("due_day", "15"), ("interest_rate", "6 %"), ("payment", "500"), ("statement_day", "")];
    let page = browser.submit(&format!("{path}/terms"), &terms).await.good();
    assert!(page.contains("Terms saved.") && page.contains("22 payments"), "{page}");
    assert!(page.contains("$562.51") && page.contains("Sun 15 Mar"), "{page}");
    for (field, typed, message) in [
        ("due_day", "40", "Enter a day of the month, 1 to 31"),
        ("interest_rate", "a lot", "Enter a percentage such as 6.5"),
        ("payment", "-5", "Enter a payment of more than zero"),
    ] {
        let fields: Vec<(&str, &str)> =
            terms.iter().map(|it| if it.0 == field { (field, typed) } else { *it }).collect();
        let page = browser.post(&format!("{path}/terms"), &fields).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.text);
        assert!(page.text.contains(message), "{message}\n{}", page.text);
        assert!(page.text.contains(&format!("value=\"{typed}\"")), "{}", page.text);
        assert!(page.text.contains("<details class=\"card folded\" open"), "{}", page.text);
    }
    let page = browser.post(&format!("{path}/type"), &[("type", "castle/tower")]).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.text);
    assert!(page.text.contains("Choose an account type"), "{}", page.text);
}

#[tokio::test]
async fn a_card_shows_its_statement_and_due_dates() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([card("Visa").balance("2026-03-09T08:00:00Z", 5_000)])).await;
    let mut browser = Browser::of(&world, &robin).await;
    let path = format!("/accounts/{}", robin.account("Visa").await);
    let terms =
        [("statement_day", "20"), ("due_day", "11"), ("interest_rate", ""), ("payment", "")];
    let page = browser.submit(&format!("{path}/terms"), &terms).await.good();
    assert!(page.contains("Statement closes") && page.contains("Fri 20 Mar"), "{page}");
    assert!(page.contains("Payment due") && page.contains("tomorrow"), "{page}");
}

#[tokio::test]
async fn an_investment_account_lists_its_own_holdings_and_unknown_types_stay() {
    let world = World::new().await;
    let robin = world.someone().await;
    let odd = account("Odd", AccountKind::Other, "space_elevator");
    let mine = brokerage("Mine").holding([position("VTI", "3")]);
    let other = brokerage("Other").holding([position("BND", "5")]);
    robin.import(statement([mine, other, odd])).await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get(&format!("/accounts/{}", robin.account("Mine").await)).await.good();
    assert!(
        page.contains("Mine holdings") && page.contains("VTI") && !page.contains("BND"),
        "{page}"
    );
    let page = browser.get(&format!("/accounts/{}", robin.account("Odd").await)).await.good();
    assert!(
        page.contains("<option value=\"other/space_elevator\" selected>Space elevator"),
        "{page}"
    );
}
