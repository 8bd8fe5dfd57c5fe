//! The fields that each request may have. Plaid refuses others, so a request of ours with a wrong name fails here, too.

use serde_json::Value;

const FIELDS: &[(&str, &[&str])] = &[
    (
        "/link/token/create",
        &[
            "client_name",
            "language",
            "country_codes",
            "user",
            "user.client_user_id",
            "products",
            "additional_consented_products",
            "transactions",
            "transactions.days_requested",
            "hosted_link",
            "hosted_link.completion_redirect_uri",
            "hosted_link.url_lifetime_seconds",
            "webhook",
            "access_token",
            "update",
            "update.account_selection_enabled",
        ],
    ),
    ("/link/token/get", &["link_token"]),
    ("/item/public_token/exchange", &["public_token"]),
    ("/item/remove", &["access_token"]),
    ("/accounts/get", &["access_token"]),
    (
        "/transactions/sync",
        &[
            "access_token",
            "cursor",
            "count",
            "options",
            "options.include_original_description",
            "options.personal_finance_category_version",
        ],
    ),
    ("/investments/holdings/get", &["access_token"]),
    (
        "/investments/transactions/get",
        &["access_token", "start_date", "end_date", "options", "options.count", "options.offset"],
    ),
    ("/liabilities/get", &["access_token"]),
    ("/webhook_verification_key/get", &["key_id"]),
];

/// The first field of a request that Plaid does not know; none if the path itself is unknown.
pub(super) fn unknown(path: &str, body: &Value) -> Option<String> {
    let (_, known) = FIELDS.iter().find(|(it, _)| *it == path)?;
    let object = body.as_object()?;
    object.iter().find_map(|(name, value)| {
        if !known.contains(&name.as_str()) {
            return Some(name.clone());
        }
        let inner = value.as_object()?.keys().map(|it| format!("{name}.{it}"));
        inner.into_iter().find(|it| !known.contains(&it.as_str()))
    })
}
