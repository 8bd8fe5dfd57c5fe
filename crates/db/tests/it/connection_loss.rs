//! PostgreSQL connections that break, hang, and recover.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use db::{Db, Error, Target, params};
use futures_util::future::Either;
use testkit::{Database, Proxy, postgres_database};

use crate::{NOTES, add};

/// A database behind a proxy that can cut its connections.
struct Remote {
    db: Db,
    proxy: Proxy,
    database: Database,
}

impl Remote {
    /// None when the tests run on SQLite, which has no connections to cut.
    async fn new() -> Option<Remote> {
        let database = postgres_database().await?;
        let (proxy, url) = Proxy::to(database.url()?).await;
        let db = Db::open(&Target::postgres(&url).unwrap()).await.unwrap();
        db.migrate(NOTES).await.unwrap();
        Some(Remote { db, proxy, database })
    }

    async fn ids(&self) -> Result<Vec<i64>, Error> {
        self.db.all("select id from notes order by id", &[], |row| row.get(0)).await
    }

    async fn add(&self, id: i64) -> Result<(), Error> {
        self.db.write(move |tx| add(tx, id)).await
    }

    /// Waits until the server has executed a statement like this, asking it past the proxy.
    async fn until_executed(&self, like: &str) {
        const EXECUTED: &str = "select cast(count(*) as bigint) from pg_stat_activity
            where state = 'idle in transaction' and query like $1 and datname = current_database()";
        let db = Db::open(&self.database.target()).await.unwrap();
        let count =
            async || db.first(EXECUTED, params![like], |row| row.get::<i64>(0)).await.unwrap();
        while count().await == Some(0) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Reads often enough to use every shared connection.
    async fn read_often(&self) {
        for _ in 0..12 {
            self.ids().await.unwrap();
        }
    }
}

fn assert_unavailable<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
}

#[tokio::test]
async fn a_cut_connection_fails_at_once_and_recovers() {
    let Some(remote) = Remote::new().await else { return };
    remote.add(1).await.unwrap();
    remote.read_often().await;
    for _ in 0..2 {
        remote.proxy.cut();
        let trying = async {
            for _ in 0..12 {
                assert_unavailable(remote.ids().await);
                assert_unavailable(remote.add(2).await);
            }
        };
        // Far less time than waiting for the answer timeout each time.
        tokio::time::timeout(Duration::from_secs(60), trying).await.unwrap();
        remote.proxy.restore();
        remote.read_often().await;
    }
    remote.add(2).await.unwrap();
    assert_eq!(remote.ids().await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_connection_cut_inside_a_transaction_rolls_it_back() {
    let Some(remote) = Remote::new().await else { return };
    let (started, begun) = tokio::sync::oneshot::channel();
    let (go, wait) = std::sync::mpsc::channel();
    let writing = remote.db.write(move |tx| {
        add(tx, 1)?;
        started.send(()).unwrap();
        wait.recv().unwrap();
        add(tx, 2)
    });
    let cutting = async {
        begun.await.unwrap();
        remote.proxy.cut();
        go.send(()).unwrap();
    };
    let (written, ()) = tokio::join!(writing, cutting);
    assert_unavailable(written);
    remote.proxy.restore();
    assert_eq!(remote.ids().await.unwrap(), [0; 0]);
    remote.add(1).await.unwrap();
}

/// Advances the paused clock while work runs that the runtime does not know about, on a blocking thread.
async fn with_time_advancing<T>(work: impl Future<Output = T>) -> T {
    let advancing = async {
        loop {
            tokio::time::advance(Duration::from_millis(500)).await;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        done = work => done,
        () = advancing => unreachable!("time does not end"),
    }
}

#[tokio::test]
async fn an_unresponsive_connection_times_out_and_is_not_reused() {
    let Some(remote) = Remote::new().await else { return };
    remote.add(1).await.unwrap();
    remote.read_often().await;
    remote.proxy.silence();
    // From here on, time only passes when something waits for it.
    tokio::time::pause();
    let reads = futures_util::future::join_all((0..12).map(|_| remote.ids()));
    for read in tokio::time::timeout(Duration::from_secs(21), reads).await.unwrap() {
        assert_unavailable(read);
    }
    assert_unavailable(with_time_advancing(remote.add(2)).await);
    assert_unavailable(with_time_advancing(remote.add(2)).await);
    tokio::time::resume();
    // Old connections stay silent, so the next reads must open new ones.
    remote.proxy.restore();
    remote.read_often().await;
    remote.add(2).await.unwrap();
    assert_eq!(remote.ids().await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn opening_a_database_on_an_unreachable_server_fails_as_unavailable() {
    let Some(remote) = Remote::new().await else { return };
    remote.proxy.cut();
    let url = format!("postgres://nobody@127.0.0.1:{}/nothing", remote.proxy.port());
    let opened = Db::open(&Target::postgres(&url).unwrap()).await;
    assert!(matches!(opened, Err(Error::Unavailable(_))));
}

#[tokio::test]
async fn an_invalid_url_is_refused_without_repeating_it() {
    let refused = Target::postgres("postgres://user:hunter2@[nonsense").unwrap_err();
    assert!(!refused.contains("hunter2"), "{refused}");
    let shown = format!("{:?}", Target::postgres("postgres://u:hunter2@localhost/x").unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn a_read_behind_a_silent_server_fails_after_seconds() {
    let Some(remote) = Remote::new().await else { return };
    remote.read_often().await;
    remote.proxy.silence();
    tokio::time::pause();
    assert_unavailable(tokio::time::timeout(Duration::from_secs(6), remote.ids()).await.unwrap());
}

/// After a failover, the old primary only allows reads, and its connections stay open.
#[tokio::test]
async fn a_server_that_became_read_only_is_unavailable_and_its_connection_is_left() {
    let Some(remote) = Remote::new().await else { return };
    const PROCESS: &str = "select cast(pg_backend_pid() as bigint)";
    let process = || remote.db.write(|tx| tx.first(PROCESS, &[], |row| row.get::<i64>(0)));
    let before = process().await.unwrap();
    let refused = remote.db.write(|tx| {
        tx.execute("set transaction read only", &[])?;
        add(tx, 1)
    });
    let error: Error = refused.await.unwrap_err();
    assert!(error.is_read_only_server(), "{error:?}");
    assert_unavailable::<()>(Err(error));
    assert_ne!(process().await.unwrap(), before, "the connection was used again");
    remote.add(1).await.unwrap();
}

/// The same at a pace at which a real server answers meanwhile.
async fn with_time_advancing_slowly<T>(work: impl Future<Output = T>) -> T {
    let advancing = async {
        loop {
            tokio::time::advance(Duration::from_millis(500)).await;
            #[expect(clippy::disallowed_methods, reason = "the server needs real time")]
            let pause = || std::thread::sleep(Duration::from_millis(10));
            tokio::task::spawn_blocking(pause).await.unwrap();
        }
    };
    tokio::select! {
        done = work => done,
        () = advancing => unreachable!("time does not end"),
    }
}

/// The answer of a long statement is lost on the way while everything else works.
#[tokio::test]
async fn a_lost_answer_of_a_long_statement_is_noticed_before_its_time_is_over() {
    let Some(remote) = Remote::new().await else { return };
    let (started, begun) = tokio::sync::oneshot::channel();
    let (go, wait) = std::sync::mpsc::channel();
    let writing = remote.db.write(move |tx| {
        tx.allow_long_statements()?;
        started.send(()).unwrap();
        wait.recv().unwrap();
        tx.first("select id from notes where word = 'lost'", &[], |row| row.get::<i64>(0))
    });
    let losing = async {
        begun.await.unwrap();
        remote.proxy.lose_answers();
        go.send(()).unwrap();
        remote.until_executed("%word = 'lost'").await;
        remote.proxy.restore();
        tokio::time::pause();
    };
    let (writing, losing) = (pin!(writing), pin!(losing));
    let writing = match futures_util::future::select(writing, losing).await {
        Either::Left((written, _)) => panic!("ended before the answer was lost: {written:?}"),
        Either::Right(((), writing)) => writing,
    };
    // Well before the 320 s that a long statement may take. A busy machine may need several tries to ask the server.
    let written = with_time_advancing_slowly(writing);
    let written = tokio::time::timeout(Duration::from_secs(200), written).await;
    assert_unavailable(written.expect("the loss is noticed"));
}

#[tokio::test]
async fn a_long_statement_is_waited_for_while_the_server_works_on_it() {
    let Some(remote) = Remote::new().await else { return };
    let sleeping = remote.db.write(|tx| {
        tx.allow_long_statements()?;
        let sql = "select cast(1 as bigint) from (select pg_sleep(1)) as slept";
        tx.first(sql, &[], |row| row.get::<i64>(0))
    });
    tokio::time::pause();
    assert_eq!(with_time_advancing_slowly(sleeping).await.unwrap(), Some(1));
}
