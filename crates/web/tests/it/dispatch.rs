//! Properties that every response has.

use axum::body::Body;
use http::{Method, StatusCode};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World};

use crate::client::Client;

async fn household() -> (World, Person, Client) {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let rows = (0..40).map(|it| txn("2026-03-01", -100 - it, &format!("KROGER #{it}")));
    person.import(statement([checking("Everyday").with_all(rows)])).await;
    let client = Client::of(&world, &person).await;
    (world, person, client)
}

#[tokio::test]
async fn every_response_has_its_request_id_in_the_body_and_in_a_header() {
    let (_world, _, client) = household().await;
    let answer = client.get("/v1/me").await;
    let meta = &answer.json()["meta"];
    assert!(meta["request_id"].as_str().unwrap().starts_with("req_"));
    assert_eq!(meta["request_id"], answer.header("x-request-id"));
    assert_eq!(meta["timestamp"], "2026-03-10T12:00:00.000Z");
    assert_eq!(answer.header("cache-control"), "private, no-store");
    let again = client.get("/v1/me").await;
    assert_ne!(answer.header("x-request-id"), again.header("x-request-id"));
}

#[tokio::test]
async fn unknown_routes_and_methods_get_the_error_envelope() {
    let (_world, _, client) = household().await;
    for path in ["/v1", "/v1/", "/v1/nothing", "/v1/accounts/", "/v1/me/x", "/v1/%ff", "/v1//me"] {
        let refusal = client.get(path).await.refusal();
        assert_eq!(refusal, "404 NOT_FOUND: there is nothing at this address", "{path}");
    }
    let answer = client.send(Method::POST, "/v1/accounts", Body::empty()).await;
    assert_eq!(
        answer.refusal(),
        "405 METHOD_NOT_ALLOWED: POST is not allowed here; use GET, HEAD, OPTIONS"
    );
    assert_eq!(answer.header("allow"), "GET, HEAD, OPTIONS");
}

#[tokio::test]
async fn requests_without_an_endpoint_count_against_the_rate_limit_of_a_valid_token() {
    let (world, _, client) = household().await;
    let remaining =
        |answer: &crate::client::Answer| answer.header("x-ratelimit-remaining").to_owned();
    for (method, path, status, left) in [
        (Method::GET, "/v1/nothing", StatusCode::NOT_FOUND, "99"),
        (Method::POST, "/v1/accounts", StatusCode::METHOD_NOT_ALLOWED, "98"),
        (Method::OPTIONS, "/v1/accounts", StatusCode::NO_CONTENT, "97"),
        (Method::GET, "/v1/me", StatusCode::OK, "96"),
    ] {
        let answer = client.send(method, path, Body::empty()).await;
        assert_eq!((answer.status, remaining(&answer).as_str()), (status, left), "{path}");
        assert!(!answer.header("ratelimit").is_empty());
    }
    for token in [None, Some("ek_guess")] {
        let client = match token {
            Some(token) => Client::with_token(&world, token),
            None => Client::anonymous(&world),
        };
        let answer = client.get("/v1/nothing").await;
        assert_eq!((answer.status, remaining(&answer).as_str()), (StatusCode::NOT_FOUND, ""));
    }
    // Guessing tokens is limited here too.
    let guess = Client::with_token(&world, "ek_guess");
    for _ in 0..60 {
        guess.get("/v1/nothing").await;
    }
    assert_eq!(guess.get("/v1/nothing").await.status, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn encoded_bodies_are_refused() {
    let (_world, _, client) = household().await;
    let client = client.header("content-type", "application/json");
    for (encoding, is_refused) in [("gzip", true), ("identity, br", true), ("identity", false)] {
        let client = client.header("content-encoding", encoding);
        let answer = client.send(Method::POST, "/v1/actions", "{}").await;
        if is_refused {
            let expected = "415 UNSUPPORTED_MEDIA_TYPE: the body must be sent as it is, without Content-Encoding";
            assert_eq!(answer.refusal(), expected, "{encoding}");
            assert_eq!(answer.header("accept-encoding"), "identity");
        } else {
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{encoding}");
        }
    }
}

#[tokio::test]
async fn a_known_version_is_accepted_and_every_response_names_its_own() {
    let (world, _, client) = household().await;
    let known = client.header("evenkeel-version", "2026-04-10").get("/v1/me").await;
    assert_eq!(known.status, StatusCode::OK);
    for value in ["2026-04-11", "latest", "", "2026-04-10, 2026-04-10"] {
        let refused = client.header("evenkeel-version", value).get("/v1/me").await;
        let expected =
            "400 VALIDATION_ERROR Evenkeel-Version: Evenkeel-Version must be one of 2026-04-10";
        assert_eq!(refused.refusal(), expected, "{value}");
        assert_eq!(refused.header("evenkeel-version"), "2026-04-10");
    }
    let twice = client.header("evenkeel-version", "2026-04-10").header("evenkeel-version", "x");
    let refused = twice.get("/v1/me").await.refusal();
    assert!(refused.contains("is given more than once"), "{refused}");
    let anonymous = Client::anonymous(&world);
    for path in ["/v1/me", "/v1/nothing"] {
        assert_eq!(anonymous.get(path).await.header("evenkeel-version"), "2026-04-10");
        assert_eq!(client.get(path).await.header("evenkeel-version"), "2026-04-10");
    }
}

#[tokio::test]
async fn head_is_get_without_the_body_and_options_lists_the_methods() {
    let (_world, _, client) = household().await;
    let get = client.get("/v1/transactions").await;
    let head = client.send(Method::HEAD, "/v1/transactions", Body::empty()).await;
    assert_eq!(head.status, StatusCode::OK);
    assert!(head.bytes.is_empty());
    assert_eq!(head.header("etag"), get.header("etag"));
    assert_eq!(head.header("content-length"), get.header("content-length"));
    let options = client.send(Method::OPTIONS, "/v1/me", Body::empty()).await;
    assert_eq!(
        (options.status, options.header("allow")),
        (StatusCode::NO_CONTENT, "GET, HEAD, OPTIONS")
    );
}

#[tokio::test]
async fn the_etag_depends_on_the_data_and_not_on_meta() {
    let (_world, person, client) = household().await;
    let first = client.get("/v1/transactions?limit=5").await;
    let same = client.header("if-none-match", first.header("etag"));
    let same = same.get("/v1/transactions?limit=5").await;
    assert_eq!(
        same.status,
        StatusCode::NOT_MODIFIED,
        "a cursor that is encrypted anew is no change"
    );
    let whole = client.get("/v1/transactions").await;
    let tag = whole.header("etag").to_owned();
    for sent in [tag.clone(), tag.replace("W/", ""), format!("\"x\", {tag}"), "*".to_owned()] {
        let again = client.header("if-none-match", &sent).get("/v1/transactions").await;
        assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{sent}");
        assert!(again.bytes.is_empty());
        assert_eq!(again.header("etag"), tag);
        assert!(again.header("x-request-id").starts_with("req_"));
        assert!(!again.header("ratelimit").is_empty(), "a 304 counts toward the rate limit");
    }
    person.import(statement([checking("Everyday").with(txn("2026-03-09", -1, "NEW"))])).await;
    let changed = client.header("if-none-match", &tag).get("/v1/transactions").await;
    assert_eq!(changed.status, StatusCode::OK);
}

#[tokio::test]
async fn large_responses_are_compressed_on_request_and_small_ones_are_not() {
    let (_world, _, client) = household().await;
    for encoding in ["gzip", "br", "zstd"] {
        let client = client.header("accept-encoding", encoding);
        let large = client.get("/v1/transactions").await;
        assert_eq!(large.header("content-encoding"), encoding);
        assert!(large.header("vary").contains("accept-encoding"));
        let small = client.get("/v1/me").await;
        assert_eq!(small.header("content-encoding"), "");
    }
    let plain = client.get("/v1/transactions").await;
    assert_eq!(plain.header("content-encoding"), "");
}

#[tokio::test]
async fn only_listed_origins_may_call_from_a_browser() {
    let (_world, _, client) = household().await;
    let listed = client.header("origin", "https://app.example").get("/v1/me").await;
    assert_eq!(listed.header("access-control-allow-origin"), "https://app.example");
    let other = client.header("origin", "https://evil.example").get("/v1/me").await;
    assert_eq!(other.header("access-control-allow-origin"), "");
    let preflight = client
        .header("origin", "https://app.example")
        .header("access-control-request-method", "GET")
        .send(Method::OPTIONS, "/v1/me", Body::empty())
        .await;
    assert_eq!(preflight.status, StatusCode::NO_CONTENT);
    assert!(preflight.header("access-control-allow-headers").contains("authorization"));
}

#[tokio::test]
async fn invalid_parameters_get_specific_errors() {
    let (_world, _, client) = household().await;
    let cases = [
        ("limit=0", "limit: limit must be a whole number from 1 to 100"),
        ("limit=101", "limit: limit must be a whole number from 1 to 100"),
        ("limit=x", "limit: limit must be a whole number from 1 to 100"),
        ("limit=5&limit=5", "limit: limit is given more than once"),
        ("acount_id=1", "acount_id: acount_id is not known here; did you mean account_id?"),
        (
            "start_date=2026-02-30",
            "start_date: start_date must be a date that exists, as YYYY-MM-DD",
        ),
        (
            "updated_since=yesterday",
            "updated_since: updated_since must be an instant such as 2026-04-10T08:30:00Z",
        ),
        (
            "start_date=2026-03-02&end_date=2026-03-01",
            "start_date: start_date must not be after end_date",
        ),
        ("tag=a%00b", "tag: tag must not contain a null character"),
        ("pending=yes", "pending: pending must be true or false"),
        (
            "category_tier1=FOOD",
            "category_tier1: category_tier1 must be a primary category such as TRAVEL",
        ),
        (
            "account_id=42",
            "account_id: account_id must look like acc_ followed by 26 letters and digits",
        ),
        ("q=%ff", "q: q must be UTF-8 text"),
        (
            "cursor=abc",
            "cursor: invalid or expired cursor: start again without it, and keep the filters the same between pages",
        ),
    ];
    for (query, expected) in cases {
        let refusal = client.get(&format!("/v1/transactions?{query}")).await.refusal();
        assert_eq!(refusal, format!("400 VALIDATION_ERROR {expected}"), "{query}");
    }
    let refusal = client.get("/v1/accounts?status=gone").await.refusal();
    assert_eq!(refusal, "400 VALIDATION_ERROR status: status must be one of open, closed, all");
    let refusal = client.get("/v1/me?x=1").await.refusal();
    assert_eq!(refusal, "400 VALIDATION_ERROR x: x is not known here, which takes none");
}

#[tokio::test]
async fn every_response_of_an_https_installation_has_the_hsts_header() {
    let (world, _, _) = household().await;
    for (public_url, is_https) in [("https://money.example", true), ("http://money.example", false)]
    {
        let settings =
            web::Settings { public_url: public_url.to_owned(), ..web::Settings::default() };
        let router = web::routers(world.app.clone(), settings).main;
        for path in ["/v1/me", "/sign-in", "/healthz", "/nowhere", "/oauth/token", "/docs"] {
            let request = http::Request::get(path).body(axum::body::Body::empty()).unwrap();
            let answer = tower::ServiceExt::oneshot(router.clone(), request).await.unwrap();
            let sent = answer.headers().get("strict-transport-security");
            let expected = is_https.then_some("max-age=31536000");
            assert_eq!(sent.map(|it| it.to_str().unwrap()), expected, "{public_url}{path}");
        }
    }
}

#[tokio::test]
async fn health_readiness_and_metrics_need_no_token() {
    let (world, _, client) = household().await;
    client.get("/v1/me").await;
    let client = Client::anonymous(&world);
    assert_eq!(client.get("/healthz").await.bytes, b"alive\n");
    assert_eq!(client.get("/readyz").await.bytes, b"ready\n");
    let metrics = client.get("/metrics").await;
    assert_eq!(metrics.status, StatusCode::OK);
    let resource = client.get("/.well-known/oauth-protected-resource").await.json();
    assert_eq!(resource["resource"], "http://evenkeel.test/v1");
}
