//! Changes with an Idempotency-Key, tested with an endpoint of their own in the real router.

use base::{Currency, Money};
use http::{Method, StatusCode};
use service::Error;
use service::ledger::goals::{self, Kind, NewGoal, Status};
use testkit::World;
use web::api::{Answer, Call, Endpoint, Holds, Member, Shape, Verb, change};
use wire::v1::{Code, Goals, Scope};

use crate::client::Client;

const MEMBERS: &[Member] = &[
    Member::optional("name", Holds::Text { longest: 80 }, ""),
    Member::optional("target_amount", Holds::Number { decimals: 2 }, ""),
];

static ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: Verb::Post,
    path: "/goals",
    tag: "Goals",
    summary: "Make a goal",
    description: "",
    scopes: &[Scope::GoalsRead],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Goals>("Goals"),
    handle: |call| Box::pin(create(call)),
}];

/// Creates a goal, or fails by its name: "conflict" is a refusal, "panic" and "broken" are internal errors.
async fn create(call: Call) -> service::Result<Answer> {
    let members = call.members(MEMBERS)?;
    let name = members.text("name")?.unwrap_or_default();
    let target = members.money("target_amount", Currency::USD)?;
    let (app, caller) = (call.app.clone(), call.caller.clone());
    change(&call, move |tx| {
        match name.as_str() {
            "panic" => panic!("on purpose"),
            "broken" => return Err(Error::internal("a secret detail")),
            "conflict" => {
                let message = "there is one already".to_owned();
                return Err(Error::Conflict { code: Code::Conflict, message });
            }
            _ => {}
        }
        let new = NewGoal {
            name,
            kind: Kind::Savings,
            status: Status::Active,
            target: target.unwrap_or(Money::new(100, Currency::USD)),
            saved_minor: 0,
            target_on: None,
            accounts: Vec::new(),
        };
        let id = goals::create_in(&app, tx, &caller, &new)?;
        Answer::data(&id.to_string())
    })
    .await
}

struct Fixture {
    world: World,
    client: Client,
    caller: service::Caller,
}

async fn fixture() -> Fixture {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let token = person.key(testkit::new_key()).await.secret;
    let client = Client::with_endpoints(world.app.clone(), ENDPOINTS, Some(token));
    let client = client.header("content-type", "application/json");
    Fixture { world, client, caller: person.caller }
}

impl Fixture {
    async fn goals(&self) -> usize {
        goals::list(&self.world.app, &self.caller, None).await.unwrap().len()
    }
}

#[tokio::test]
async fn the_same_idempotency_key_replays_the_response_and_has_one_effect() {
    let fixture = fixture().await;
    let client = fixture.client.header("idempotency-key", "abc-1");
    let first = client.send(Method::POST, "/v1/goals", r#"{"name": "Boat"}"#).await;
    let again = client.send(Method::POST, "/v1/goals", r#"{"name": "Boat"}"#).await;
    assert_eq!(first.data(), again.data());
    assert_eq!(
        (first.header("idempotent-replayed"), again.header("idempotent-replayed")),
        ("", "true")
    );
    assert_eq!(fixture.goals().await, 1);
    let quoted = fixture.client.header("idempotency-key", "\"abc-1\"");
    let quoted = quoted.send(Method::POST, "/v1/goals", r#"{"name": "Boat"}"#).await;
    assert_eq!(quoted.header("idempotent-replayed"), "true", "some clients send the key in quotes");

    let reused = client.send(Method::POST, "/v1/goals", r#"{"name": "House"}"#).await.refusal();
    assert_eq!(
        reused,
        "422 IDEMPOTENCY_KEY_REUSED: this Idempotency-Key was used for a different request"
    );
    fixture.client.send(Method::POST, "/v1/goals", r#"{"name": "Boat"}"#).await;
    assert_eq!(fixture.goals().await, 2, "without a key, every request has an effect");
}

#[tokio::test]
async fn a_conflict_is_replayed_and_a_validation_error_is_not() {
    let fixture = fixture().await;
    let client = fixture.client.header("idempotency-key", "k");
    let first = client.send(Method::POST, "/v1/goals", r#"{"name": "conflict"}"#).await;
    assert_eq!(first.refusal(), "409 CONFLICT: there is one already");
    let again = client.send(Method::POST, "/v1/goals", r#"{"name": "conflict"}"#).await;
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(again.status, StatusCode::CONFLICT);

    let client = fixture.client.header("idempotency-key", "l");
    let refused = client.send(Method::POST, "/v1/goals", r#"{"name": ""}"#).await;
    assert_eq!(
        refused.refusal(),
        "400 VALIDATION_ERROR name: name must have 1 to 80 characters on one line"
    );
    let corrected = client.send(Method::POST, "/v1/goals", r#"{"name": "Boat"}"#).await;
    assert_eq!(corrected.status, StatusCode::OK, "a validation error does not use up the key");
}

#[tokio::test]
async fn an_internal_error_reveals_nothing_changes_nothing_and_frees_the_key() {
    let fixture = fixture().await;
    for name in [r#"{"name": "panic"}"#, r#"{"name": "broken"}"#] {
        let client = fixture.client.header("idempotency-key", "k");
        let answer = client.send(Method::POST, "/v1/goals", name).await;
        let expected = "500 INTERNAL: something went wrong on our side; it was logged";
        assert_eq!(answer.refusal(), expected, "{name}");
    }
    assert_eq!(fixture.goals().await, 0);
    let client = fixture.client.header("idempotency-key", "k");
    let answer = client.send(Method::POST, "/v1/goals", r#"{"name": "Boat"}"#).await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn invalid_bodies_and_idempotency_keys_get_specific_errors() {
    let fixture = fixture().await;
    let large = vec![b' '; (1 << 20) + 1];
    let answer = fixture.client.send(Method::POST, "/v1/goals", large).await;
    assert_eq!(answer.refusal(), "413 PAYLOAD_TOO_LARGE: the body must be at most 1 MiB");
    let long = fixture.client.header("idempotency-key", &"x".repeat(256));
    let expected = "400 VALIDATION_ERROR Idempotency-Key: Idempotency-Key must have 1 to 255 visible ASCII characters, such as a UUID";
    assert_eq!(long.send(Method::POST, "/v1/goals", r#"{"name": "A"}"#).await.refusal(), expected);
    let spaced = fixture.client.header("idempotency-key", "a b");
    assert_eq!(
        spaced.send(Method::POST, "/v1/goals", r#"{"name": "A"}"#).await.refusal(),
        expected
    );

    let send = |body: &'static [u8]| fixture.client.send(Method::POST, "/v1/goals", body);
    for (body, expected) in [
        (&b"\xff"[..], "400 VALIDATION_ERROR: the body must be UTF-8 text"),
        (br#"{"nme": ""}"#, "400 VALIDATION_ERROR nme: nme is not known here; did you mean name?"),
        (br#"{"name": 1}"#, "400 VALIDATION_ERROR name: name must be text"),
        (
            br#"{"name": "A", "target_amount": 0.001}"#,
            "400 VALIDATION_ERROR target_amount: target_amount must be a number such as -12.34, with at most 2 \
             decimals in USD",
        ),
    ] {
        assert_eq!(send(body).await.refusal(), expected);
    }
    assert!(
        send(b"nonsense")
            .await
            .refusal()
            .starts_with("400 VALIDATION_ERROR: the body must be one JSON object")
    );

    let person = fixture.world.person("sam@example.com").await;
    let token = person.key(testkit::new_key()).await.secret;
    let client = Client::with_endpoints(fixture.world.app.clone(), ENDPOINTS, Some(token));
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let client = client.header("content-type", kind);
        let refusal = client.send(Method::POST, "/v1/goals", r#"{"name": "A"}"#).await.refusal();
        let expected =
            "415 UNSUPPORTED_MEDIA_TYPE: the body must be sent as Content-Type: application/json";
        assert_eq!(refusal, expected);
    }
}
