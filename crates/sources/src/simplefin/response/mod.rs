//! Parses the response to `/accounts` in both versions. Each part is parsed by itself, so that a broken one does not
//! affect the others.

use std::collections::{BTreeMap, BTreeSet};

use base::{Currency, MoneyError};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::lenient::{self, RawField};
use super::notice::{Notice, NoticeKind, attention_of, cleaned};
use super::positions::Holding;
use super::{Account, AccountSet, Connection, SimplefinError, Transaction, UnsupportedAccount};

/// Further sentences are dropped.
const REJECTED_MAX: usize = 100;
const LONGEST_ID: usize = 200;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    errors: RawField<'a>,
    #[serde(borrow)]
    errlist: RawField<'a>,
    #[serde(borrow)]
    connections: RawField<'a>,
    #[serde(borrow)]
    accounts: RawField<'a>,
}

#[derive(Deserialize)]
struct RawError<'a> {
    #[serde(borrow)]
    code: RawField<'a>,
    #[serde(borrow)]
    msg: RawField<'a>,
    #[serde(borrow)]
    message: RawField<'a>,
    #[serde(borrow)]
    conn_id: RawField<'a>,
    #[serde(borrow)]
    account_id: RawField<'a>,
}

#[derive(Deserialize)]
struct RawConnection<'a> {
    #[serde(borrow)]
    conn_id: RawField<'a>,
    #[serde(borrow)]
    name: RawField<'a>,
    #[serde(borrow)]
    org_name: RawField<'a>,
}

/// Version 1: the institution, which stands for the connection.
#[derive(Deserialize)]
struct RawOrg<'a> {
    #[serde(borrow)]
    id: RawField<'a>,
    #[serde(borrow)]
    name: RawField<'a>,
    #[serde(borrow)]
    domain: RawField<'a>,
    #[serde(borrow, rename = "sfin-url")]
    sfin_url: RawField<'a>,
}

#[derive(Deserialize)]
struct RawAccount<'a> {
    #[serde(borrow)]
    id: RawField<'a>,
    #[serde(borrow)]
    conn_id: RawField<'a>,
    #[serde(borrow)]
    conn_name: RawField<'a>,
    #[serde(borrow)]
    org: RawField<'a>,
    #[serde(borrow)]
    name: RawField<'a>,
    #[serde(borrow)]
    currency: RawField<'a>,
    #[serde(borrow)]
    balance: RawField<'a>,
    #[serde(borrow, rename = "available-balance")]
    available: RawField<'a>,
    #[serde(borrow, rename = "balance-date")]
    balance_date: RawField<'a>,
    #[serde(borrow)]
    transactions: RawField<'a>,
    #[serde(borrow)]
    holdings: RawField<'a>,
}

#[derive(Deserialize)]
struct RawTransaction<'a> {
    #[serde(borrow)]
    id: RawField<'a>,
    #[serde(borrow)]
    posted: RawField<'a>,
    #[serde(borrow)]
    transacted_at: RawField<'a>,
    #[serde(borrow)]
    pending: RawField<'a>,
    #[serde(borrow)]
    amount: RawField<'a>,
    #[serde(borrow)]
    currency: RawField<'a>,
    #[serde(borrow)]
    description: RawField<'a>,
    #[serde(borrow)]
    payee: RawField<'a>,
    #[serde(borrow)]
    memo: RawField<'a>,
    #[serde(borrow)]
    mcc: RawField<'a>,
}

/// Parses the body of a response.
pub fn read(body: &[u8]) -> Result<AccountSet, SimplefinError> {
    let no_json =
        |_| SimplefinError::InvalidResponse("it is not the JSON of an account set".to_owned());
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(no_json)?;
    let mut reader = Reader::default();
    reader.read_connections(answer.connections);
    let accounts = lenient::list(answer.accounts);
    for raw in accounts.iter().flatten() {
        reader.read_account(raw);
    }
    reader.read_errors(answer.errlist, answer.errors);
    if reader.set.notices.iter().any(|it| it.code.as_deref() == Some("gen.auth")) {
        return Err(SimplefinError::Revoked);
    }
    match accounts.is_some() || !reader.set.notices.is_empty() {
        true => Ok(reader.set),
        false => Err(SimplefinError::InvalidResponse("it has no list of accounts".to_owned())),
    }
}

#[derive(Default)]
struct Reader {
    set: AccountSet,
    /// The index of each connection in the set.
    connection_indexes: BTreeMap<String, usize>,
    seen: BTreeSet<String>,
}

impl Reader {
    fn reject(&mut self, sentence: String) {
        if self.set.rejected.len() < REJECTED_MAX {
            self.set.rejected.push(sentence);
        }
    }

    fn read_connections(&mut self, connections: RawField<'_>) {
        for raw in lenient::list(connections).into_iter().flatten() {
            let Some(raw) = lenient::object::<RawConnection<'_>>(Some(raw)) else { continue };
            let Some(id) = lenient::text(raw.conn_id) else { continue };
            let institution = lenient::text(raw.org_name);
            let name = lenient::text(raw.name).or_else(|| institution.clone());
            self.add_connection(id.clone(), name.unwrap_or(id), institution);
        }
    }

    fn add_connection(&mut self, id: String, name: String, institution: Option<String>) {
        if !self.connection_indexes.contains_key(&id) {
            self.connection_indexes.insert(id.clone(), self.set.connections.len());
            self.set.connections.push(Connection { id, name, institution });
        }
    }

    /// The connection of an account, and its institution's name.
    fn connection_of(&mut self, raw: &RawAccount<'_>) -> (Option<String>, Option<String>) {
        if let Some(id) = lenient::text(raw.conn_id) {
            let name = lenient::text(raw.conn_name);
            self.add_connection(id.clone(), name.unwrap_or_else(|| id.clone()), None);
            let known =
                self.connection_indexes.get(&id).and_then(|it| self.set.connections.get(*it));
            let name = known.map(|it| it.institution.clone().unwrap_or_else(|| it.name.clone()));
            return (Some(id), name);
        }
        let Some(org) = lenient::object::<RawOrg<'_>>(raw.org) else { return (None, None) };
        let domain = lenient::text(org.domain);
        let name = lenient::text(org.name).or_else(|| domain.clone());
        let id = lenient::text(org.id).or(domain).or_else(|| name.clone());
        let id = id.or_else(|| lenient::text(org.sfin_url));
        if let Some(id) = &id {
            let shown = name.clone().unwrap_or_else(|| id.clone());
            self.add_connection(id.clone(), shown, name.clone());
        }
        (id, name)
    }

    fn read_account(&mut self, raw: &RawValue) {
        let read = lenient::object::<RawAccount<'_>>(Some(raw));
        let Some(raw) = read else {
            return self.reject("An account is left out: it is no JSON object.".to_owned());
        };
        let Some(id) = lenient::text(raw.id).filter(|it| it.len() <= LONGEST_ID) else {
            return self.reject("An account is left out: it has no id.".to_owned());
        };
        let name = lenient::text(raw.name).map(|it| cleaned(&it)).unwrap_or_else(|| id.clone());
        let (connection, institution) = self.connection_of(&raw);
        let is_grouped = raw.conn_id.is_some();
        let external_id = external_id(&id, connection.as_deref().filter(|_| is_grouped));
        if !self.seen.insert(external_id.clone()) {
            return self.reject(format!("{name}: the account is in the answer twice."));
        }
        let currency = lenient::text(raw.currency).unwrap_or_default();
        let Ok(currency) = Currency::parse(&currency.to_ascii_uppercase()) else {
            let reason = no_currency(&currency);
            return self.set.unsupported.push(UnsupportedAccount { id, name, reason });
        };
        let mut account = Account {
            id,
            external_id,
            connection,
            name,
            institution: institution.map(|it| cleaned(&it)),
            currency,
            balance: None,
            available: None,
            balance_at: lenient::moment(raw.balance_date),
            transactions: Vec::new(),
            holdings: None,
        };
        for (value, target, field) in [
            (raw.balance, &mut account.balance, "balance"),
            (raw.available, &mut account.available, "available balance"),
        ] {
            match lenient::money(value, currency) {
                Some(Ok(money)) => *target = Some(money),
                Some(Err(error)) => self.reject(wrong(&account.name, field, value, &error)),
                None => {}
            }
        }
        for raw in lenient::list(raw.transactions).into_iter().flatten() {
            match transaction(raw, &account) {
                Ok(transaction) => account.transactions.push(transaction),
                Err(sentence) => self.reject(sentence),
            }
        }
        let holdings = lenient::list(raw.holdings);
        account.holdings = holdings
            .map(|it| it.into_iter().filter_map(|it| Holding::read(it, currency)).collect());
        self.set.accounts.push(account);
    }

    fn read_errors(&mut self, errlist: RawField<'_>, errors: RawField<'_>) {
        let mut notices: Vec<Notice> = Vec::new();
        for raw in lenient::list(errlist).into_iter().flatten() {
            let Some(error) = lenient::object::<RawError<'_>>(Some(raw)) else { continue };
            let text = lenient::text(error.msg).or_else(|| lenient::text(error.message));
            let code = lenient::text(error.code).map(|it| cleaned(&it));
            let text = cleaned(&text.unwrap_or_default());
            let kind = NoticeKind::of(code.as_deref(), &text);
            let (connection, account) =
                (lenient::text(error.conn_id), lenient::text(error.account_id));
            notices.push(Notice { code, text, connection, account, kind });
        }
        // Version 2 may repeat a notice in the form of version 1.
        for text in lenient::texts(errors) {
            let text = cleaned(&text);
            if text.is_empty() || notices.iter().any(|it| it.text == text) {
                continue;
            }
            let named = attention_of(&text);
            let connection = self.set.connections.iter().find(|it| {
                named.is_some_and(|name| it.name == name || it.institution.as_deref() == Some(name))
            });
            let connection = connection.map(|it| it.id.clone());
            let kind = NoticeKind::of(None, &text);
            notices.push(Notice { code: None, text, connection, account: None, kind });
        }
        notices.truncate(REJECTED_MAX);
        self.set.notices = notices;
    }
}

/// The unique id of an account. Version 2 only guarantees ids to be unique within a connection. Those of the Bridge
/// are unique everywhere and the same in version 1, so they are used alone: the account keeps its id when its server
/// adopts version 2.
fn external_id(id: &str, connection: Option<&str>) -> String {
    match connection {
        Some(connection) if !id.starts_with("ACT-") => format!("{connection}/{id}"),
        _ => id.to_owned(),
    }
}

fn no_currency(currency: &str) -> String {
    match currency {
        "" => "The account has no currency.".to_owned(),
        it if it.contains("://") => {
            "The account counts in units of its own, such as points or miles, and not in a \
             currency. It cannot be added."
                .to_owned()
        }
        it => format!("The account is in \"{}\", which is no currency of ISO 4217.", quote(it)),
    }
}

fn wrong(account: &str, field: &str, value: RawField<'_>, error: &MoneyError) -> String {
    let found = quote(&lenient::text(value).unwrap_or_default());
    match error {
        MoneyError::OutOfRange => format!("{account}: the {field} is {found}, which is too large."),
        error => format!("{account}: the {field} is \"{found}\", but it {error}."),
    }
}

/// The server's text, cut to fit in a sentence.
fn quote(text: &str) -> String {
    cleaned(text).chars().take(40).collect()
}

fn transaction(raw: &RawValue, account: &Account) -> Result<Transaction, String> {
    let name = &account.name;
    let raw: RawTransaction<'_> = lenient::object(Some(raw))
        .ok_or_else(|| format!("{name}: a transaction is left out, it is no JSON object."))?;
    let id = lenient::text(raw.id).filter(|it| it.len() <= LONGEST_ID);
    let id = id.ok_or_else(|| format!("{name}: a transaction is left out, it has no id."))?;
    let field = format!("amount of transaction {}", quote(&id));
    let amount = match lenient::money(raw.amount, account.currency) {
        Some(Ok(amount)) => amount,
        Some(Err(error)) => return Err(wrong(name, &field, raw.amount, &error)),
        None => return Err(format!("{name}: the {field} is missing.")),
    };
    if let Some(other) = lenient::text(raw.currency)
        && !other.eq_ignore_ascii_case(account.currency.code())
    {
        let (other, own) = (quote(&other), account.currency);
        return Err(format!("{name}: the {field} is in {other}, but the account is in {own}."));
    }
    let (posted_at, transacted_at) =
        (lenient::moment(raw.posted), lenient::moment(raw.transacted_at));
    // A posting date of zero, not a missing one, marks a pending transaction.
    let is_open = lenient::seconds(raw.posted) == Some(0);
    if posted_at.is_none() && transacted_at.is_none() {
        return Err(format!("{name}: transaction {} has no date.", quote(&id)));
    }
    let (payee, memo) = (lenient::text(raw.payee), lenient::text(raw.memo));
    let description =
        lenient::text(raw.description).or_else(|| payee.clone()).or_else(|| memo.clone());
    let mcc = lenient::text(raw.mcc)
        .filter(|it| it.len() == 4 && it.bytes().all(|it| it.is_ascii_digit()));
    Ok(Transaction {
        id,
        pending: lenient::boolean(raw.pending) || is_open,
        posted_at,
        transacted_at,
        amount,
        description: description.unwrap_or_default(),
        payee,
        memo,
        mcc,
    })
}

#[cfg(test)]
mod tests;
