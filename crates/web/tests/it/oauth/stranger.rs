//! The whole OAuth flow over real connections with a third-party client library.

use std::future::Future;
use std::io;
use std::pin::Pin;

use oauth2::basic::{BasicClient, BasicErrorResponseType};
use oauth2::{
    AccessToken, AsyncHttpClient, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken,
    HttpRequest, HttpResponse, IntrospectionUrl, PkceCodeChallenge, RedirectUrl, RefreshToken,
    RequestTokenError, RevocationUrl, Scope, StandardRevocableToken, TokenIntrospectionResponse,
    TokenResponse, TokenUrl,
};
use serde_json::{Value, json};
use service::access::sessions::{self, Visit};
use testkit::World;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{REDIRECT_URI, encoded, query_value};

/// A minimal HTTP client that opens a connection for each request.
struct MinimalHttpClient;

impl<'c> AsyncHttpClient<'c> for MinimalHttpClient {
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<HttpResponse>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(send(request))
    }
}

async fn send(request: HttpRequest) -> io::Result<HttpResponse> {
    let (parts, body) = request.into_parts();
    let host = parts.uri.authority().unwrap().as_str();
    let path = parts.uri.path_and_query().unwrap();
    let mut text = format!("{} {path} HTTP/1.1\r\nhost: {host}\r\n", parts.method);
    text += &format!("connection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in &parts.headers {
        text += &format!("{name}: {}\r\n", value.to_str().unwrap());
    }
    let mut stream = TcpStream::connect(host).await?;
    stream.write_all(format!("{text}\r\n").as_bytes()).await?;
    stream.write_all(&body).await?;
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await?;
    let end = received.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(received[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let mut response = http::Response::builder().status(status);
    for (name, value) in lines.filter_map(|it| it.split_once(": ")) {
        response = response.header(name, value);
    }
    Ok(response.body(received[end + 4..].to_vec()).unwrap())
}

async fn get(url: &str, headers: &[(&str, &str)]) -> HttpResponse {
    let mut request = http::Request::get(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(request.body(Vec::new()).unwrap()).await.unwrap()
}

async fn get_json(url: &str) -> Value {
    serde_json::from_slice(get(url, &[]).await.body()).unwrap()
}

async fn post(url: &str, media: &str, cookie: &str, body: String) -> HttpResponse {
    let request = http::Request::post(url).header("content-type", media).header("cookie", cookie);
    send(request.body(body.into_bytes()).unwrap()).await.unwrap()
}

/// Starts a server on a free port that ends with the test. Its public URL has https, which the library requires, as
/// behind a TLS proxy; `MinimalHttpClient` takes the place of the proxy.
async fn serve(world: &World) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let settings = web::Settings {
        public_url: url.clone(),
        oauth_registration: true,
        ..web::Settings::default()
    };
    let router = web::routers(world.app.clone(), settings).main;
    tokio::spawn(web::serve(
        listener,
        router,
        web::ServerLimits::default(),
        std::future::pending(),
    ));
    url
}

/// Opens the consent page, presses the allow button, and returns the redirect target.
async fn press_allow(url: &str, authorize_url: &str, cookie: &str) -> String {
    let shown = get(authorize_url, &[("cookie", cookie)]).await;
    assert_eq!(shown.status(), 200);
    let page = String::from_utf8(shown.into_body()).unwrap();
    let field = |name: &str| {
        let after = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap().1;
        after.split('"').next().unwrap().replace("&amp;", "&")
    };
    let (token, query) = (field("form_token"), field("asked"));
    let scopes = page.split("name=\"scope\" value=\"").skip(1);
    let scopes: Vec<&str> = scopes.filter_map(|it| it.split('"').next()).collect();
    let mut pairs = vec![("form_token", token.as_str()), ("asked", query.as_str())];
    pairs.push(("decision", "allow"));
    pairs.extend(scopes.iter().map(|it| ("scope", *it)));
    let form = "application/x-www-form-urlencoded";
    let answer = post(&format!("{url}/oauth/authorize"), form, cookie, encoded(&pairs)).await;
    assert_eq!(answer.status(), 303);
    answer.headers()["location"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_third_party_library_completes_the_whole_flow() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let method = sessions::Method::Password;
    let session = sessions::create(&world.app, &person.user, method, Visit::default()).await;
    let cookie = format!("__Host-evenkeel_session={}", session.unwrap());
    let url = serve(&world).await;

    let resource = get_json(&format!("{url}/.well-known/oauth-protected-resource")).await;
    let issuer = resource["authorization_servers"][0].as_str().unwrap();
    let server = get_json(&format!("{issuer}/.well-known/oauth-authorization-server")).await;
    let endpoint = |name: &str| server[format!("{name}_endpoint")].as_str().unwrap().to_owned();
    let metadata =
        json!({ "client_name": "Stranger", "redirect_uris": [REDIRECT_URI] }).to_string();
    let registered = post(&endpoint("registration"), "application/json", "", metadata).await;
    let registered: Value = serde_json::from_slice(registered.body()).unwrap();
    let text = |name: &str| registered[name].as_str().unwrap().to_owned();

    let client = BasicClient::new(ClientId::new(text("client_id")))
        .set_client_secret(ClientSecret::new(text("client_secret")))
        .set_auth_uri(AuthUrl::new(endpoint("authorization")).unwrap())
        .set_token_uri(TokenUrl::new(endpoint("token")).unwrap())
        .set_revocation_url(RevocationUrl::new(endpoint("revocation")).unwrap())
        .set_introspection_url(IntrospectionUrl::new(endpoint("introspection")).unwrap())
        .set_redirect_uri(RedirectUrl::new(REDIRECT_URI.to_owned()).unwrap());
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (authorize_url, state) = client
        .authorize_url(CsrfToken::new_random)
        .add_scope(Scope::new("accounts:read".to_owned()))
        .add_scope(Scope::new("profile:read".to_owned()))
        .add_extra_param("resource", format!("{url}/v1"))
        .set_pkce_challenge(challenge)
        .url();
    let location = press_allow(&url, authorize_url.as_str(), &cookie).await;
    assert_eq!(query_value(&location, "state"), *state.secret());
    assert_eq!(query_value(&location, "iss"), url);

    let code = AuthorizationCode::new(query_value(&location, "code"));
    let exchange = client.exchange_code(code).set_pkce_verifier(verifier);
    let first = exchange.request_async(&MinimalHttpClient).await.unwrap();
    assert_eq!(first.expires_in().unwrap().as_secs(), 900);
    let granted: Vec<&str> = first.scopes().unwrap().iter().map(|it| it.as_str()).collect();
    assert_eq!(granted, ["accounts:read", "profile:read"]);
    let ask = async |token: &AccessToken| {
        let bearer = format!("Bearer {}", token.secret());
        let answer = get(&format!("{url}/v1/accounts"), &[("authorization", &bearer)]).await;
        answer.status().as_u16()
    };
    assert_eq!(ask(first.access_token()).await, 200);

    let renew = async |token: &RefreshToken| {
        client.exchange_refresh_token(token).request_async(&MinimalHttpClient).await
    };
    let second = renew(first.refresh_token().unwrap()).await.unwrap();
    assert_eq!(ask(second.access_token()).await, 200);
    let introspection =
        client.introspect(second.access_token()).request_async(&MinimalHttpClient).await.unwrap();
    assert!(introspection.active());
    assert_eq!(introspection.sub(), Some(person.user.id.to_string().as_str()));

    let token: StandardRevocableToken = second.refresh_token().unwrap().into();
    client.revoke_token(token).unwrap().request_async(&MinimalHttpClient).await.unwrap();
    assert_eq!(ask(second.access_token()).await, 401);
    match renew(second.refresh_token().unwrap()).await {
        Err(RequestTokenError::ServerResponse(response)) => {
            assert_eq!(*response.error(), BasicErrorResponseType::InvalidGrant);
        }
        other => panic!("{other:?}"),
    }
}
