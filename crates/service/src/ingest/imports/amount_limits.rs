//! Rejects amounts too large to be real, so that sums of them cannot overflow.

use base::draft::AccountDraft;

use super::request::ImportRequest;
use crate::{Error, Result};

/// A trillion units of a currency with cents. Ninety thousand such amounts still add up in 64 bits.
const MINOR_MAX: u64 = 100_000_000_000_000;

pub(super) fn check(request: &ImportRequest) -> Result<()> {
    for account in request.accounts.iter().map(|it| &it.draft) {
        let too_large = |param: &str| {
            let message =
                format!("{param} is too large to be valid on the account {}.", account.name);
            Err(Error::invalid(param, message))
        };
        if account.transactions.iter().any(|it| is_too_large(it.amount.minor())) {
            return too_large("amount");
        }
        if balances(account).any(is_too_large) {
            return too_large("balance");
        }
        let holdings = account.holdings.iter().flatten();
        if holdings
            .flat_map(|it| [it.cost_basis_minor, it.institution_value_minor])
            .flatten()
            .any(is_too_large)
        {
            return too_large("holdings");
        }
    }
    Ok(())
}

fn balances(account: &AccountDraft) -> impl Iterator<Item = i64> {
    let present = account.balance.iter();
    let present = present
        .flat_map(|it| [Some(it.current_minor), it.available_minor, it.limit_minor])
        .flatten();
    present.chain(account.past_balances.iter().map(|it| it.current_minor))
}

fn is_too_large(minor: i64) -> bool {
    minor.unsigned_abs() > MINOR_MAX
}
