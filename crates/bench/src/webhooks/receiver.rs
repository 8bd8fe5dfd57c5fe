//! Starts and controls the receiver process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, ensure};
use net::{Guard, HttpClient, Policy};

pub(super) struct Receiver {
    child: Child,
    pipes: Arc<Mutex<Pipes>>,
    pub(super) protocol: String,
    pub(super) port: u16,
    pub(super) certificate: String,
}

struct Pipes {
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

pub(super) struct Receipt {
    pub(super) event: String,
    pub(super) at: i64,
}

impl Receiver {
    pub(super) fn start(protocol: &str) -> anyhow::Result<Receiver> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["receive", protocol]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("starting the receiver")?;
        let commands = child.stdin.take().context("the receiver has no standard input")?;
        let mut answers =
            BufReader::new(child.stdout.take().context("the receiver has no standard output")?);
        let mut line = String::new();
        answers.read_line(&mut line)?;
        let port = line.trim().parse().context("the receiver names no port")?;
        let mut certificate = String::new();
        while !certificate.contains("END CERTIFICATE") {
            ensure!(answers.read_line(&mut certificate)? > 0, "the receiver shows no certificate");
        }
        let pipes = Arc::new(Mutex::new(Pipes { commands, answers }));
        Ok(Receiver { child, pipes, protocol: protocol.to_owned(), port, certificate })
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn http_client(&self) -> anyhow::Result<HttpClient> {
        http_client(&self.certificate)
    }

    /// Waits until this many different events have arrived since the last `take`.
    pub(super) async fn wait_for_events(&self, count: usize) -> anyhow::Result<()> {
        let pipes = self.pipes.clone();
        let waiting = tokio::task::spawn_blocking(move || {
            let mut pipes = pipes.lock().unwrap_or_else(PoisonError::into_inner);
            writeln!(pipes.commands, "wait {count}")?;
            ensure!(pipes.answers.read_line(&mut String::new())? > 0, "the receiver is gone");
            Ok(())
        });
        waiting.await?
    }

    pub(super) fn take(&self) -> anyhow::Result<Vec<Receipt>> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(pipes.commands, "take")?;
        let (mut receipts, mut line) = (Vec::new(), String::new());
        loop {
            line.clear();
            ensure!(pipes.answers.read_line(&mut line)? > 0, "the receiver is gone");
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, event, at] = words[..] else { return Ok(receipts) };
            receipts.push(Receipt { event: event.to_owned(), at: at.parse()? });
        }
    }
}

/// A client that may reach this machine and trusts only this receiver's certificate.
pub(super) fn http_client(certificate: &str) -> anyhow::Result<HttpClient> {
    let allow = vec![
        "127.0.0.0/8".parse().map_err(anyhow::Error::msg)?,
        "::1".parse().map_err(anyhow::Error::msg)?,
    ];
    let extra_ca = Some(certificate.as_bytes().to_vec());
    Ok(HttpClient::new(Policy { guard: Guard::Public { allow }, extra_ca })?)
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
