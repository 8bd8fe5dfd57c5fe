//! The JSON of an account set, in the requested version of the protocol.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::{Account, State, Transaction};

const DAY: i64 = 86_400;

/// The parameters of a request for accounts, interpreted as the Bridge does.
pub(super) struct AccountsQuery {
    version_two: bool,
    start: Option<i64>,
    /// Exclusive.
    end: Option<i64>,
    /// Whether the parameter is present: `pending=0` also counts.
    pending: bool,
    accounts: Vec<String>,
    balances_only: bool,
}

impl AccountsQuery {
    pub(super) fn parse(query: &str) -> AccountsQuery {
        let pairs: Vec<(&str, String)> = query
            .split('&')
            .map(|it| it.split_once('=').unwrap_or((it, "")))
            .map(|(name, value)| (name, decode(value)))
            .collect();
        let all = |name: &str| {
            let same = pairs.iter().filter(|(it, _)| *it == name);
            same.map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        let seconds = |name: &str| all(name).first().map(|it| it.parse().unwrap());
        AccountsQuery {
            version_two: all("version").iter().any(|it| it == "2"),
            start: seconds("start-date"),
            end: seconds("end-date"),
            pending: !all("pending").is_empty(),
            accounts: all("account"),
            balances_only: all("balances-only").iter().any(|it| it == "1"),
        }
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

pub(super) struct Render<'a> {
    pub(super) state: &'a State,
    pub(super) query: AccountsQuery,
    pub(super) warning: Option<&'a str>,
}

impl Render<'_> {
    pub(super) fn answer(mut self) -> String {
        let version_two = self.query.version_two && !self.state.behavior.only_version_one;
        let capped = self.cap();
        let accounts: Vec<Value> =
            self.accounts().map(|it| self.account(it, version_two)).collect();
        // The warning is in the format of version 1 even for version 2.
        let mut errors: Vec<String> = self.state.errors.clone();
        errors.extend(self.warning.map(str::to_owned));
        let mut errlist: Vec<Value> = Vec::new();
        if let Some(days) = capped {
            let text = format!("Requested date range exceeds limit of {days} days and was capped.");
            match version_two {
                true => errlist.push(json!({ "code": "gen.api", "message": text })),
                false => errors.push(text),
            }
        }
        for connection in self.state.connections.iter().filter(|it| it.needs_auth) {
            let text = format!("Connection to {} may need attention", connection.institution);
            match version_two {
                true => errlist
                    .push(json!({ "code": "con.auth", "msg": text, "conn_id": connection.id })),
                false => errors.push(text),
            }
        }
        for account in self.accounts().filter(|it| it.is_incomplete) {
            let text = format!("Some transactions of {} are missing", account.name);
            match version_two {
                true => errlist.push(json!({
                    "code": "act.missingdata", "msg": text,
                    "conn_id": account.connection, "account_id": account.id,
                })),
                false => errors.push(text),
            }
        }
        let answer = match version_two {
            true => json!({
                "errlist": errlist, "errors": errors, "connections": self.connections(),
                "accounts": accounts,
            }),
            false => json!({ "errors": errors, "accounts": accounts }),
        };
        answer.to_string()
    }

    /// Caps a date range that is too long to its last days, and returns the limit.
    fn cap(&mut self) -> Option<i64> {
        let max = self.state.behavior.days_max;
        let (start, end) = (self.query.start?, self.query.end?);
        if end - start <= max * DAY {
            return None;
        }
        self.query.start = Some(end - max * DAY);
        Some(max)
    }

    fn accounts(&self) -> impl Iterator<Item = &Account> {
        let asked = &self.query.accounts;
        self.state.accounts.iter().filter(move |it| asked.is_empty() || asked.contains(&it.id))
    }

    fn connections(&self) -> Vec<Value> {
        let one = |it: &super::Connection| {
            json!({
                "conn_id": it.id, "name": format!("{} - login {}", it.institution, it.id),
                "org_id": format!("INST-{}", it.institution.to_lowercase().replace(' ', "-")),
                "org_name": it.institution, "sfin_url": "https://localhost/simplefin",
            })
        };
        self.state.connections.iter().map(one).collect()
    }

    fn institution(&self, connection: &str) -> &str {
        let found = self.state.connections.iter().find(|it| it.id == connection);
        found.map_or("Nobody's Bank", |it| &it.institution)
    }

    fn account(&self, account: &Account, version_two: bool) -> Value {
        let mut fields = Map::new();
        let institution = self.institution(&account.connection);
        match version_two {
            true => fields.insert("conn_id".to_owned(), json!(account.connection)),
            false => fields.insert(
                "org".to_owned(),
                json!({
                    "name": institution, "domain": "bank.example",
                    "id": format!("INST-{}", account.connection),
                    "sfin-url": "https://localhost/simplefin",
                }),
            ),
        };
        fields.insert("id".to_owned(), json!(account.id));
        fields.insert("name".to_owned(), json!(account.name));
        fields.insert("currency".to_owned(), json!(account.currency));
        for (name, amount) in
            [("balance", &account.balance), ("available-balance", &account.available)]
        {
            if let Some(amount) = amount {
                fields.insert(name.to_owned(), self.amount(amount));
            }
        }
        fields.insert("balance-date".to_owned(), self.moment(account.balance_at));
        if !self.query.balances_only {
            let rows = account.transactions.iter().filter(|it| self.is_within(it));
            let rows: Vec<Value> = rows.map(|it| self.transaction(it, version_two)).collect();
            fields.insert("transactions".to_owned(), json!(rows));
        }
        if let Some(holdings) = &account.holdings {
            let holdings: Vec<Value> =
                holdings.iter().map(|it| serde_json::from_str(it).unwrap()).collect();
            fields.insert("holdings".to_owned(), json!(holdings));
        }
        fields.insert("extra".to_owned(), json!({}));
        Value::Object(fields)
    }

    fn is_within(&self, transaction: &Transaction) -> bool {
        if transaction.is_pending() {
            return self.query.pending;
        }
        let posted = transaction.posted.unwrap_or(0);
        self.query.start.is_none_or(|it| posted >= it)
            && self.query.end.is_none_or(|it| posted < it)
    }

    fn transaction(&self, transaction: &Transaction, version_two: bool) -> Value {
        let mut fields = Map::new();
        fields.insert("id".to_owned(), json!(transaction.id));
        for (name, moment) in
            [("posted", transaction.posted), ("transacted_at", transaction.transacted_at)]
        {
            if let Some(moment) = moment {
                fields.insert(name.to_owned(), self.moment(moment));
            }
        }
        if let Some(pending) = transaction.pending {
            fields.insert("pending".to_owned(), json!(pending));
        }
        fields.insert("amount".to_owned(), self.amount(&transaction.amount));
        fields.insert("description".to_owned(), json!(transaction.description));
        for (name, text) in [("payee", &transaction.payee), ("memo", &transaction.memo)] {
            if let Some(text) = text {
                fields.insert(name.to_owned(), json!(text));
            }
        }
        if version_two {
            fields.insert("mcc".to_owned(), json!(transaction.mcc));
        }
        Value::Object(fields)
    }

    /// A string in the protocol.
    fn amount(&self, amount: &str) -> Value {
        match self.state.behavior.swaps_numbers_and_strings {
            true => serde_json::from_str(amount).unwrap_or_else(|_| json!(amount)),
            false => json!(amount),
        }
    }

    /// A number in the protocol.
    fn moment(&self, seconds: i64) -> Value {
        match self.state.behavior.swaps_numbers_and_strings {
            true => json!(seconds.to_string()),
            false => json!(seconds),
        }
    }
}
