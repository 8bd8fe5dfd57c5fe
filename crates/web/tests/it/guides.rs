//! The guides: every `curl` command on them is run, and must respond as the page says.

use http::{Method, StatusCode};
use testkit::World;
use testkit::draft::{checking, statement, txn};
use testkit::receiver::Receiver;

use crate::actions::TradingFixture;
use crate::browser::Browser;
use crate::client::{Answer, Client, PUBLIC_URL};

const GUIDES: [&str; 7] = [
    "/docs/start",
    "/docs/authentication",
    "/docs/proposing",
    "/docs/webhooks",
    "/docs/paging",
    "/docs/rate-limits",
    "/docs/idempotency",
];

/// A command, as a page shows it.
struct Snippet {
    caption: String,
    text: String,
}

fn snippets(page: &str) -> Vec<Snippet> {
    let figures = page.split("<figcaption><span>").skip(1);
    let read = |figure: &str| {
        let (caption, rest) = figure.split_once("</span>").unwrap();
        let (_, code) = rest.split_once("<code>").unwrap();
        let (text, _) = code.split_once("</code>").unwrap();
        Snippet { caption: caption.to_owned(), text: unescape(text) }
    };
    figures.map(read).collect()
}

fn unescape(text: &str) -> String {
    let text = text.replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Splits a command into arguments as a shell would; a variable in single quotes is not replaced.
fn shell_args(command: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let command = command.replace("\\\n", " ");
    let (mut args, mut arg, mut quote) = (Vec::new(), None::<String>, None);
    for character in command.chars() {
        match (character, quote) {
            ('\'' | '"', None) => {
                quote = Some(character);
                arg.get_or_insert_default();
            }
            (_, Some(open)) if character == open => quote = None,
            (' ', None) => args.extend(arg.take()),
            ('$', Some('\'')) => arg.get_or_insert_default().push('\0'),
            _ => arg.get_or_insert_default().push(character),
        }
    }
    assert_eq!(quote, None, "unclosed quote in {command}");
    args.extend(arg);
    let fill = |arg: String| {
        let filled = variables.iter().fold(arg, |arg, (name, value)| arg.replace(name, value));
        assert!(!filled.contains('$'), "{filled} has a variable without a value");
        filled.replace('\0', "$")
    };
    args.into_iter().map(fill).collect()
}

/// Does what `curl` would do with these arguments; panics on an option that the guides do not use.
async fn run(world: &World, args: &[String]) -> Answer {
    let (mut method, mut url, mut data) = (None, String::new(), Vec::new());
    let in_query = args.iter().any(|it| it == "-G");
    let mut client = Client::anonymous(world);
    let mut rest = args.iter().map(String::as_str);
    assert_eq!(rest.next(), Some("curl"));
    while let Some(arg) = rest.next() {
        match arg {
            "-I" => method = Some(Method::HEAD),
            "-G" | "--compressed" => {}
            "-o" | "--etag-save" | "--retry" => assert!(rest.next().is_some(), "{args:?}"),
            "-X" => method = Some(rest.next().unwrap().parse().unwrap()),
            "-d" | "--data-urlencode" => data.push(rest.next().unwrap().to_owned()),
            "-H" => {
                let (name, value) = rest.next().unwrap().split_once(": ").unwrap();
                client = client.header(String::leak(name.to_owned()), value);
            }
            _ => {
                assert!(arg.starts_with("http") && url.is_empty(), "{arg} in {args:?}");
                url = arg.to_owned();
            }
        }
    }
    let path = url.strip_prefix(PUBLIC_URL).expect("a URL of this installation");
    let data = data.join("&");
    let reading = method.clone().unwrap_or(Method::GET);
    match (data.is_empty(), in_query) {
        (true, _) => client.send(reading, path, "").await,
        (false, true) => client.send(reading, &format!("{path}?{data}"), "").await,
        (false, false) => client.send(method.unwrap_or(Method::POST), path, data).await,
    }
}

#[tokio::test]
async fn every_curl_command_responds_as_the_page_says() {
    let fixture = TradingFixture::new().await;
    let (world, robin) = (&fixture.world, &fixture.person);
    let spend = |day: i64| txn(&format!("2026-03-0{day}"), -100 * day, "SHOP");
    robin.import(statement([checking("Everyday").with_all((1..=5).map(spend))])).await;
    let first = fixture.client.get("/v1/transactions?limit=2").await.json();
    let decided = fixture.trade(r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#).await;
    let waiting = fixture.propose(r#"{"symbol": "AAPL", "side": "buy", "quantity": 2}"#).await;
    let receiver = Receiver::start().await;
    let new = format!(r#"{{"url": "{}"}}"#, receiver.url);
    let endpoint = fixture.post("/webhooks/endpoints", &new).await.data();
    let events = fixture.client.get("/v1/webhooks/events?event_type=transaction.created").await;
    let event = events.data()["events"][0]["id"].clone();
    let variables = [
        ("$EVENKEEL_KEY", fixture.key.as_str()),
        ("$CURSOR", first["pagination"]["next_cursor"].as_str().unwrap()),
        ("$ACCOUNT", fixture.account.as_str()),
        ("$THREAD", decided["thread_id"].as_str().unwrap()),
        ("$ACTION", waiting["action_id"].as_str().unwrap()),
        ("$EVENT", event.as_str().unwrap()),
        ("$ENDPOINT", endpoint["id"].as_str().unwrap()),
        ("https://example.com/hooks", receiver.url.as_str()),
    ];
    let mut anonymous = Browser::new(world);
    let mut ran = 0;
    for path in GUIDES {
        let answer = anonymous.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let commands = snippets(&answer.text).into_iter().filter(|it| it.text.contains("curl "));
        let before = ran;
        for Snippet { caption, text } in commands {
            // A caption may name the expected status; the others expect 200.
            let expected = caption.rsplit(": ").next().and_then(|it| it.parse::<u16>().ok());
            let answer = run(world, &shell_args(&text, &variables)).await;
            assert_eq!(answer.status.as_u16(), expected.unwrap_or(200), "{path}: {text}");
            ran += 1;
        }
        assert!(ran > before, "{path} shows no command");
    }
    assert!(ran >= 29, "{ran}");
    assert_eq!(receiver.requests().len(), 1, "one test event is sent");
}

#[tokio::test]
async fn the_guide_shows_the_rate_limit_headers_of_real_responses() {
    let world = World::new().await;
    let robin = world.someone().await;
    let page = Browser::new(&world).get("/docs/rate-limits").await.text;
    let answer = Client::of(&world, &robin).await.get("/v1/me").await;
    for name in ["ratelimit-policy", "ratelimit"] {
        let line = format!("{name}: {}", answer.header(name));
        assert!(snippets(&page).iter().any(|it| it.text.contains(&line)), "{line}");
    }
}

#[tokio::test]
async fn guides_link_to_each_other_and_are_the_same_for_everyone() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut browser = Browser::of(&world, &robin).await;
    for path in GUIDES {
        let page = browser.get(path).await.text;
        assert_eq!(page, Browser::new(&world).get(path).await.text, "{path}");
        for other in GUIDES.iter().chain(&["/docs", "/docs/errors"]) {
            assert!(page.contains(&format!("href=\"{other}\"")), "{path} must link to {other}");
        }
    }
}
