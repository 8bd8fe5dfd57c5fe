//! Uploaded files that unpack to far more than their size, against the built program.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use base::{Clock, Entropy};
use flate2::{Compress, Compression, FlushCompress};
use service::access::sessions::{self, Method, Visit};
use service::access::users;
use service::ingest::imports::files;
use service::ledger::quotes::{Trading, WhenClosed};
use service::platform::{installation, limits};
use service::{App, Caller, Setup};
use testkit::Market;

use crate::program::{Installation, Running, connect, launch};

/// The unpacked size of the export, which once took 4.7 GiB of memory.
const UNPACKED_MIB: usize = 500;
/// The limit that the tests configure, low so that a debug build reaches it soon.
const LIMIT_MIB: usize = 4;
/// Far below the 4.7 GiB it once took, and far above what a server with that limit takes.
const MEMORY_KIB_MAX: u64 = 600 * 1_024;
const REQUESTS: usize = 6;

const ROW: &str = "{\"id\":\"t\",\"account_id\":\"a\",\"account_name\":\"A\",\"amount\":-1,\
    \"currency\":\"USD\",\"date_posted\":\"2026-03-01\",\"pending\":false,\
    \"original_description\":\"x\"},\n";

/// Deflates without references to earlier content, so that the result can be repeated.
fn deflate(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(content.len() + 1_024);
    let mut compress = Compress::new(Compression::fast(), false);
    compress.compress_vec(content, &mut packed, FlushCompress::Full).unwrap();
    assert_eq!(compress.total_in(), content.len() as u64);
    packed
}

/// An export whose list of transactions is one tiny row, repeated.
fn bomb() -> Vec<u8> {
    let rows = ROW.repeat((1 << 20) / ROW.len());
    let count = UNPACKED_MIB * (1 << 20) / rows.len();
    let last = format!("{}]", ROW.trim_end_matches(",\n"));
    // An empty final block.
    let end = [3, 0];
    let list = |parts: &[Vec<u8>]| [&parts.concat()[..], &end].concat();
    let empty = || list(&[deflate(b"[]")]);
    let transactions =
        list(&[deflate(b"["), deflate(rows.as_bytes()).repeat(count), deflate(last.as_bytes())]);
    let parts = [
        ("accounts.json", empty()),
        ("balances.json", empty()),
        ("transactions.json", transactions),
        ("investments.json", empty()),
    ];
    let (mut out, mut entries) = (Vec::new(), Vec::new());
    for (name, packed) in parts {
        let mut head = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        head.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        // The header claims an unpacked size of one byte.
        head.extend_from_slice(&[1, 0, 0, 0, name.len() as u8, 0, 0, 0]);
        entries.extend_from_slice(b"PK\x01\x02\x14\x00");
        entries.extend_from_slice(&head);
        entries.extend_from_slice(&[0; 10]);
        entries.extend_from_slice(&(out.len() as u32).to_le_bytes());
        entries.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&head);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&packed);
    }
    let starts_at = (out.len() as u32).to_le_bytes();
    out.extend_from_slice(&entries);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0\x04\0\x04\0");
    out.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    out.extend_from_slice(&starts_at);
    out.extend_from_slice(&[0, 0]);
    out
}

/// An app on the server's database, with a signed-in person and their session.
async fn open_app(it: &Installation) -> (App, Caller, String) {
    let key = fs::read_to_string(it.data_dir().join("installation.key")).unwrap();
    let clock = Clock::System;
    let app = App::new(Setup {
        db: it.db().await,
        installation_key: installation::Key::parse(&key).unwrap(),
        clock: clock.clone(),
        entropy: Entropy::System,
        rate_limit: limits::Policy::default(),
        trading: Trading {
            market: std::sync::Arc::new(Market::new(clock)),
            when_closed: WhenClosed::Queue,
            slippage_basis_points: 0,
        },
        approvals_life_seconds: 86_400,
        webhook_client: None,
        bank_client: None,
        rates_url: None,
        bank_providers: Vec::new(),
        disk: None,
        imports: Default::default(),
        backups: None,
        mail: None,
        password_cost: service::access::passwords::HashCost::LOWEST,
        password_sign_in: true,
        single_sign_on: Default::default(),
        tracer: Default::default(),
    });
    let user = users::find_by_email(&app, "robin@example.com").await.unwrap().unwrap();
    let token = sessions::create(&app, &user, Method::Password, Visit::default()).await.unwrap();
    let (_, robin) = sessions::find(&app, &token, None).await.unwrap().unwrap();
    (app, robin, token)
}

fn serve(it: &Installation) -> Running {
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_IMPORTS__UNPACKED_MIB", LIMIT_MIB.to_string());
    let mut server = launch(command, &it.path(""));
    server.wait_until_ready();
    server
}

fn send_get(server: &Running, path: &str, session: &str) -> TcpStream {
    let mut stream = connect(server.fact("web_url"));
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Cookie: evenkeel_session={session}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn read_response(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// The peak memory of a process so far, in KiB.
fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_small_upload_that_unpacks_to_gigabytes_does_not_fill_the_memory() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let (app, robin, session) = open_app(&it).await;
    let bomb = bomb();
    assert!(bomb.len() < 8 << 20, "{}", bomb.len());
    let id = files::stage(&app, &robin, "export.zip", bomb).await.unwrap();
    let server = serve(&it);
    let page = format!("/import/{id}");
    let waiting: Vec<TcpStream> =
        (0..REQUESTS).map(|_| send_get(&server, &page, &session)).collect();
    // Other requests are answered meanwhile.
    assert_eq!(server.get("/healthz", None).0, 200);
    let list = read_response(send_get(&server, "/import", &session));
    assert!(list.contains("export.zip"), "{list}");
    for stream in waiting {
        let response = read_response(stream);
        let expected = ["unpacks to more than 4 MiB", "Other files are being read"];
        assert!(expected.iter().any(|it| response.contains(it)), "{response}");
    }
    let peak = peak_memory(server.pid());
    assert!(peak < MEMORY_KIB_MAX, "{peak} KiB");

    // After a restart, the list still shows why the file cannot be read, and does not read it again.
    server.stop();
    let server = serve(&it);
    let list = read_response(send_get(&server, "/import", &session));
    assert!(list.contains("export.zip") && list.contains("Can't be read"), "{list}");
    assert!(list.contains("unpacks to more than 4 MiB"), "{list}");
    let idle = peak_memory(server.pid());
    assert!(idle < peak || idle < MEMORY_KIB_MAX / 4, "{idle} KiB");
    server.stop();
    println!("peak memory with {REQUESTS} previews: {peak} KiB; a list: {idle} KiB");
}
