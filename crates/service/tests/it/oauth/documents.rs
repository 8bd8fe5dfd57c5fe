//! Apps that do not register: their id is the address of a document that describes them.

use service::access::oauth::clients::{self, ClientCredentials};
use service::access::oauth::requests::{self, AuthorizationParams, InvalidRequest};
use service::access::oauth::{DocumentSource, codes, token_pairs};
use testkit::receiver::{Receiver, ScriptedResponse};

use super::{ISSUER, OAuthFixture, REDIRECT_URI, code_exchange, params, refresh_request};

fn document(url: &str, name: &str) -> ScriptedResponse {
    let json = serde_json::json!({
        "client_id": url, "client_name": name, "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
    });
    ScriptedResponse::Text(200, json.to_string())
}

fn asked(fixture: &OAuthFixture, url: &str, documents: DocumentSource) -> AuthorizationParams {
    AuthorizationParams { client_id: Some(url.to_owned()), documents, ..params(&fixture.client) }
}

async fn refused(fixture: &OAuthFixture, url: &str) -> String {
    let params = asked(fixture, url, DocumentSource::Fetched);
    match requests::check(&fixture.world.app, ISSUER, params).await {
        Err(InvalidRequest::Undescribed(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_app_is_authorized_by_its_document_and_gets_tokens() {
    let fixture = OAuthFixture::new().await;
    let (app, receiver) = (&fixture.world.app, Receiver::start().await);
    let url = receiver.url.as_str();
    receiver.respond_with([document(url, "Lens")]);
    let request = requests::check(app, ISSUER, asked(&fixture, url, DocumentSource::Fetched)).await;
    let request = request.unwrap();
    assert_eq!((request.client.name.as_str(), request.redirect.host()), ("Lens", "app.example"));
    let code = codes::allow(app, &fixture.person.caller, &request, request.scopes).await.unwrap();
    let credentials = ClientCredentials { id: Some(url.to_owned()), secret: None };
    let client = clients::authenticate(app, &credentials).await.unwrap();
    let pair = codes::exchange(app, ISSUER, &client, code_exchange(&code)).await.unwrap();
    fixture.authenticate(&pair.access).await.unwrap();
    token_pairs::refresh(app, ISSUER, &client, refresh_request(&pair.refresh)).await.unwrap();
    let with_secret = ClientCredentials { secret: Some("x".to_owned()), ..credentials };
    assert!(clients::authenticate(app, &with_secret).await.is_err());
    assert_eq!(receiver.requests().len(), 1);
}

#[tokio::test]
async fn a_document_is_fetched_again_after_an_hour_and_keeps_its_client() {
    let fixture = OAuthFixture::new().await;
    let (app, receiver) = (&fixture.world.app, Receiver::start().await);
    let url = receiver.url.as_str();
    receiver.respond_with([document(url, "Lens"), document(url, "Lens 2")]);
    let check = async |documents| {
        let checked = requests::check(app, ISSUER, asked(&fixture, url, documents)).await;
        checked.map(|it| (it.client.id, it.client.name))
    };
    // Nobody is signed in, so nothing is fetched.
    let unknown = check(DocumentSource::Stored).await;
    assert!(matches!(unknown, Err(InvalidRequest::Undescribed(_))), "{unknown:?}");
    let (id, name) = check(DocumentSource::Fetched).await.unwrap();
    assert_eq!((name.as_str(), receiver.requests().len()), ("Lens", 1));
    fixture.world.advance_seconds(3_599);
    assert_eq!(check(DocumentSource::Fetched).await.unwrap(), (id, "Lens".to_owned()));
    assert_eq!(receiver.requests().len(), 1);
    fixture.world.advance_seconds(1);
    assert_eq!(check(DocumentSource::Stored).await.unwrap(), (id, "Lens".to_owned()));
    assert_eq!(check(DocumentSource::Fetched).await.unwrap(), (id, "Lens 2".to_owned()));
    assert_eq!(receiver.requests().len(), 2);
}

#[tokio::test]
async fn a_document_that_cannot_be_used_is_explained_to_the_person() {
    let fixture = OAuthFixture::new().await;
    let receiver = Receiver::start().await;
    let url = receiver.url.as_str();
    let host = url.trim_start_matches("https://").split('/').next().unwrap();
    for (response, expected) in [
        (ScriptedResponse::Status(404), "that address answered 404"),
        (document("https://other.example/x", "Lens"), "the client_id there is another one"),
        (
            ScriptedResponse::Text(200, "<html>".to_owned()),
            "what is there is no client metadata document",
        ),
    ] {
        receiver.respond_with([response]);
        let sentence = refused(&fixture, url).await;
        assert_eq!(sentence, format!("The app describes itself at {host}, and {expected}."));
    }
    receiver.respond_with([ScriptedResponse::WithHeader(
        302,
        "location",
        "https://169.254.169.254/",
    )]);
    assert!(refused(&fixture, url).await.contains("that could not be fetched"));
    for private in ["https://169.254.169.254/latest", "https://10.0.0.1/client.json"] {
        assert!(
            refused(&fixture, private).await.contains("that could not be fetched"),
            "{private}"
        );
    }
    assert_eq!(
        refused(&fixture, "https://app.example").await,
        "The app's address must have a path."
    );
}
