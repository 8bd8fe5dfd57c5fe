//! What Plaid's data means: signs, dates, names, categories, positions, trades and terms.

use base::draft::{AccountKind, SecurityKind, TradeKind};
use serde_json::json;
use sources::provider::OwedSign;
use testkit::day;
use testkit::plaid::{card_terms, holding, investment, security, transaction};

use super::{BROKERAGE, CARD, CHECKING, Login, drafts};

#[tokio::test]
async fn accounts_are_offered_with_their_type_and_sign() {
    let login = Login::new().await;
    let response = login.sync(None, &[]).await;
    let offers: Vec<_> = response
        .offers
        .iter()
        .map(|it| (it.name.as_str(), it.kind, it.owed, it.balance.map(|it| it.minor())))
        .collect();
    assert_eq!(
        offers,
        [
            ("Everyday Checking (0000)", AccountKind::Depository, OwedSign::Negative, Some(11_040)),
            ("Sapphire (3333)", AccountKind::Credit, OwedSign::Positive, Some(41_000)),
            ("Brokerage (5555)", AccountKind::Investment, OwedSign::Negative, Some(205_025)),
        ]
    );
    assert_eq!(response.offers[0].institution.as_deref(), Some("First Platypus Bank"));
    // Nothing that is billed was asked, because nothing that needs it was chosen.
    let billed = ["/investments/holdings/get", "/investments/transactions/get", "/liabilities/get"];
    assert!(billed.iter().all(|it| login.server.count(it) == 0));
}

#[tokio::test]
async fn a_transaction_is_read_with_our_sign_and_the_banks_own_text() {
    let login = Login::new().await;
    let mut row = transaction("t1", CHECKING, "2026-03-02", "12.339999999999998", "Uber");
    row["original_description"] = "UBER 063015 SF**POOL**".into();
    row["authorized_date"] = "2026-03-01".into();
    row["pending_transaction_id"] = "p1".into();
    row["counterparties"] = json!([{
        "name": "Uber", "type": "merchant", "website": null,
        "logo_url": "https://logo.example/uber.png",
    }]);
    row["personal_finance_category"] = json!({
        "primary": "TRANSPORTATION", "detailed": "TRANSPORTATION_TAXIS_AND_RIDE_SHARES",
        "confidence_level": "HIGH", "version": "v2",
    });
    login.server.add(&login.item, row);
    let mut euros = transaction("t2", CHECKING, "2026-03-02", "1", "ELSEWHERE");
    euros["iso_currency_code"] = "EUR".into();
    login.server.add(&login.item, euros);
    let response = login.sync(None, &[CHECKING]).await;
    assert_eq!(response.rejected, 1);
    let rows = &drafts(&response)[0].transactions;
    assert_eq!(rows.len(), 1);
    let draft = &rows[0];
    assert_eq!(draft.amount.minor(), -1_234);
    assert_eq!(draft.description, "UBER 063015 SF**POOL**");
    assert_eq!(draft.settles.as_deref(), Some("p1"));
    assert_eq!(
        (draft.posted_on, draft.authorized_on),
        (day("2026-03-02"), Some(day("2026-03-01")))
    );
    assert_eq!(draft.counterparty.as_deref(), Some("Uber"));
    assert_eq!(draft.counterparty_logo_url.as_deref(), Some("https://logo.example/uber.png"));
    let category = draft.category.unwrap().detailed();
    assert_eq!(category, "TRANSPORTATION_TAXIS_AND_RIDE_SHARES");
}

#[tokio::test]
async fn investments_are_asked_once_a_day_for_a_chosen_account() {
    let login = Login::new().await;
    let mut position = holding(BROKERAGE, "s1", "10.5", "195.2619", "2050.25");
    position["cost_basis"] = serde_json::from_str("1500.10").unwrap();
    login.server.set_investments(
        &login.item,
        vec![security("s1", "ACME", "Acme Inc", "equity")],
        vec![position],
        vec![
            investment("i1", (BROKERAGE, Some("s1")), "2026-02-01", ("10.5", "1500.1"), "buy/buy"),
            investment(
                "i2",
                (BROKERAGE, Some("s1")),
                "2026-02-20",
                ("0", "-12.3"),
                "cash/dividend",
            ),
            investment(
                "i3",
                (BROKERAGE, Some("s1")),
                "2026-02-21",
                ("1", "0"),
                "transfer/transfer",
            ),
        ],
    );
    let response = login.sync(None, &[BROKERAGE]).await;
    let all = drafts(&response);
    let account = all.iter().find(|it| it.external_id == BROKERAGE).unwrap();
    let position = &account.holdings.as_ref().unwrap()[0];
    assert_eq!(position.cost_basis_minor, Some(150_010));
    assert_eq!(position.institution_value_minor, Some(205_025));
    assert_eq!(position.security.price.unwrap().to_string(), "195.2619");
    assert_eq!(position.security.kind, SecurityKind::Equity);
    let cash: Vec<_> =
        account.transactions.iter().map(|it| (it.amount.minor(), it.category)).collect();
    assert_eq!((cash[0].0, cash[1].0, cash.len()), (-150_010, 1_230, 2));
    assert_eq!(cash[1].1.unwrap().detailed(), "INCOME_DIVIDENDS");
    let trades: Vec<_> = account.trades.iter().map(|it| (it.kind, it.amount_minor)).collect();
    assert_eq!(trades, [(TradeKind::Buy, Some(150_010)), (TradeKind::TransferIn, None)]);
    let again = login.sync(response.state.as_deref(), &[BROKERAGE]).await;
    assert_eq!(login.server.count("/investments/holdings/get"), 1);
    // Positions that were not asked for are unknown, not gone.
    let all = drafts(&again);
    assert!(all.iter().all(|it| it.holdings.is_none()));
}

#[tokio::test]
async fn liabilities_give_rates_and_due_dates() {
    let login = Login::new().await;
    login.server.set_liabilities(&login.item, card_terms(CARD));
    let response = login.sync(None, &[CARD]).await;
    let all = drafts(&response);
    let card = all.iter().find(|it| it.external_id == CARD).unwrap();
    assert_eq!(card.interest_rate.unwrap().to_string(), "21.49");
    assert_eq!(card.next_payment_due_on, Some(day("2026-04-05")));
    assert_eq!(card.balance.unwrap().current_minor, 41_000);
    assert_eq!(login.server.count("/liabilities/get"), 1);
}
