//! Example responses and errors, built from the examples of the types in `wire`.

use serde_json::{Map, Value, json};
use wire::v1::Code;

use super::Schemas;
use crate::api::{Endpoint, Paging};

/// Examples of decimals. utoipa drops the one beside a member whose type has a schema of its own,
/// as `Number` has.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("Account", "balance_available", "4218.55"),
    ("Account", "balance_current", "4302.17"),
    ("AccountTotal", "cost_basis_total", "70250.00"),
    ("AccountTotal", "current_value", "84120.09"),
    ("AccountTotal", "day_change", "268.40"),
    ("AccountTotal", "day_change_percent", "0.32"),
    ("AccountTotal", "total_gain_loss", "13870.09"),
    ("AccountTotal", "total_gain_loss_percent", "19.74"),
    ("Benefit", "remaining_amount", "37.50"),
    ("Benefit", "total_amount", "50.00"),
    ("Benefit", "used_amount", "12.50"),
    ("BenefitTotals", "annual_fees", "1220.00"),
    ("BenefitTotals", "expiring_amount", "62.50"),
    ("BenefitTotals", "net_value", "-210.00"),
    ("BenefitTotals", "remaining_amount", "450.00"),
    ("BenefitTotals", "total_amount", "690.00"),
    ("BenefitTotals", "used_amount", "240.00"),
    ("BreakdownPart", "amount", "24310.02"),
    ("CardBenefits", "annual_fee", "895.00"),
    ("CardBenefits", "net_value", "-210.00"),
    ("CardBenefits", "remaining_amount", "450.00"),
    ("CardBenefits", "total_amount", "690.00"),
    ("CardBenefits", "used_amount", "240.00"),
    ("CashFlow", "expenses", "4210.55"),
    ("CashFlow", "income", "6120.00"),
    ("CashFlow", "net", "1909.45"),
    ("CashFlow", "savings_rate_percent", "31.2"),
    ("CashFlow", "unclassified", "40.00"),
    ("DailyBalance", "balance_available", "4218.55"),
    ("DailyBalance", "balance_current", "4302.17"),
    ("Excluded", "amount", "250.00"),
    ("ExpiringBenefits", "remaining_amount", "62.50"),
    ("Goal", "current_value", "9120.44"),
    ("Goal", "target_amount", "24000"),
    ("Holding", "average_cost_basis", "232.98"),
    ("Holding", "cost_basis_total", "9814.25"),
    ("Holding", "current_value", "12266.80"),
    ("Holding", "day_change", "51.39"),
    ("Holding", "day_change_percent", "0.42"),
    ("Holding", "last_price", "291.20"),
    ("Holding", "percent_of_account", "14.58"),
    ("Holding", "quantity", "42.125"),
    ("Holding", "total_gain_loss", "2452.55"),
    ("Holding", "total_gain_loss_percent", "24.99"),
    ("Income", "monthly_income", "6120.44"),
    ("Income", "unallocated", "412.10"),
    ("Income", "unclassified", "40.00"),
    ("IncomeBlock", "amount", "2650.00"),
    ("IncomeBlock", "percent", "65.9"),
    ("NetWorthChange", "amount", "1240.10"),
    ("NetWorthChange", "percent", "0.68"),
    ("ExchangeRate", "rate", "1.085"),
    ("NetWorthPoint", "net_worth", "184220.15"),
    ("NetWorthPoint", "total_assets", "240100.40"),
    ("NetWorthPoint", "total_liabilities", "55880.25"),
    ("NextOutflow", "amount", "17.99"),
    ("PaperAccount", "buying_power", "99438.70"),
    ("PaperAccount", "cash_balance", "99438.70"),
    ("PaperAccount", "day_change", "6.30"),
    ("PaperAccount", "day_change_percent", "0.01"),
    ("PaperAccount", "holdings_value", "567.60"),
    ("PaperAccount", "starting_cash_balance", "100000.00"),
    ("PaperAccount", "total_gain_loss", "6.30"),
    ("PaperAccount", "total_gain_loss_percent", "0.01"),
    ("PaperAccount", "total_value", "100006.30"),
    ("PaperActivity", "amount", "0.78"),
    ("PaperActivity", "price", "0.26"),
    ("PaperActivity", "quantity", "3"),
    ("PaperActivity", "reserved_amount", "0.00"),
    ("PaperHolding", "cost_basis", "561.30"),
    ("PaperHolding", "institution_price", "189.2"),
    ("PaperHolding", "institution_value", "567.60"),
    ("PaperHolding", "quantity", "3"),
    ("PaperTrade", "amount", "-561.30"),
    ("PaperTrade", "price", "187.1"),
    ("PaperTrade", "quantity", "3"),
    ("PriceChange", "from_amount", "15.49"),
    ("PriceChange", "to_amount", "17.99"),
    ("SpendingComparison", "change", "-112.30"),
    ("SpendingComparison", "change_percent", "-3.47"),
    ("SpendingGroup", "amount", "640.12"),
    ("SpendingGroup", "change_percent", "8.49"),
    ("SpendingGroup", "percent", "20.51"),
    ("SpendingGroup", "previous_amount", "590.00"),
    ("SpendingTotals", "income", "6120.00"),
    ("SpendingTotals", "spending", "3120.44"),
    ("SpendingTotals", "unclassified", "40.00"),
    ("Split", "amount", "-12.10"),
    ("Stream", "average_amount", "17.99"),
    ("Stream", "last_amount", "17.99"),
    ("Stream", "max_amount", "17.99"),
    ("Stream", "min_amount", "15.49"),
    ("Stream", "monthly_amount", "17.99"),
    ("StreamTotals", "monthly_inflow", "6120.00"),
    ("StreamTotals", "monthly_net", "2639.75"),
    ("StreamTotals", "monthly_outflow", "3480.25"),
    ("Summary", "net_worth", "184220.15"),
    ("Summary", "total_assets", "240100.40"),
    ("Summary", "total_liabilities", "55880.25"),
    ("SummaryGoals", "current_value", "19120.44"),
    ("SummaryGoals", "target_amount", "48000.00"),
    ("SummaryInvestments", "current_value", "128400.00"),
    ("SummaryRecurring", "monthly_inflow", "6120.00"),
    ("SummaryRecurring", "monthly_outflow", "3480.25"),
    ("Transaction", "amount", "-42.10"),
    ("Transaction", "amount_absolute", "42.10"),
    ("TransactionWithLinks", "amount", "-42.10"),
    ("TransactionWithLinks", "amount_absolute", "42.10"),
    ("Variability", "max", "6400.00"),
    ("Variability", "min", "5980.00"),
    ("Variability", "range", "420.00"),
];

/// Adds the examples of decimals to their members.
pub(super) fn add_numbers(schemas: &mut Schemas) {
    for (name, member, text) in NUMBERS {
        let schema = schemas.get_mut(*name);
        let member = schema.and_then(|it| it["properties"].get_mut(*member));
        if let (Some(member), Ok(number)) = (member, serde_json::from_str::<Value>(text)) {
            member["examples"] = json!([number]);
        }
    }
}

/// Nullable members whose example has a value.
const FILLED: &[(&str, &str)] = &[("Action", "details_v1"), ("Approval", "details_v1")];

pub(super) fn add_filled(schemas: &mut Schemas) {
    let whole = schemas.clone();
    for (name, member) in FILLED {
        let member = schemas.get_mut(*name).and_then(|it| it["properties"].get_mut(*member));
        let Some(member) = member else { continue };
        let choices = member["oneOf"].as_array().into_iter().flatten();
        let shape = choices.filter_map(super::reference).next().unwrap_or_default();
        member["examples"] = json!([named(shape, &whole)]);
    }
}

/// A complete successful response of an endpoint.
pub(crate) fn answer(endpoint: &Endpoint, schemas: &Schemas) -> Value {
    let data = named(endpoint.answer.name, schemas);
    let meta = named("Meta", schemas);
    // The example page has one row, and its counts match.
    match endpoint.answer.paging {
        Paging::None => return json!({ "data": data, "meta": meta }),
        Paging::Beside => {
            let (has_more, cursor) = (false, Value::Null);
            return json!({
                "data": [data], "has_more": has_more, "cursor": cursor, "count": 1, "meta": meta,
            });
        }
        Paging::Within | Paging::WithinObject => {}
    }
    let limit = service::platform::cursors::LIMIT_DEFAULT;
    let pagination = match endpoint.path {
        // One item in each of its three lists, and always a cursor to go on from.
        "/transactions/changes" => {
            json!({ "count": 3, "has_more": false, "next_cursor": "0Yn2cK8w", "limit": limit })
        }
        _ => json!({
            "count": 1, "has_more": false, "next_cursor": null, "total_count": 1, "limit": limit,
        }),
    };
    let data = match endpoint.answer.paging {
        Paging::WithinObject => data,
        _ => json!([data]),
    };
    json!({ "data": data, "pagination": pagination, "meta": meta })
}

/// The error body for a code.
pub(crate) fn error(code: Code, public_url: &str) -> Value {
    let (message, param) = example_message(code);
    let mut error = json!({
        "type": format!("{public_url}/docs/errors/{}", code.slug()),
        "code": code.as_str(),
        "message": message,
    });
    if let Some(param) = param {
        error["param"] = json!(param);
    }
    json!({
        "error": error,
        "meta": {
            "request_id": "req_01kny3v1m8f2x9q4t7r5c6b8de",
            "timestamp": "2026-04-10T08:30:00.000Z",
        },
    })
}

/// An example message of a code, and the parameter it names.
fn example_message(code: Code) -> (&'static str, Option<&'static str>) {
    match code {
        Code::ValidationError => ("limit must be a whole number from 1 to 100", Some("limit")),
        Code::Unauthenticated => ("send a token as Authorization: Bearer <token>", None),
        Code::InsufficientScope => ("this token lacks the scope transactions:read", None),
        Code::ApiKeyRequired => {
            ("this takes an API key; an app's token cannot do it, whatever its scopes", None)
        }
        Code::NotFound => ("there is no such account", None),
        Code::ScoresNotReady => ("scores need at least 60 days of history; there are 12", None),
        Code::MethodNotAllowed => ("POST is not allowed here; use GET, HEAD, OPTIONS", None),
        Code::Conflict => ("it was changed by someone else in the meantime", None),
        Code::IdempotencyInProgress => {
            ("a request with this Idempotency-Key is still running", None)
        }
        Code::EndpointLimitReached => ("this key has 5 active endpoints already", None),
        Code::PayloadTooLarge => ("the body must be at most 1 MiB", None),
        Code::UnsupportedMediaType => {
            ("the body must be sent as Content-Type: application/json", None)
        }
        Code::IdempotencyKeyReused => {
            ("this Idempotency-Key was used for a different request", None)
        }
        Code::InsufficientFunds => {
            ("this costs $561.30, but the account has only $120.00 available", None)
        }
        Code::InsufficientShares => {
            ("the account holds only 2 AAPL, less than this order sells", None)
        }
        Code::UnknownSymbol => ("there is no price for AAPLX in this market", None),
        Code::RateLimited => ("too many requests; try again in 23 seconds", None),
        Code::ProposalLimitReached => {
            ("the person allows 100 proposals in 24 hours; try again in 5400 seconds", None)
        }
        Code::Internal => ("something went wrong on our side; it was logged", None),
        Code::Unavailable => ("the service cannot reach its data right now", None),
    }
}

fn named(name: &str, schemas: &Schemas) -> Value {
    schemas.get(name).map_or(Value::Null, |it| of(it, schemas))
}

fn of(schema: &Value, schemas: &Schemas) -> Value {
    let own = schema.get("example").or_else(|| schema.get("examples")?.get(0));
    if let Some(example) = own {
        return example.clone();
    }
    if let Some(name) = super::reference(schema) {
        return named(name, schemas);
    }
    match schema["type"].as_str() {
        Some("array") => json!([of(&schema["items"], schemas)]),
        Some("object") => {
            let members = schema["properties"].as_object().into_iter().flatten();
            let examples = members.map(|(name, member)| (name.clone(), of(member, schemas)));
            Value::Object(examples.collect::<Map<_, _>>())
        }
        Some("boolean") => json!(false),
        // Nullable members without an example are null.
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ENDPOINTS;

    #[test]
    fn an_example_is_null_only_where_the_contract_allows_it() {
        let schemas = super::super::schemas();
        for (name, schema) in &schemas {
            for (member, shape) in schema["properties"].as_object().into_iter().flatten() {
                let null = of(shape, &schemas).is_null();
                assert!(!null || super::super::is_nullable(shape), "{name}.{member}");
            }
        }
    }

    #[test]
    fn every_number_of_the_list_has_found_its_member() {
        let schemas = super::super::schemas();
        for (name, member, _) in NUMBERS {
            assert!(schemas[*name]["properties"][*member]["examples"][0].is_number(), "{member}");
        }
        for (name, member) in FILLED {
            assert!(schemas[*name]["properties"][*member]["examples"][0].is_object(), "{member}");
        }
    }

    #[test]
    fn answers_begin_as_the_api_writes_them() {
        let schemas = super::super::schemas();
        let list = ENDPOINTS.iter().find(|it| it.path == "/transactions").unwrap();
        let text = answer(list, &schemas).to_string();
        assert!(
            text.starts_with("{\"data\":[{\"id\":\"txn_01kny3v1m8f2x9q4t7r5c6b8de\","),
            "{text}"
        );
        assert!(text.contains("\"amount\":-42.1,"), "{text}");
    }
}
