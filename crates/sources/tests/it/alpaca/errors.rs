//! Error messages for the operator when Alpaca fails or refuses.

use sources::market::{self, MarketError, Quote, QuoteProvider as _};
use testkit::alpaca::{Alpaca, Fault};
use testkit::at;

use super::{http_client, provider, symbols};

const SNAPSHOT: &str = r#"{"latestTrade": {"t": "2026-11-16T13:59:58Z", "p": 5}}"#;

async fn ask(provider: &market::Alpaca) -> Result<Vec<Quote>, MarketError> {
    provider.quotes(symbols("AAPL"), at("2026-11-16T14:00:00Z")).await
}

/// The result after these responses, and the number of requests.
async fn after(faults: Vec<Fault>) -> (Result<usize, String>, usize) {
    let alpaca = Alpaca::start().await;
    alpaca.snapshot("AAPL", SNAPSHOT);
    for fault in faults {
        alpaca.fail_next(fault);
    }
    let answer = ask(&provider(&alpaca)).await;
    (answer.map(|it| it.len()).map_err(|MarketError(it)| it), alpaca.requests().len())
}

fn error_response(status: u16, message: &str) -> Fault {
    Fault::Response(status, format!("{{\"message\":\"{message}\"}}"))
}

#[tokio::test]
async fn each_error_message_says_what_to_do() {
    for (status, message, advice) in [
        (401, "unauthorized.", "Check the key id and the secret"),
        (403, "subscription does not permit querying recent SIP data", "whether the plan includes"),
        (404, "endpoint not found.", "usually https://data.alpaca.markets"),
        (400, "unexpected parameter(s): feeds", "look for a newer version"),
        (422, "code=422, message = unprocessable", "look for a newer version"),
        (500, "internal server error.", "nothing to do here"),
        (503, "", "nothing to do here"),
        (418, "teapot", "look for a newer version"),
    ] {
        let (answer, requests) = after(vec![error_response(status, message)]).await;
        let sentence = answer.unwrap_err();
        let message = message.trim_end_matches('.');
        for part in [advice, message, &status.to_string()] {
            assert!(sentence.contains(part), "{sentence}");
        }
        assert!(sentence.starts_with("Alpaca ") && sentence.ends_with('.'), "{sentence}");
        assert_eq!(requests, 1, "{status}");
    }
}

#[tokio::test]
async fn a_wrong_key_is_reported_without_printing_it() {
    let alpaca = Alpaca::start().await;
    for (key_id, secret) in
        [(Alpaca::KEY_ID, "SECRETWRONG"), ("SECRETWRONG", Alpaca::SECRET), ("SECRETWRONG", "")]
    {
        let provider =
            market::Alpaca::new(http_client(), alpaca.url(), key_id.to_owned(), secret.to_owned());
        let MarketError(sentence) = ask(&provider).await.unwrap_err();
        assert!(sentence.contains("Check the key id and the secret"), "{sentence}");
        assert!(!sentence.contains("SECRETWRONG") && !sentence.contains(Alpaca::KEY_ID));
    }
    // A key that was read from a file may end with a line break, which cannot be sent in a header.
    let broken =
        market::Alpaca::new(http_client(), alpaca.url(), "SECRET\n".to_owned(), String::new());
    let MarketError(sentence) = ask(&broken).await.unwrap_err();
    assert!(sentence.contains("a line break") && !sentence.contains("SECRET"), "{sentence}");
}

#[tokio::test]
async fn alpacas_message_is_quoted_shortened_and_without_keys_or_line_breaks() {
    let echo = format!("no {} or {} here\\n{}", Alpaca::KEY_ID, Alpaca::SECRET, "x".repeat(9000));
    let sentence = after(vec![error_response(403, &echo)]).await.0.unwrap_err();
    assert!(sentence.contains("no (hidden) or (hidden) here x"), "{sentence}");
    assert!(!sentence.contains('\n') && sentence.len() < 500, "{sentence}");
    let page = Fault::Response(502, "<html>Bad Gateway</html>".to_owned());
    let sentence = after(vec![page]).await.0.unwrap_err();
    assert!(sentence.contains("(502)"), "{sentence}");
}

#[tokio::test]
async fn a_rate_limit_that_ends_soon_is_waited_for() {
    assert_eq!(after(vec![Fault::Limited(0)]).await, (Ok(1), 2));
    assert_eq!(after(vec![Fault::Limited(1)]).await, (Ok(1), 2));
    assert_eq!(after(vec![Fault::Limited(-5), error_response(504, "timeout")]).await, (Ok(1), 3));
}

#[tokio::test]
async fn a_rate_limit_that_ends_later_is_reported_at_once() {
    let (answer, requests) = after(vec![Fault::Limited(42)]).await;
    let sentence = answer.unwrap_err();
    assert!(sentence.contains("too many requests") && sentence.contains("in 42 s"), "{sentence}");
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn a_request_is_tried_at_most_three_times() {
    let gateway_timeout = || error_response(504, "upstream timeout");
    assert_eq!(after(vec![gateway_timeout(), gateway_timeout()]).await, (Ok(1), 3));
    let (answer, requests) =
        after(vec![gateway_timeout(), gateway_timeout(), gateway_timeout()]).await;
    assert!(answer.unwrap_err().contains("504"));
    assert_eq!(requests, 3);
    // Two waits of one second each exceed the retry budget.
    let (answer, requests) = after(vec![Fault::Limited(1), Fault::Limited(1)]).await;
    assert!(answer.unwrap_err().contains("429"));
    assert_eq!(requests, 2);
}

#[tokio::test]
async fn an_invalid_response_is_reported() {
    let (cut, requests) = after(vec![Fault::Cut]).await;
    let sentence = cut.unwrap_err();
    assert!(sentence.contains("could not be reached: the connection broke"), "{sentence}");
    assert_eq!(requests, 1);
    for body in ["", "[]", "{\"AAPL\":", "<html>", "{\"AAPL\":5}"] {
        let sentence = after(vec![Fault::Response(200, body.to_owned())]).await.0.unwrap_err();
        assert!(sentence.contains("not as expected"), "{body}: {sentence}");
    }
    let moved = after(vec![Fault::Response(307, String::new())]).await.0.unwrap_err();
    assert!(moved.contains("redirects are not followed"), "{moved}");
    let huge = format!("{{\"AAPL\":null,\"x\":\"{}\"}}", "x".repeat(2 * 1024 * 1024));
    let huge = after(vec![Fault::Response(200, huge)]).await.0.unwrap_err();
    assert!(huge.contains("response is too large"), "{huge}");
}

#[tokio::test]
async fn an_unreachable_server_is_reported_with_its_address() {
    for address in ["http://127.0.0.1:1", "data.alpaca.markets", "https://a:b@example.com"] {
        let provider = market::Alpaca::new(http_client(), address, String::new(), String::new());
        let MarketError(sentence) = ask(&provider).await.unwrap_err();
        assert!(sentence.contains("address of Alpaca in the configuration"), "{sentence}");
        assert!(!sentence.contains("a:b"), "{sentence}");
    }
}

#[tokio::test]
async fn a_trailing_slash_in_the_address_is_ignored() {
    let alpaca = Alpaca::start().await;
    alpaca.snapshot("AAPL", SNAPSHOT);
    let (key_id, secret) = (Alpaca::KEY_ID.to_owned(), Alpaca::SECRET.to_owned());
    let provider =
        market::Alpaca::new(http_client(), &format!("{}/", alpaca.url()), key_id, secret);
    assert_eq!(ask(&provider).await.unwrap().len(), 1);
}
