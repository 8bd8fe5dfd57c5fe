//! The closure of a transaction without its result.

use crate::error::{Error, Result};
use crate::outcome::Pending;
use crate::tx::Tx;

/// The closure of a transaction, which stores its result; true if it is to be committed.
pub(crate) type Work = Box<dyn FnOnce(&mut Tx<'_>) -> bool + Send>;

/// Separates a closure from its result. A statement error that the closure ignored still fails the transaction.
pub(crate) fn separate<T, E>(
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
) -> (Work, Pending<T, E>)
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    let pending = Pending::new();
    let stored = pending.share();
    let work = move |tx: &mut Tx<'_>| {
        let result = work(tx);
        let result = result.and_then(|it| tx.failure().map_or(Ok(it), |error| Err(E::from(error))));
        stored.store(result)
    };
    (Box::new(work), pending)
}
