//! Objects of Plaid's API as JSON, with every field that Plaid documents as present.

use serde_json::{Value, json};

/// A number as a test wrote it.
fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// An account in US dollars; `kind` is such as `depository/checking`.
pub fn account(id: &str, name: &str, mask: &str, kind: &str, current: &str) -> Value {
    let (kind, subtype) = kind.split_once('/').unwrap();
    json!({
        "account_id": id,
        "balances": {
            "available": null, "current": number(current), "limit": null,
            "iso_currency_code": "USD", "unofficial_currency_code": null,
        },
        "mask": mask, "name": name, "official_name": null, "type": kind, "subtype": subtype,
        "holder_category": "personal",
    })
}

/// A posted transaction in US dollars. A positive amount is money out, as at Plaid.
pub fn transaction(id: &str, account: &str, date: &str, amount: &str, name: &str) -> Value {
    json!({
        "transaction_id": id, "account_id": account, "amount": number(amount),
        "iso_currency_code": "USD", "unofficial_currency_code": null,
        "date": date, "datetime": null, "authorized_date": null, "authorized_datetime": null,
        "name": name, "merchant_name": null, "merchant_entity_id": null,
        "original_description": name, "pending": false, "pending_transaction_id": null,
        "payment_channel": "other", "transaction_code": null, "check_number": null,
        "account_owner": null, "logo_url": null, "website": null,
        "location": {
            "address": null, "city": null, "region": null, "postal_code": null, "country": null,
            "lat": null, "lon": null, "store_number": null,
        },
        "payment_meta": {
            "reference_number": null, "ppd_id": null, "payee": null, "by_order_of": null,
            "payer": null, "payment_method": null, "payment_processor": null, "reason": null,
        },
        "counterparties": [], "personal_finance_category": null,
        "personal_finance_category_icon_url": "https://plaid-category-icons.plaid.com/PFC_OTHER.png",
        "category": null, "category_id": null, "transaction_type": "unresolved",
    })
}

pub fn security(id: &str, symbol: &str, name: &str, kind: &str) -> Value {
    json!({
        "security_id": id, "isin": null, "cusip": null, "sedol": null,
        "institution_security_id": null, "institution_id": null, "proxy_security_id": null,
        "name": name, "ticker_symbol": symbol, "is_cash_equivalent": false, "type": kind,
        "subtype": null, "close_price": null, "close_price_as_of": null, "update_datetime": null,
        "iso_currency_code": "USD", "unofficial_currency_code": null,
        "market_identifier_code": null, "sector": null, "industry": null, "cfi_code": null,
        "option_contract": null, "fixed_income": null,
    })
}

/// The object `liabilities` of `/liabilities/get` for one card: its rates, and when a payment is due.
pub fn card_terms(account: &str) -> Value {
    let rate = |percentage: &str, kind: &str| {
        json!({
            "apr_percentage": number(percentage), "apr_type": kind,
            "balance_subject_to_apr": null, "interest_charge_amount": null,
        })
    };
    let card = json!({
        "account_id": account, "aprs": [rate("27.99", "cash_apr"), rate("21.49", "purchase_apr")],
        "is_overdue": false, "last_payment_amount": null, "last_payment_date": null,
        "last_statement_issue_date": null, "last_statement_balance": null,
        "minimum_payment_amount": 20, "next_payment_due_date": "2026-04-05",
    });
    json!({ "credit": [card], "mortgage": null, "student": null })
}

pub fn holding(account: &str, security: &str, quantity: &str, price: &str, value: &str) -> Value {
    json!({
        "account_id": account, "security_id": security, "institution_price": number(price),
        "institution_price_as_of": null, "institution_price_datetime": null,
        "institution_value": number(value), "cost_basis": null, "quantity": number(quantity),
        "iso_currency_code": "USD", "unofficial_currency_code": null, "vested_quantity": null,
        "vested_value": null, "tax_lots": [],
    })
}

/// An investment transaction; `kind` is such as `buy/buy`, and a positive amount is cash that left.
pub fn investment(
    id: &str,
    (account, security): (&str, Option<&str>),
    date: &str,
    (quantity, amount): (&str, &str),
    kind: &str,
) -> Value {
    let (kind, subtype) = kind.split_once('/').unwrap();
    json!({
        "investment_transaction_id": id, "account_id": account, "security_id": security,
        "date": date, "transaction_datetime": null, "name": format!("{kind} {subtype}"),
        "quantity": number(quantity), "amount": number(amount), "price": 0, "fees": null,
        "type": kind, "subtype": subtype, "iso_currency_code": "USD",
        "unofficial_currency_code": null, "cancel_transaction_id": null,
    })
}
