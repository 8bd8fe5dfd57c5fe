//! A PostgreSQL that goes away and comes back.

use std::future::Future;
use std::time::Duration;

use db::{Db, Error, Target};
use testkit::{Database, Proxy, postgres_database};

use crate::{NOTES, add};

/// A database behind a wire that can be cut.
struct Remote {
    db: Db,
    proxy: Proxy,
    _database: Database,
}

impl Remote {
    /// None when the tests run on SQLite, which has no wire.
    async fn new() -> Option<Remote> {
        let database = postgres_database().await?;
        let (proxy, url) = Proxy::to(database.url()?).await;
        let db = Db::open(&Target::postgres(&url).unwrap()).await.unwrap();
        db.migrate(NOTES).await.unwrap();
        Some(Remote { db, proxy, _database: database })
    }

    async fn ids(&self) -> Result<Vec<i64>, Error> {
        self.db.all("select id from notes order by id", &[], |row| row.get(0)).await
    }

    async fn add(&self, id: i64) -> Result<(), Error> {
        self.db.write(move |tx| add(tx, id)).await
    }

    /// Uses every connection that reads share.
    async fn read_often(&self) {
        for _ in 0..12 {
            self.ids().await.unwrap();
        }
    }
}

fn is_unavailable<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
}

#[tokio::test]
async fn a_cut_line_is_told_at_once_and_mends_by_itself() {
    let Some(remote) = Remote::new().await else { return };
    remote.add(1).await.unwrap();
    remote.read_often().await;
    for _ in 0..2 {
        remote.proxy.cut();
        let trying = async {
            for _ in 0..12 {
                is_unavailable(remote.ids().await);
                is_unavailable(remote.add(2).await);
            }
        };
        // Far less than waiting for an answer each time would take.
        tokio::time::timeout(Duration::from_secs(60), trying).await.unwrap();
        remote.proxy.mend();
        remote.read_often().await;
    }
    remote.add(2).await.unwrap();
    assert_eq!(remote.ids().await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_line_cut_inside_a_transaction_keeps_nothing_of_it() {
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
    is_unavailable(written);
    remote.proxy.mend();
    assert_eq!(remote.ids().await.unwrap(), [0; 0]);
    remote.add(1).await.unwrap();
}

/// Lets time fly while something is awaited that the clock of the runtime does not know to wait for.
async fn hurried<T>(work: impl Future<Output = T>) -> T {
    let flying = async {
        loop {
            tokio::time::advance(Duration::from_millis(500)).await;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        done = work => done,
        () = flying => unreachable!("time does not end"),
    }
}

#[tokio::test]
async fn a_silent_line_is_given_up_after_a_while_and_not_used_again() {
    let Some(remote) = Remote::new().await else { return };
    remote.add(1).await.unwrap();
    remote.read_often().await;
    remote.proxy.silence();
    // From here on time passes only where somebody waits for it.
    tokio::time::pause();
    let reads = futures_util::future::join_all((0..12).map(|_| remote.ids()));
    for read in tokio::time::timeout(Duration::from_secs(21), reads).await.unwrap() {
        is_unavailable(read);
    }
    is_unavailable(hurried(remote.add(2)).await);
    is_unavailable(hurried(remote.add(2)).await);
    tokio::time::resume();
    // What was silent stays so; the next ones must take new connections.
    remote.proxy.mend();
    remote.read_often().await;
    remote.add(2).await.unwrap();
    assert_eq!(remote.ids().await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable_from_the_start() {
    let Some(remote) = Remote::new().await else { return };
    remote.proxy.cut();
    let url = format!("postgres://nobody@127.0.0.1:{}/nothing", remote.proxy.port());
    let opened = Db::open(&Target::postgres(&url).unwrap()).await;
    assert!(matches!(opened, Err(Error::Unavailable(_))));
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_repeating_it() {
    let refused = Target::postgres("postgres://user:hunter2@[nonsense").unwrap_err();
    assert!(!refused.contains("hunter2"), "{refused}");
    let shown = format!("{:?}", Target::postgres("postgres://u:hunter2@localhost/x").unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}
