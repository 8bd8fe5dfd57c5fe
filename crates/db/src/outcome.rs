//! The outcome of a transaction's closure. The engine learns only whether to commit, and the caller takes the result
//! afterwards: so the engine is compiled once and not for each of hundreds of closures.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

/// A callback that runs after the commit. It must be short and must not block.
pub(crate) type OnCommit = Box<dyn FnOnce() + Send>;

pub(crate) struct Outcome {
    /// True to commit the transaction, false to roll it back.
    pub(crate) is_good: bool,
    /// Run if the commit succeeds, dropped otherwise.
    pub(crate) on_commit: Vec<OnCommit>,
}

/// The result of a transaction's closure, which its caller takes after the commit.
pub(crate) struct Pending<T, E>(Arc<Mutex<Option<Result<T, E>>>>);

impl<T, E> Pending<T, E> {
    pub(crate) fn new() -> Pending<T, E> {
        Pending(Arc::new(Mutex::new(None)))
    }

    pub(crate) fn share(&self) -> Pending<T, E> {
        Pending(self.0.clone())
    }

    /// Stores the closure's result; true if it is to be committed.
    pub(crate) fn store(&self, result: Result<T, E>) -> bool {
        let is_good = result.is_ok();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        is_good
    }
}

impl<T, E: From<Error>> Pending<T, E> {
    /// The result, after the engine has committed or rolled back, or failed to.
    pub(crate) fn after(self, ended: Result<()>) -> Result<T, E> {
        let result = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (ended, result) {
            (_, Some(Err(error))) => Err(error),
            (Err(error), _) => Err(E::from(error)),
            (Ok(()), Some(Ok(value))) => Ok(value),
            (Ok(()), None) => Err(E::from(Error::internal("a transaction panicked"))),
        }
    }
}
