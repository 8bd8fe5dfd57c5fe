//! The guides: every line of `curl` on them is run, and answers as the page says.

use http::{Method, StatusCode};
use testkit::World;
use testkit::draft::{checking, statement, txn};
use testkit::receiver::Receiver;

use crate::actions::Desk;
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

/// A line to run, as a page shows it.
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

/// What a shell would hand to the program; single quotes keep a variable as it is written.
fn words(command: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let command = command.replace("\\\n", " ");
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, Some(open)) if letter == open => quote = None,
            (' ', None) => words.extend(word.take()),
            ('$', Some('\'')) => word.get_or_insert_default().push('\0'),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    assert_eq!(quote, None, "an open quote in {command}");
    words.extend(word);
    let fill = |word: String| {
        let filled = variables.iter().fold(word, |word, (name, value)| word.replace(name, value));
        assert!(!filled.contains('$'), "{filled} is not set");
        filled.replace('\0', "$")
    };
    words.into_iter().map(fill).collect()
}

/// Does what `curl` would do with these words; one that is not known here is not shown there.
async fn run(world: &World, words: &[String]) -> Answer {
    let (mut method, mut url, mut data) = (None, String::new(), Vec::new());
    let in_query = words.iter().any(|it| it == "-G");
    let mut client = Client::anonymous(world);
    let mut rest = words.iter().map(String::as_str);
    assert_eq!(rest.next(), Some("curl"));
    while let Some(word) = rest.next() {
        match word {
            "-I" => method = Some(Method::HEAD),
            "-G" | "--compressed" => {}
            "-o" | "--etag-save" | "--retry" => assert!(rest.next().is_some(), "{words:?}"),
            "-X" => method = Some(rest.next().unwrap().parse().unwrap()),
            "-d" | "--data-urlencode" => data.push(rest.next().unwrap().to_owned()),
            "-H" => {
                let (name, value) = rest.next().unwrap().split_once(": ").unwrap();
                client = client.header(String::leak(name.to_owned()), value);
            }
            _ => {
                assert!(word.starts_with("http") && url.is_empty(), "{word} in {words:?}");
                url = word.to_owned();
            }
        }
    }
    let path = url.strip_prefix(PUBLIC_URL).expect("the installation's own address");
    let data = data.join("&");
    let reading = method.clone().unwrap_or(Method::GET);
    match (data.is_empty(), in_query) {
        (true, _) => client.send(reading, path, "").await,
        (false, true) => client.send(reading, &format!("{path}?{data}"), "").await,
        (false, false) => client.send(method.unwrap_or(Method::POST), path, data).await,
    }
}

#[tokio::test]
async fn every_line_of_curl_runs_and_answers_as_the_page_says() {
    let desk = Desk::new().await;
    let (world, robin) = (&desk.world, &desk.person);
    let spend = |day: i64| txn(&format!("2026-03-0{day}"), -100 * day, "SHOP");
    robin.import(statement([checking("Everyday").with_all((1..=5).map(spend))])).await;
    let first = desk.client.get("/v1/transactions?limit=2").await.json();
    let decided = desk.trade(r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#).await;
    let waiting = desk.propose(r#"{"symbol": "AAPL", "side": "buy", "quantity": 2}"#).await;
    let receiver = Receiver::start().await;
    let new = format!(r#"{{"url": "{}"}}"#, receiver.url);
    let endpoint = desk.post("/webhooks/endpoints", &new).await.data();
    let variables = [
        ("$EVENKEEL_KEY", desk.key.as_str()),
        ("$CURSOR", first["pagination"]["next_cursor"].as_str().unwrap()),
        ("$ACCOUNT", desk.account.as_str()),
        ("$THREAD", decided["thread_id"].as_str().unwrap()),
        ("$ACTION", waiting["action_id"].as_str().unwrap()),
        ("$ENDPOINT", endpoint["id"].as_str().unwrap()),
        ("https://example.com/hooks", receiver.url.as_str()),
    ];
    let mut stranger = Browser::new(world);
    let mut ran = 0;
    for path in GUIDES {
        let answer = stranger.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let commands = snippets(&answer.text).into_iter().filter(|it| it.text.contains("curl "));
        let before = ran;
        for Snippet { caption, text } in commands {
            // A caption that names a status means it; the others succeed.
            let wanted = caption.rsplit(": ").next().and_then(|it| it.parse::<u16>().ok());
            let answer = run(world, &words(&text, &variables)).await;
            assert_eq!(answer.status.as_u16(), wanted.unwrap_or(200), "{path}: {text}");
            ran += 1;
        }
        assert!(ran > before, "{path} shows nothing to run");
    }
    assert!(ran >= 29, "{ran}");
    assert_eq!(receiver.requests().len(), 1, "one was tried");
}

#[tokio::test]
async fn the_limit_on_the_page_is_the_limit_of_the_answers() {
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
async fn guides_lead_to_each_other_and_are_the_same_for_everyone() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut browser = Browser::of(&world, &robin).await;
    for path in GUIDES {
        let page = browser.get(path).await.text;
        assert_eq!(page, Browser::new(&world).get(path).await.text, "{path}");
        for other in GUIDES.iter().chain(&["/docs", "/docs/errors"]) {
            assert!(page.contains(&format!("href=\"{other}\"")), "{path} leads to {other}");
        }
    }
}
