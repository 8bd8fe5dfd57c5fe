//! The answer to `/accounts`, in both versions. Each part is read by itself, so that one that is broken costs only
//! itself.

use std::collections::{BTreeMap, BTreeSet};

use base::{Currency, MoneyError};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::loose::{self, Loose};
use super::notice::{Matter, Notice, attention_of, cleaned};
use super::positions::Holding;
use super::{Account, AccountSet, Connection, Transaction, Trouble, Unsupported};

/// Sentences beyond this say nothing new.
const REJECTED_MAX: usize = 100;
const LONGEST_ID: usize = 200;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    errors: Loose<'a>,
    #[serde(borrow)]
    errlist: Loose<'a>,
    #[serde(borrow)]
    connections: Loose<'a>,
    #[serde(borrow)]
    accounts: Loose<'a>,
}

#[derive(Deserialize)]
struct RawError<'a> {
    #[serde(borrow)]
    code: Loose<'a>,
    #[serde(borrow)]
    msg: Loose<'a>,
    #[serde(borrow)]
    message: Loose<'a>,
    #[serde(borrow)]
    conn_id: Loose<'a>,
    #[serde(borrow)]
    account_id: Loose<'a>,
}

#[derive(Deserialize)]
struct RawConnection<'a> {
    #[serde(borrow)]
    conn_id: Loose<'a>,
    #[serde(borrow)]
    name: Loose<'a>,
    #[serde(borrow)]
    org_name: Loose<'a>,
}

/// Of version 1: the institution, which stands for the connection.
#[derive(Deserialize)]
struct RawOrg<'a> {
    #[serde(borrow)]
    id: Loose<'a>,
    #[serde(borrow)]
    name: Loose<'a>,
    #[serde(borrow)]
    domain: Loose<'a>,
    #[serde(borrow, rename = "sfin-url")]
    sfin_url: Loose<'a>,
}

#[derive(Deserialize)]
struct RawAccount<'a> {
    #[serde(borrow)]
    id: Loose<'a>,
    #[serde(borrow)]
    conn_id: Loose<'a>,
    #[serde(borrow)]
    conn_name: Loose<'a>,
    #[serde(borrow)]
    org: Loose<'a>,
    #[serde(borrow)]
    name: Loose<'a>,
    #[serde(borrow)]
    currency: Loose<'a>,
    #[serde(borrow)]
    balance: Loose<'a>,
    #[serde(borrow, rename = "available-balance")]
    available: Loose<'a>,
    #[serde(borrow, rename = "balance-date")]
    balance_date: Loose<'a>,
    #[serde(borrow)]
    transactions: Loose<'a>,
    #[serde(borrow)]
    holdings: Loose<'a>,
}

#[derive(Deserialize)]
struct RawTransaction<'a> {
    #[serde(borrow)]
    id: Loose<'a>,
    #[serde(borrow)]
    posted: Loose<'a>,
    #[serde(borrow)]
    transacted_at: Loose<'a>,
    #[serde(borrow)]
    pending: Loose<'a>,
    #[serde(borrow)]
    amount: Loose<'a>,
    #[serde(borrow)]
    currency: Loose<'a>,
    #[serde(borrow)]
    description: Loose<'a>,
    #[serde(borrow)]
    payee: Loose<'a>,
    #[serde(borrow)]
    memo: Loose<'a>,
    #[serde(borrow)]
    mcc: Loose<'a>,
}

/// Reads the body of an answer.
pub fn read(body: &[u8]) -> Result<AccountSet, Trouble> {
    let no_json = |_| Trouble::BadAnswer("it is not the JSON of an account set".to_owned());
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(no_json)?;
    let mut reader = Reader::default();
    reader.read_connections(answer.connections);
    let accounts = loose::list(answer.accounts);
    for raw in accounts.iter().flatten() {
        reader.read_account(raw);
    }
    reader.read_errors(answer.errlist, answer.errors);
    if reader.set.notices.iter().any(|it| it.code.as_deref() == Some("gen.auth")) {
        return Err(Trouble::Revoked);
    }
    match accounts.is_some() || !reader.set.notices.is_empty() {
        true => Ok(reader.set),
        false => Err(Trouble::BadAnswer("it has no list of accounts".to_owned())),
    }
}

#[derive(Default)]
struct Reader {
    set: AccountSet,
    /// Where each connection is in the set.
    places: BTreeMap<String, usize>,
    seen: BTreeSet<String>,
}

impl Reader {
    fn reject(&mut self, sentence: String) {
        if self.set.rejected.len() < REJECTED_MAX {
            self.set.rejected.push(sentence);
        }
    }

    fn read_connections(&mut self, connections: Loose<'_>) {
        for raw in loose::list(connections).into_iter().flatten() {
            let Some(raw) = loose::object::<RawConnection<'_>>(Some(raw)) else { continue };
            let Some(id) = loose::text(raw.conn_id) else { continue };
            let institution = loose::text(raw.org_name);
            let name = loose::text(raw.name).or_else(|| institution.clone());
            self.add_connection(id.clone(), name.unwrap_or(id), institution);
        }
    }

    fn add_connection(&mut self, id: String, name: String, institution: Option<String>) {
        if !self.places.contains_key(&id) {
            self.places.insert(id.clone(), self.set.connections.len());
            self.set.connections.push(Connection { id, name, institution });
        }
    }

    /// The connection of an account and who keeps it.
    fn connection_of(&mut self, raw: &RawAccount<'_>) -> (Option<String>, Option<String>) {
        if let Some(id) = loose::text(raw.conn_id) {
            let name = loose::text(raw.conn_name);
            self.add_connection(id.clone(), name.unwrap_or_else(|| id.clone()), None);
            let known = self.places.get(&id).and_then(|it| self.set.connections.get(*it));
            let name = known.map(|it| it.institution.clone().unwrap_or_else(|| it.name.clone()));
            return (Some(id), name);
        }
        let Some(org) = loose::object::<RawOrg<'_>>(raw.org) else { return (None, None) };
        let domain = loose::text(org.domain);
        let name = loose::text(org.name).or_else(|| domain.clone());
        let id = loose::text(org.id).or(domain).or_else(|| name.clone());
        let id = id.or_else(|| loose::text(org.sfin_url));
        if let Some(id) = &id {
            let shown = name.clone().unwrap_or_else(|| id.clone());
            self.add_connection(id.clone(), shown, name.clone());
        }
        (id, name)
    }

    fn read_account(&mut self, raw: &RawValue) {
        let read = loose::object::<RawAccount<'_>>(Some(raw));
        let Some(raw) = read else {
            return self.reject("An account is left out: it is no JSON object.".to_owned());
        };
        let Some(id) = loose::text(raw.id).filter(|it| it.len() <= LONGEST_ID) else {
            return self.reject("An account is left out: it has no id.".to_owned());
        };
        let name = loose::text(raw.name).map(|it| cleaned(&it)).unwrap_or_else(|| id.clone());
        let (connection, institution) = self.connection_of(&raw);
        let is_grouped = raw.conn_id.is_some();
        let external_id = external_id(&id, connection.as_deref().filter(|_| is_grouped));
        if !self.seen.insert(external_id.clone()) {
            return self.reject(format!("{name}: the account is in the answer twice."));
        }
        let currency = loose::text(raw.currency).unwrap_or_default();
        let Ok(currency) = Currency::parse(&currency.to_ascii_uppercase()) else {
            let reason = no_currency(&currency);
            return self.set.unsupported.push(Unsupported { id, name, reason });
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
            balance_at: loose::moment(raw.balance_date),
            transactions: Vec::new(),
            holdings: None,
        };
        for (value, place, what) in [
            (raw.balance, &mut account.balance, "balance"),
            (raw.available, &mut account.available, "available balance"),
        ] {
            match loose::money(value, currency) {
                Some(Ok(money)) => *place = Some(money),
                Some(Err(error)) => self.reject(wrong(&account.name, what, value, &error)),
                None => {}
            }
        }
        for raw in loose::list(raw.transactions).into_iter().flatten() {
            match transaction(raw, &account) {
                Ok(transaction) => account.transactions.push(transaction),
                Err(sentence) => self.reject(sentence),
            }
        }
        let holdings = loose::list(raw.holdings);
        account.holdings = holdings
            .map(|it| it.into_iter().filter_map(|it| Holding::read(it, currency)).collect());
        self.set.accounts.push(account);
    }

    fn read_errors(&mut self, errlist: Loose<'_>, errors: Loose<'_>) {
        let mut notices: Vec<Notice> = Vec::new();
        for raw in loose::list(errlist).into_iter().flatten() {
            let Some(error) = loose::object::<RawError<'_>>(Some(raw)) else { continue };
            let text = loose::text(error.msg).or_else(|| loose::text(error.message));
            let code = loose::text(error.code).map(|it| cleaned(&it));
            let text = cleaned(&text.unwrap_or_default());
            let matter = Matter::of(code.as_deref(), &text);
            let (connection, account) = (loose::text(error.conn_id), loose::text(error.account_id));
            notices.push(Notice { code, text, connection, account, matter });
        }
        // Version 2 may say the same once more in the words of version 1.
        for text in loose::texts(errors) {
            let text = cleaned(&text);
            if text.is_empty() || notices.iter().any(|it| it.text == text) {
                continue;
            }
            let named = attention_of(&text);
            let connection = self.set.connections.iter().find(|it| {
                named.is_some_and(|name| it.name == name || it.institution.as_deref() == Some(name))
            });
            let connection = connection.map(|it| it.id.clone());
            let matter = Matter::of(None, &text);
            notices.push(Notice { code: None, text, connection, account: None, matter });
        }
        notices.truncate(REJECTED_MAX);
        self.set.notices = notices;
    }
}

/// In version 2 an account's id is promised to be unique within its connection only. Those of the Bridge are unique
/// everywhere, and the same in version 1: with them alone, an account stays the same when its server learns version 2.
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

fn wrong(account: &str, what: &str, value: Loose<'_>, error: &MoneyError) -> String {
    let found = quote(&loose::text(value).unwrap_or_default());
    match error {
        MoneyError::OutOfRange => format!("{account}: the {what} is {found}, which is too large."),
        error => format!("{account}: the {what} is \"{found}\", but it {error}."),
    }
}

/// What a server wrote, short enough for a sentence.
fn quote(text: &str) -> String {
    cleaned(text).chars().take(40).collect()
}

fn transaction(raw: &RawValue, account: &Account) -> Result<Transaction, String> {
    let name = &account.name;
    let raw: RawTransaction<'_> = loose::object(Some(raw))
        .ok_or_else(|| format!("{name}: a transaction is left out, it is no JSON object."))?;
    let id = loose::text(raw.id).filter(|it| it.len() <= LONGEST_ID);
    let id = id.ok_or_else(|| format!("{name}: a transaction is left out, it has no id."))?;
    let what = format!("amount of transaction {}", quote(&id));
    let amount = match loose::money(raw.amount, account.currency) {
        Some(Ok(amount)) => amount,
        Some(Err(error)) => return Err(wrong(name, &what, raw.amount, &error)),
        None => return Err(format!("{name}: the {what} is missing.")),
    };
    if let Some(other) = loose::text(raw.currency)
        && !other.eq_ignore_ascii_case(account.currency.code())
    {
        let (other, own) = (quote(&other), account.currency);
        return Err(format!("{name}: the {what} is in {other}, but the account is in {own}."));
    }
    let (posted_at, transacted_at) = (loose::moment(raw.posted), loose::moment(raw.transacted_at));
    // Not a missing day of booking, but one that is zero, tells what is still pending.
    let is_open = loose::seconds(raw.posted) == Some(0);
    if posted_at.is_none() && transacted_at.is_none() {
        return Err(format!("{name}: transaction {} has no date.", quote(&id)));
    }
    let (payee, memo) = (loose::text(raw.payee), loose::text(raw.memo));
    let description =
        loose::text(raw.description).or_else(|| payee.clone()).or_else(|| memo.clone());
    let mcc =
        loose::text(raw.mcc).filter(|it| it.len() == 4 && it.bytes().all(|it| it.is_ascii_digit()));
    Ok(Transaction {
        id,
        pending: loose::truth(raw.pending) || is_open,
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
