//! Corporate actions from Alpaca.

use base::Fixed9;
use sources::market::{ActionTerms, CorporateAction, MarketError, QuoteProvider as _};
use testkit::alpaca::{Alpaca, Fault};
use testkit::day;

use super::{provider, symbols};

async fn fetch_actions(alpaca: &Alpaca, of: &str) -> Result<Vec<CorporateAction>, MarketError> {
    let (from, to) = (day("2026-06-01"), day("2026-06-30"));
    provider(alpaca).corporate_actions(symbols(of), from, to).await
}

fn split(symbol: &str, rates: &str) -> String {
    format!(
        r#"{{"symbol": "{symbol}", "cusip": "67066G104", {rates}, "ex_date": "2026-06-10",
            "process_date": "2026-06-10", "payable_date": "2026-06-07"}}"#
    )
}

fn dividend(rate: &str, ex_on: &str, dates: &str) -> String {
    format!(
        r#"{{"symbol": "KO", "cusip": "191216100", "rate": {rate}, "special": false,
            "foreign": false, "ex_date": "{ex_on}", {dates}}}"#
    )
}

#[tokio::test]
async fn splits_and_reverse_splits_become_whole_number_ratios_on_their_ex_date() {
    let alpaca = Alpaca::start().await;
    alpaca.action("forward_splits", &split("NVDA", r#""new_rate": 10, "old_rate": 1"#));
    alpaca.action("forward_splits", &split("HALF", r#""new_rate": 1.5, "old_rate": 1"#));
    alpaca.action("reverse_splits", &split("DOWN", r#""new_rate": 1, "old_rate": 20.0"#));
    alpaca.action("reverse_splits", &split("ODD", r#""new_rate": 0.05, "old_rate": 1"#));
    for invalid in [r#""new_rate": 0, "old_rate": 1"#, r#""new_rate": 1"#] {
        alpaca.action("forward_splits", &split("ODD", invalid));
    }
    let found = fetch_actions(&alpaca, "NVDA HALF DOWN ODD").await.unwrap();
    let found: Vec<(&str, String, &ActionTerms)> =
        found.iter().map(|it| (it.symbol.as_str(), it.ex_on.to_string(), &it.terms)).collect();
    let on = || "2026-06-10".to_owned();
    assert_eq!(
        found,
        [
            ("DOWN", on(), &ActionTerms::Split { to: 1, from: 20 }),
            ("HALF", on(), &ActionTerms::Split { to: 3, from: 2 }),
            ("NVDA", on(), &ActionTerms::Split { to: 10, from: 1 }),
            ("ODD", on(), &ActionTerms::Split { to: 1, from: 20 }),
        ]
    );
}

#[tokio::test]
async fn a_dividend_has_its_exact_rate_and_payment_date() {
    let alpaca = Alpaca::start().await;
    let dates = r#""process_date": "2026-07-01", "payable_date": "2026-07-02""#;
    alpaca.action("cash_dividends", &dividend("0.485", "2026-06-13", dates));
    let dates = r#""process_date": "2026-06-20""#;
    alpaca.action("cash_dividends", &dividend("0.08333333333333333", "2026-06-14", dates));
    alpaca.action("cash_dividends", &dividend("0", "2026-06-14", dates));
    alpaca.action("cash_dividends", &dividend("null", "2026-06-14", dates));
    let found = fetch_actions(&alpaca, "KO").await.unwrap();
    let dividends: Vec<(String, &ActionTerms)> =
        found.iter().map(|it| (it.ex_on.to_string(), &it.terms)).collect();
    let each = |text| Fixed9::parse(text).unwrap();
    assert_eq!(
        dividends,
        [
            (
                "2026-06-13".to_owned(),
                &ActionTerms::Dividend { each: each("0.485"), pay_on: day("2026-07-02") }
            ),
            (
                "2026-06-14".to_owned(),
                &ActionTerms::Dividend { each: each("0.083333333"), pay_on: day("2026-06-20") }
            ),
        ]
    );
}

#[tokio::test]
async fn actions_are_filtered_by_ex_date_although_alpaca_uses_process_dates() {
    let alpaca = Alpaca::start().await;
    for (ex_on, processed) in [
        ("2026-05-31", "2026-06-15"),
        ("2026-06-01", "2026-06-20"),
        ("2026-06-30", "2026-10-15"),
        ("2026-07-01", "2026-07-15"),
    ] {
        let dates = format!(r#""process_date": "{processed}", "payable_date": "{processed}""#);
        alpaca.action("cash_dividends", &dividend("1", ex_on, &dates));
    }
    let found = fetch_actions(&alpaca, "KO").await.unwrap();
    let days: Vec<String> = found.iter().map(|it| it.ex_on.to_string()).collect();
    assert_eq!(days, ["2026-06-01", "2026-06-30"]);
    assert_eq!(
        alpaca.requests(),
        ["/v1/corporate-actions?symbols=KO&types=forward_split,reverse_split,cash_dividend\
          &start=2026-05-25&end=2026-10-28&limit=1000"]
    );
}

#[tokio::test]
async fn all_pages_are_read() {
    let alpaca = Alpaca::start().await;
    for index in 1..=2001 {
        let rate = format!("0.{index:04}1");
        let dates = r#""process_date": "2026-06-20", "payable_date": "2026-06-20""#;
        alpaca.action("cash_dividends", &dividend(&rate, "2026-06-13", dates));
    }
    let found = fetch_actions(&alpaca, "KO").await.unwrap();
    let mut distinct: Vec<String> = found.iter().map(|it| format!("{:?}", it.terms)).collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!((found.len(), distinct.len()), (2001, 2001));
    assert_eq!(alpaca.requests().len(), 3);
    assert!(alpaca.requests()[1].ends_with("&page_token=1000%2B%2F%3D%3D"));
}

#[tokio::test]
async fn endless_pages_are_an_error() {
    let alpaca = Alpaca::start().await;
    for _ in 0..30 {
        let page = r#"{"corporate_actions": null, "next_page_token": "again"}"#;
        alpaca.fail_next(Fault::Response(200, page.to_owned()));
    }
    let MarketError(sentence) = fetch_actions(&alpaca, "KO").await.unwrap_err();
    assert!(sentence.contains("too many pages"), "{sentence}");
    assert_eq!(alpaca.requests().len(), 20);
}

#[tokio::test]
async fn no_actions_give_an_empty_list() {
    let alpaca = Alpaca::start().await;
    assert_eq!(fetch_actions(&alpaca, "KO").await, Ok(vec![]));
    assert_eq!(fetch_actions(&alpaca, "").await, Ok(vec![]));
    assert_eq!(alpaca.requests().len(), 1);
    let empty = r#"{"corporate_actions": {"cash_dividends": null}, "next_page_token": ""}"#;
    alpaca.fail_next(Fault::Response(200, empty.to_owned()));
    assert_eq!(fetch_actions(&alpaca, "KO").await, Ok(vec![]));
}
