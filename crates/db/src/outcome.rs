//! The outcome of a transaction's closure, as the engines receive it before they commit or roll back.

/// A callback that runs after the commit. It must be short and must not block.
pub(crate) type OnCommit = Box<dyn FnOnce() + Send>;

pub(crate) struct Outcome<T, E> {
    /// An error rolls the transaction back.
    pub(crate) result: Result<T, E>,
    /// Run if the commit succeeds, dropped otherwise.
    pub(crate) on_commit: Vec<OnCommit>,
}
