//! Tests of who may call which MCP tool: keys, scopes and OAuth tokens.

use http::StatusCode;
use serde_json::json;
use service::Scopes;
use service::access::keys::NewKey;
use testkit::{World, new_key};

use super::{assistant, call_tool, list_tools, modern, refused, tool_names};
use crate::client::{Client, PUBLIC_URL};
use crate::oauth::OauthFixture;

const READING: &str = "accounts:read transactions:read investments:read goals:read income:read scores:read \
    recurring:read benefits:read paper:read actions:read";

#[tokio::test]
async fn without_a_token_the_client_learns_where_to_get_one_and_what_to_ask_for() {
    let world = World::new().await;
    let client = modern(Client::anonymous(&world));
    let answer = list_tools(&client).await;
    assert_eq!(refused(&answer), "401 -32000 send a token as Authorization: Bearer <token>");
    let metadata = "http://evenkeel.test/.well-known/oauth-protected-resource/mcp";
    assert_eq!(
        answer.header("www-authenticate"),
        format!("Bearer realm=\"evenkeel\", resource_metadata=\"{metadata}\", scope=\"{READING}\"")
    );
    let document = client.get("/.well-known/oauth-protected-resource/mcp").await.json();
    assert_eq!(document["resource"], format!("{PUBLIC_URL}/mcp"));
    assert_eq!(document["authorization_servers"], json!([PUBLIC_URL]));
    let scopes: Vec<&str> = READING.split(' ').collect();
    assert_eq!(document["scopes_supported"], json!(scopes));
    let server = client.get("/.well-known/oauth-authorization-server").await.json();
    assert!(server["scopes_supported"].as_array().unwrap().contains(&json!("offline_access")));
}

#[tokio::test]
async fn a_key_that_lacks_a_scope_is_asked_to_step_up() {
    let world = World::new().await;
    let person = world.someone().await;
    let scopes = Scopes::parse("accounts:read").unwrap();
    let client = assistant(&world, &person.key(NewKey { scopes, ..new_key() }).await.secret);
    assert_eq!(tool_names(&list_tools(&client).await), ["list_accounts", "get_balance_history"]);
    let answer = call_tool(&client, "propose_corrections", json!({})).await;
    assert_eq!(
        refused(&answer),
        "403 -32000 this token lacks a scope; this takes transactions:read actions:write"
    );
    let challenge = answer.header("www-authenticate");
    assert!(
        challenge
            .ends_with(", error=\"insufficient_scope\", scope=\"transactions:read actions:write\""),
        "{challenge}"
    );
    assert!(challenge.contains("/oauth-protected-resource/mcp\""), "{challenge}");
}

#[tokio::test]
async fn a_token_is_good_only_where_it_was_issued_for() {
    let fixture = OauthFixture::new().await;
    let (api, mcp) = (format!("{PUBLIC_URL}/v1"), format!("{PUBLIC_URL}/mcp"));
    for (resources, at_api, at_mcp) in [
        (vec![api.as_str()], 200, 401),
        (vec![mcp.as_str()], 401, 200),
        (vec![mcp.as_str(), api.as_str()], 200, 200),
        (vec![PUBLIC_URL], 200, 200),
        (vec![], 200, 200),
    ] {
        let token = fixture.access_for(&["accounts:read", "profile:read"], &resources).await;
        let client = assistant(&fixture.world, &token);
        let answer = client.get("/v1/me").await;
        assert_eq!(answer.status.as_u16(), at_api, "{resources:?}");
        let answer = list_tools(&client).await;
        assert_eq!(answer.status.as_u16(), at_mcp, "{resources:?}");
        if at_mcp == 401 {
            assert_eq!(refused(&answer), "401 -32000 the token was issued for another address");
        }
    }
}

#[tokio::test]
async fn offline_access_is_accepted_and_shown_to_nobody() {
    let fixture = OauthFixture::new().await;
    let scopes = ["accounts:read", "offline_access"];
    let token = fixture.access_for(&scopes, &[]).await;
    let client = assistant(&fixture.world, &token);
    assert_eq!(tool_names(&list_tools(&client).await), ["list_accounts", "get_balance_history"]);
    assert_eq!(client.get("/v1/goals").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_app_that_steps_up_keeps_what_it_has() {
    let fixture = OauthFixture::new().await;
    let token = fixture.access_for(&["accounts:read", "goals:read"], &[]).await;
    let client = assistant(&fixture.world, &token);
    let answer = call_tool(&client, "propose_custom", json!({})).await;
    assert_eq!(refused(&answer), "403 -32000 this token lacks a scope; this takes actions:write");
    let challenge = answer.header("www-authenticate");
    let scope = "scope=\"accounts:read goals:read actions:write\"";
    assert!(challenge.ends_with(scope), "{challenge}");
}
