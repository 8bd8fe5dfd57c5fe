//! Rate limits as clients see them.

use http::StatusCode;
use service::platform::limits::Policy;
use testkit::{World, new_key};

use crate::client::Client;

#[tokio::test]
async fn every_response_has_the_rate_limit_and_the_limit_is_exact() {
    let world = World::with_policy(Policy { requests: 3, window_seconds: 60 }).await;
    let person = world.person("robin@example.com").await;
    let client = Client::of(&world, &person).await;
    for left in [2, 1, 0] {
        let answer = client.get("/v1/me").await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("ratelimit-policy"), "\"default\";q=3;w=60");
        assert_eq!(answer.header("ratelimit"), format!("\"default\";r={left};t=60"));
        assert_eq!(answer.header("x-ratelimit-limit"), "3");
        assert_eq!(answer.header("x-ratelimit-remaining"), left.to_string());
    }
    let refused = client.get("/v1/me").await;
    let expected = "429 RATE_LIMITED: too many requests; try again in 60 seconds";
    assert_eq!(refused.refusal(), expected);
    assert_eq!(refused.header("retry-after"), "60");
    assert_eq!(refused.header("ratelimit"), "\"default\";r=0;t=60");

    // A refused request does not count, so waiting for exactly Retry-After is enough.
    world.advance_seconds(59);
    assert_eq!(client.get("/v1/me").await.status, StatusCode::TOO_MANY_REQUESTS);
    world.advance_seconds(1);
    assert_eq!(client.get("/v1/me").await.status, StatusCode::OK);
}

#[tokio::test]
async fn errors_count_toward_the_limit_and_each_key_has_its_own_limit() {
    let world = World::with_policy(Policy { requests: 2, window_seconds: 60 }).await;
    let person = world.person("robin@example.com").await;
    let client = Client::of(&world, &person).await;
    assert_eq!(client.get("/v1/me?x=1").await.status, StatusCode::BAD_REQUEST);
    let last = client.get("/v1/accounts/x/balances").await;
    assert_eq!(last.status, StatusCode::NOT_FOUND);
    assert_eq!(last.header("x-ratelimit-remaining"), "0");
    assert_eq!(client.get("/v1/me").await.status, StatusCode::TOO_MANY_REQUESTS);
    let other = person.key(new_key()).await.secret;
    assert_eq!(Client::with_token(&world, &other).get("/v1/me").await.status, StatusCode::OK);
}
