//! Changes the type of an account: its kind, such as a loan, and its subtype, such as a mortgage.

use base::AccountId;
use base::draft::AccountKind;
use db::params;

use crate::ingest::imports;
use crate::ledger::accounts;
use crate::{App, Caller, Error, Result};

const SUBTYPE_LENGTH_MAX: usize = 40;

/// Sets the type of an account at any time. It keeps its value: an account that becomes something owed, or is no longer,
/// gets its balances with the other sign, so that net worth does not change. Its source no longer changes the type, and
/// what it reports later is converted the same way. Everything computed from the type is recomputed.
pub async fn set(
    app: &App,
    caller: &Caller,
    id: AccountId,
    kind: AccountKind,
    subtype: Option<&str>,
) -> Result<()> {
    let subtype = subtype.map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned);
    let is_bad =
        |it: &str| it.chars().count() > SUBTYPE_LENGTH_MAX || it.contains(char::is_control);
    if subtype.as_deref().is_some_and(is_bad) {
        let message = format!("subtype must have at most {SUBTYPE_LENGTH_MAX} characters");
        return Err(Error::invalid("subtype", message));
    }
    accounts::change(app, caller, id, move |tx, change| {
        let (user, account) = (change.user, &change.account);
        // Lists of spending depend on the kind.
        change.take_stamp(tx)?;
        tx.execute(SET_TYPE, params![user, id, kind.as_str(), &subtype, change.now])?;
        if kind.is_debt() != account.kind.is_debt() {
            tx.execute(NEGATE_BALANCE, params![user, id])?;
            tx.execute(NEGATE_BALANCES, params![user, id])?;
            imports::negate_balances(tx, user, id)?;
            // Goals read again what was owed when they began.
            tx.execute(FORGET_GOAL_STARTS, params![user, id])?;
        }
        let shown = subtype.as_deref().unwrap_or(kind.as_str());
        let details = format!("Changed the type of the account {} to {shown}", account.name);
        Ok(("account.type", details))
    })
    .await
}

const SET_TYPE: &str =
    "update accounts set kind = $3, subtype = $4, own_type_at = $5, updated_at = $5
    where user_id = $1 and id = $2";
// What is available means money on one side and credit on the other, so the next report tells it.
const NEGATE_BALANCE: &str = "update accounts set balance_current_minor = -balance_current_minor,
    balance_available_minor = null where user_id = $1 and id = $2";
const NEGATE_BALANCES: &str =
    "update balances set current_minor = -current_minor, available_minor = null
    where user_id = $1 and account_id = $2";
const FORGET_GOAL_STARTS: &str =
    "update goal_accounts set start_minor = null where user_id = $1 and account_id = $2";

pub(crate) const STATEMENTS: &[&str] =
    &[SET_TYPE, NEGATE_BALANCE, NEGATE_BALANCES, FORGET_GOAL_STARTS];
