//! Tests of how SimpleFIN holdings are read.

use base::draft::SecurityKind;
use base::{Currency, Timestamp};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::Holding;

fn at() -> Timestamp {
    "2026-03-10T12:00:00Z".parse().unwrap()
}

fn holding(json: &str) -> Option<Holding> {
    let raw = RawValue::from_string(json.to_owned()).unwrap();
    Holding::read(&raw, Currency::USD)
}

/// The quantity, price and cost of a holding, or a dash if it is left out.
fn shown(json: &str, institution: Option<&str>) -> String {
    let Some(draft) = holding(json).and_then(|it| it.draft(institution, Currency::USD, at()))
    else {
        return "-".to_owned();
    };
    let price = draft.security.price.map_or("-".to_owned(), |it| it.to_string());
    let cost = draft.cost_basis_minor.map_or("-".to_owned(), |it| it.to_string());
    format!("{} x {price} for {cost}", draft.quantity)
}

#[test]
fn a_cost_basis_is_read_per_share_or_in_total() {
    for (json, institution, expected) in [
        (
            r#"{"symbol":"VTI","shares":"10","market_value":"2500","cost_basis":"200"}"#,
            None,
            "10 x 250 for 200000",
        ),
        (
            r#"{"symbol":"VTI","shares":"10","market_value":"2500","cost_basis":"2000"}"#,
            None,
            "10 x 250 for 200000",
        ),
        (
            r#"{"symbol":"VTI","shares":10,"market_value":2500,"cost_basis":2000}"#,
            None,
            "10 x 250 for 200000",
        ),
        (
            r#"{"symbol":"VTI","shares":"3","market_value":"300","cost_basis":"3"}"#,
            Some("Fidelity Investments"),
            "3 x 100 for 300",
        ),
        (
            r#"{"symbol":"VTI","shares":"3","market_value":"300","cost_basis":"3","purchase_price":"1"}"#,
            None,
            "3 x 100 for 300",
        ),
        (
            r#"{"symbol":"VTI","shares":"3","market_value":"300","cost_basis":"1","purchase_price":"1"}"#,
            None,
            "3 x 100 for 300",
        ),
        (
            r#"{"symbol":"VTI","shares":"3","market_value":"300","purchase_price":"2"}"#,
            None,
            "3 x 100 for 600",
        ),
        (
            r#"{"symbol":"VTI","shares":"3","market_value":"300","total_cost":"7","cost_basis":"5"}"#,
            None,
            "3 x 100 for 700",
        ),
        (
            r#"{"symbol":"VTI","shares":"3","market_value":"300","cost_basis":"0"}"#,
            None,
            "3 x 100 for -",
        ),
        (
            r#"{"symbol":"VTI","shares":"0.5","market_value":"50","cost_basis":"80"}"#,
            None,
            "0.5 x 100 for 4000",
        ),
        (
            r#"{"symbol":"","description":"Target 2050","market_value":"1234.56"}"#,
            None,
            "1 x - for -",
        ),
        (
            r#"{"symbol":"VTI","shares":"-2","market_value":"-200","cost_basis":"90"}"#,
            None,
            "-2 x 100 for 18000",
        ),
        (r#"{"symbol":"VTI","shares":"0","market_value":"0"}"#, None, "-"),
        (r#"{"symbol":"VTI"}"#, None, "-"),
    ] {
        assert_eq!(shown(json, institution), expected, "{json}");
    }
}

#[test]
fn symbols_and_names_determine_the_kind_of_a_security() {
    for (json, kind) in [
        (r#"{"symbol":"SPAXX","description":"Cash","shares":"1"}"#, SecurityKind::Cash),
        (r#"{"description":"Federal Money Market","shares":"1"}"#, SecurityKind::Cash),
        (r#"{"symbol":"aapl","shares":"1"}"#, SecurityKind::Equity),
        (r#"{"symbol":"QQQ","shares":"1"}"#, SecurityKind::Etf),
        (r#"{"symbol":"VTSAX","shares":"1"}"#, SecurityKind::MutualFund),
        (r#"{"symbol":"ZZZ","description":"Zed World ETF","shares":"1"}"#, SecurityKind::Etf),
        (r#"{"symbol":"ZZZ","description":"Zed","shares":"1"}"#, SecurityKind::Equity),
        (r#"{"description":"Company Plan Fund","shares":"1"}"#, SecurityKind::MutualFund),
        (r#"{"description":"Something","shares":"1"}"#, SecurityKind::Other),
    ] {
        let draft = holding(json).unwrap().draft(None, Currency::USD, at()).unwrap();
        assert_eq!(draft.security.kind, kind, "{json}");
    }
}

#[test]
fn one_symbol_in_two_currencies_is_two_securities() {
    let euro = holding(r#"{"symbol":"SAP","currency":"EUR","shares":"1"}"#).unwrap();
    let draft = euro.draft(None, Currency::USD, at()).unwrap();
    assert_eq!(draft.security.external_id, "SAP.EUR");
    let draft = euro.draft(None, Currency::EUR, at()).unwrap();
    assert_eq!(draft.security.external_id, "SAP");
}

proptest! {
    #[test]
    fn numbers_of_any_size_never_panic(numbers in proptest::collection::vec("-?[0-9]{1,24}(\\.[0-9]{1,12})?", 4)) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|it| numbers[it].clone());
        let json = format!(
            r#"{{"symbol":"A","shares":"{a}","market_value":"{b}","cost_basis":"{c}","purchase_price":"{d}"}}"#
        );
        shown(&json, None);
    }
}
