//! A transaction's talk with PostgreSQL: what needs no answer of its own travels with what comes next, so that a small
//! change takes two turns on the line and not five.

use futures_util::future::{join3, try_join_all};

use tokio_postgres::types::{ToSql, Type};

use crate::Result;
use crate::batch::Column;
use crate::postgres::Connection;

pub(crate) struct Talk<'c> {
    connection: &'c Connection,
    runtime: &'c tokio::runtime::Handle,
    has_begun: bool,
    unsaid: Vec<Unsaid>,
}

/// A statement of which only a failure is of interest.
struct Unsaid {
    sql: String,
    /// What each of its parameters is, row by row.
    columns: Vec<Column>,
}

impl Unsaid {
    fn types(&self) -> Vec<Type> {
        self.columns.iter().map(|it| it.param().1).collect()
    }

    fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.columns.iter().map(|it| it.param().0).collect()
    }
}

impl<'c> Talk<'c> {
    pub(crate) fn new(connection: &'c Connection, runtime: &'c tokio::runtime::Handle) -> Talk<'c> {
        Talk { connection, runtime, has_begun: false, unsaid: Vec::new() }
    }

    pub(crate) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// Says this with the next question, or with the commit. If it fails, that fails.
    pub(crate) fn say_later(&mut self, sql: String, columns: Vec<Column>) {
        self.unsaid.push(Unsaid { sql, columns });
    }

    /// Asks, and waits for the answer. What was to be said before has failed first if it failed.
    pub(crate) fn ask<T>(&mut self, question: impl Future<Output = Result<T>>) -> Result<T> {
        let begins = !std::mem::replace(&mut self.has_begun, true);
        let unsaid = std::mem::take(&mut self.unsaid);
        self.runtime.block_on(self.together(begins, &unsaid, question))
    }

    async fn together<T>(
        &self,
        begins: bool,
        unsaid: &[Unsaid],
        question: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let connection = self.connection;
        // Known to the server first: who waits for that inside would be overtaken by the question.
        let mut statements = Vec::with_capacity(unsaid.len());
        for it in unsaid {
            statements.push(connection.ask(connection.prepare_for(&it.sql, &it.types())).await?);
        }
        let begin = async {
            match begins {
                true => connection.ask(connection.client().batch_execute("begin")).await,
                false => Ok(()),
            }
        };
        let each = unsaid.iter().zip(&statements).map(|(it, statement)| async move {
            connection.ask(connection.client().execute(statement, &it.params())).await
        });
        // The order is that of the line: each is sent when it is first looked at. None can be left unsent while a commit
        // goes out: each was prepared for the very types of its values, so that only the server can refuse it.
        let (begun, said, answer) = join3(begin, try_join_all(each), question).await;
        begun?;
        said?;
        answer
    }

    /// PostgreSQL answers a commit after a failure by rolling back without a word; the failure itself is heard here.
    pub(crate) fn commit(&mut self) -> Result<()> {
        if !self.has_begun && self.unsaid.is_empty() {
            return Ok(());
        }
        let connection = self.connection;
        self.ask(connection.ask(connection.client().batch_execute("commit")))
    }

    /// A rollback that cannot be said happens when the server notices that we are gone.
    pub(crate) fn roll_back(&mut self) {
        self.unsaid.clear();
        if self.has_begun && self.connection.is_usable() {
            let connection = self.connection;
            let _ = self.ask(connection.ask(connection.client().batch_execute("rollback")));
        }
    }
}
