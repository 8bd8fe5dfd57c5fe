//! MCP: a search against the page of the API with the same rows, and calls that wait for a decision.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{BenchDatabase, Rate, Server, build, median};
use crate::{install, target_folder};

/// The least requests per second of the search, as a part of those of the page.
const RATIO_MIN: f64 = 0.7;
const WAITERS: usize = 1_000;
/// The most memory that as many waiting calls may take.
const WAITERS_MIB_MAX: u64 = 50;
const ROUNDS: usize = 5;

/// Sends the same search as a page of the API or as a tool call.
const SCRIPT: &str = r#"
local key = os.getenv("KEY")
local headers = { Authorization = "Bearer " .. key, ["Content-Type"] = "application/json" }
local call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_transactions",' ..
  '"arguments":{"limit":25}}}'
local page = wrk.format("GET", "/v1/transactions?limit=25", headers)
local search = wrk.format("POST", "/mcp", headers, call)
local chosen = os.getenv("KIND") == "page" and page or search
request = function() return chosen end
"#;

pub(crate) fn measure() -> Result<()> {
    if install::on_path("wrk").is_none() {
        install::wrk()?;
    }
    build()?;
    let folder = target_folder()?.join("bench");
    fs::create_dir_all(&folder)?;
    let script = folder.join("mcp.lua");
    fs::write(&script, SCRIPT)?;
    let file = folder.join("small.db").display().to_string();
    let database = BenchDatabase::new(&folder, "small", file);
    database.fill(10_000, 1)?;
    let keys = fs::read_to_string(database.file("keys"))?;
    let key = keys.split_whitespace().next().context("the database has no key")?;
    let server = Server::start(&database.database)?;
    let (mut pages, mut searches) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        pages.push(server.load_with(&script, &[("KEY", key), ("KIND", "page")])?);
        searches.push(server.load_with(&script, &[("KEY", key), ("KIND", "search")])?);
    }
    let (page, search) = (median(pages), median(searches));
    for (what, rate) in [("page of 25", page), ("search of 25", search)] {
        let Rate { per_second, cpu_micros } = rate;
        println!("  {what:<16} {per_second:>8.0} per second, {cpu_micros:>5.0} us of CPU each");
    }
    let ratio = search.per_second / page.per_second;
    println!("  ratio {ratio:.3}, at least {RATIO_MIN}");
    wait_together(&server, key)?;
    ensure!(ratio >= RATIO_MIN, "a search over MCP is too slow");
    Ok(())
}

/// Lets many calls wait for one decision. They must take little memory, no thread, and not delay others.
#[expect(clippy::disallowed_methods, reason = "the calls wait in another process")]
fn wait_together(server: &Server, key: &str) -> Result<()> {
    let proposed = call(server, key, "propose_custom", &json!({ "title": "Wait for me" }))?;
    let id = &proposed["result"]["structuredContent"]["action"]["action_id"];
    ensure!(id.is_string(), "nothing was proposed: {proposed}");
    let (before, threads_before) = (server.memory_mib()?, server.status("Threads:")?);
    let mut waiting = Vec::with_capacity(WAITERS);
    for _ in 0..WAITERS {
        waiting.push(send(server, key, "get_action", &json!({ "action_id": id, "wait": 30 }))?);
    }
    std::thread::sleep(Duration::from_secs(5));
    let (during, threads) = (server.memory_mib()?, server.status("Threads:")?);
    let began = Instant::now();
    call(server, key, "list_goals", &json!({}))?;
    let delay = began.elapsed();
    println!("  {WAITERS} waiting calls take {} MiB, {threads} threads", during - before);
    println!("  another call meanwhile takes {:.1} ms", delay.as_secs_f64() * 1_000.0);
    let stream = waiting.pop().context("no call waits")?;
    let answer = read(stream)?;
    let status = &answer["result"]["structuredContent"]["action"]["status"];
    ensure!(status == "pending_approval", "a waiting call was refused: {answer}");
    ensure!(during - before <= WAITERS_MIB_MAX, "waiting calls take too much memory");
    ensure!(threads <= threads_before + 2, "waiting calls take threads");
    Ok(())
}

fn call(server: &Server, key: &str, tool: &str, arguments: &Value) -> Result<Value> {
    read(send(server, key, tool, arguments)?)
}

fn send(server: &Server, key: &str, tool: &str, arguments: &Value) -> Result<TcpStream> {
    let params = json!({ "name": tool, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let message = message.to_string();
    let mut stream = TcpStream::connect(&server.address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let (host, length) = (&server.address, message.len());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all((head + &message).as_bytes())?;
    Ok(stream)
}

fn read(mut stream: TcpStream) -> Result<Value> {
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let (_, body) = response.split_once("\r\n\r\n").context("the response has no body")?;
    serde_json::from_str(body).with_context(|| format!("the response is not JSON: {response}"))
}
