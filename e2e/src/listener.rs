//! `evenkeel listen` for a running program, and a developer's server to which it forwards.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use crate::{Program, until};

pub struct Listener {
    child: Child,
    output: std::path::PathBuf,
    pub url: String,
}

impl Listener {
    /// Starts `listen` on the data of the program, with additional arguments.
    pub fn start(program: &Program, address: &str, more: &[&str]) -> Listener {
        let output = program.data_dir().join("listen.txt");
        let mut command = program.other_command("listen");
        command.args(["--listen", address]).args(more);
        let file = File::create(&output).expect("a log");
        command.stdout(file.try_clone().expect("a log")).stderr(file).stdin(Stdio::null());
        let child = command.spawn().expect("the listener starts");
        let mut listener = Listener { child, output, url: String::new() };
        listener.url = until("it listens", || {
            let output_text = listener.output();
            let (_, rest) = output_text.split_once("Listening on ")?;
            Some(rest.split_once(". ")?.0.to_owned())
        });
        listener
    }

    /// Its output so far.
    pub fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap_or_default()
    }

    /// Waits for an output line that contains all of these words.
    #[track_caller]
    pub fn wait_for_line(&self, words: &[&str]) -> String {
        until(&format!("the output has a line with {words:?}: {}", self.output()), || {
            let output_text = self.output();
            let line = output_text.lines().find(|line| words.iter().all(|it| line.contains(it)));
            line.map(str::to_owned)
        })
    }

    pub fn address(&self) -> String {
        self.url
            .trim_start_matches("https://")
            .trim_end_matches('/')
            .replace("localhost", "127.0.0.1")
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server that a developer writes. It responds with the status that a test sets.
pub struct DeveloperServer {
    pub url: String,
    status: Arc<AtomicU16>,
}

impl DeveloperServer {
    pub fn start() -> DeveloperServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let status = Arc::new(AtomicU16::new(200));
        let shared_status = status.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared_status = shared_status.clone();
                std::thread::spawn(move || answer_all(stream, &shared_status));
            }
        });
        DeveloperServer { url: format!("http://127.0.0.1:{port}/hooks"), status }
    }

    pub fn respond_with(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }
}

fn answer_all(stream: TcpStream, status: &AtomicU16) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim().is_empty() => break,
                Ok(_) => {}
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let response_body = "seen by the program";
        let status = status.load(Ordering::SeqCst);
        let answer = format!(
            "HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n\r\n{response_body}",
            response_body.len()
        );
        if reader.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
