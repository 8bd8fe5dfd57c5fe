//! Kills the sender with SIGKILL while it sends, and starts another one, which must deliver the rest.

use std::collections::HashSet;
use std::process::{Child, Command};

use ::webhooks::outbox;
use anyhow::{Context as _, ensure};
use base::{Clock, UserId};

use super::receiver::{Receiver, http_client};
use super::{Sender, while_sending};
use crate::open_with;

const EVENTS: &str = "select cast(count(*) as bigint) from events where user_id = $1";
const WAITING: &str =
    "select cast(count(*) as bigint) from deliveries where user_id = $1 and due_at is not null";

/// `bench send`: a process that commits this many changes and sends webhooks until it is killed.
pub(crate) async fn send(
    database: &str,
    certificate: &str,
    user: &str,
    events: usize,
) -> anyhow::Result<()> {
    let certificate = std::fs::read_to_string(certificate)?;
    let app = open_with(database, Clock::System, Some(http_client(&certificate)?)).await?;
    let sender = Sender::of(&app, UserId::parse(user)?, events).await?;
    while_sending(&app, async {
        sender.changes().await?;
        std::future::pending().await
    })
    .await
}

pub(super) async fn measure(database: &str, events: usize, protocol: &str) -> anyhow::Result<()> {
    let receiver = Receiver::start(protocol)?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), &receiver.certificate)?;
    let app = open_with(database, Clock::System, Some(receiver.http_client()?)).await?;
    let user = Sender::new(&app, &receiver, 1, 0).await?.user;
    let start = |events: usize| {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("send").arg(database).arg(file.path());
        command.args([user.to_string(), events.to_string()]);
        anyhow::Ok(SenderProcess(command.spawn().context("starting a sender")?))
    };
    let sender = start(events)?;
    receiver.wait_for_events(events / 2).await?;
    drop(sender);
    let count = async |sql| {
        let found = app.db.first(sql, db::params![user], |row| row.get::<i64>(0)).await?;
        anyhow::Ok(found.unwrap_or(0))
    };
    let (committed, undelivered) = (count(EVENTS).await?, count(WAITING).await?);
    let began = super::micros();
    let next = start(0)?;
    receiver.wait_for_events(committed as usize).await?;
    let seconds = (super::micros() - began) / 1_000_000;
    drop(next);
    let mut ids = HashSet::new();
    let receipts = receiver.take()?;
    ids.extend(receipts.iter().map(|it| it.event.clone()));
    let mut lost = 0;
    let mut after = None;
    loop {
        let page = outbox::list(&app.db, user, after, 1_000).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        lost += page.iter().filter(|it| !ids.contains(&it.id.to_string())).count();
    }
    println!(
        "  killed with {committed} events committed and {undelivered} of them not settled: all delivered \
         {seconds} s after the next start, {lost} lost, {} twice",
        receipts.len() - ids.len()
    );
    ensure!(lost == 0, "{lost} events were lost");
    Ok(())
}

struct SenderProcess(Child);

impl Drop for SenderProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
