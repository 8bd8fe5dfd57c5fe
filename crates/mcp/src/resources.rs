//! Resources: records that a person can attach to a conversation.

use base::TransactionId;
use serde_json::json;
use service::ledger::accounts::{self, Filter, Status};
use service::ledger::transactions;
use service::{App, Caller, Result};
use wire::v1::{self, Scope};

const ACCOUNTS: &str = "evenkeel://accounts";
const TRANSACTION: &str = "evenkeel://transactions/";

/// The resources that a caller may read, as a JSON list.
pub(crate) fn list(caller: &Caller) -> String {
    if caller.require(Scope::AccountsRead).is_err() {
        return "[]".to_owned();
    }
    let resources = json!([{
        "uri": ACCOUNTS,
        "name": "accounts",
        "title": "Accounts",
        "description": "The open accounts with their balances.",
        "mimeType": "application/json",
    }]);
    resources.to_string()
}

/// The patterns of resources that a caller may read, as a JSON list.
pub(crate) fn templates(caller: &Caller) -> String {
    if caller.require(Scope::TransactionsRead).is_err() {
        return "[]".to_owned();
    }
    let templates = json!([{
        "uriTemplate": format!("{TRANSACTION}{{id}}"),
        "name": "transaction",
        "title": "Transaction",
        "description": "One transaction by its id.",
        "mimeType": "application/json",
    }]);
    templates.to_string()
}

/// The JSON of a resource; `None` if no resource has this address.
pub(crate) async fn read(app: &App, caller: &Caller, uri: &str) -> Result<Option<String>> {
    if uri == ACCOUNTS {
        let filter = Filter { status: Status::Open, include_hidden: false };
        let found = accounts::list(app, caller, filter).await?;
        let shown = v1::Accounts { accounts: found.iter().map(v1::Account::from).collect() };
        let json = serde_json::to_string(&shown);
        return json.map(Some).map_err(|error| service::Error::internal(error.to_string()));
    }
    let Some(id) = uri.strip_prefix(TRANSACTION) else { return Ok(None) };
    let Ok(id) = TransactionId::parse(id) else { return Ok(None) };
    let mut json = Vec::with_capacity(600);
    transactions::get(app, caller, id, |row| row.write(&mut json)).await?;
    Ok(Some(String::from_utf8_lossy(&json).into_owned()))
}
