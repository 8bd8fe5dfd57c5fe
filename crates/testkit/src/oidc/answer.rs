//! Answers the requests of the simulated provider.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::signing::{KeyKind, SigningKey};
use super::{Code, Deviation, OidcProvider, State, pairs};
use crate::tls_server::{self, Answer};

const OVERSIZE: usize = 4 << 20;

pub(super) async fn answer(provider: &OidcProvider, request: Request<Incoming>) -> Answer {
    let header = request.headers().get("authorization").and_then(|it| it.to_str().ok());
    let authorization = header.unwrap_or_default().to_owned();
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    let body = String::from_utf8_lossy(&body).into_owned();
    let mut state = provider.state();
    state.requests.push(path.clone());
    match state.deviation {
        Some(Deviation::Oversized(it)) if it == path => {
            return tls_server::json(200, format!("{{\"x\":\"{}\"}}", "x".repeat(OVERSIZE)));
        }
        Some(Deviation::Garbage(it)) if it == path => {
            return tls_server::json(200, "<html>".to_owned());
        }
        Some(Deviation::Redirect(it)) if it == path => {
            let elsewhere = format!("{}/elsewhere", provider.issuer);
            let response = Response::builder().status(302).header("location", elsewhere);
            return response.body(Full::new(Bytes::new())).map_err(io::Error::other);
        }
        _ => {}
    }
    let (status, value) = match path.as_str() {
        "/.well-known/openid-configuration" => (200, metadata(provider, &state)),
        "/keys" => (200, json!({ "keys": state.published })),
        "/token" => match token(provider, &mut state, &authorization, &body) {
            Ok(answer) => (200, answer),
            Err(error) => (400, json!({ "error": error })),
        },
        "/userinfo" => match authorization.strip_prefix("Bearer ") {
            Some(token) if state.access_tokens.contains_key(token) => {
                (200, profile(&state, &state.access_tokens[token]))
            }
            _ => (401, json!({ "error": "invalid_token" })),
        },
        _ => (404, json!({ "error": "not_found" })),
    };
    tls_server::json(status, value.to_string())
}

fn metadata(provider: &OidcProvider, state: &State) -> Value {
    let issuer = &provider.issuer;
    let named = match state.deviation {
        Some(Deviation::OtherMetadata) => "https://evil.example",
        _ => issuer.as_str(),
    };
    json!({
        "issuer": named,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "userinfo_endpoint": format!("{issuer}/userinfo"),
        "authorization_response_iss_parameter_supported": true,
        "code_challenge_methods_supported": ["S256"],
    })
}

fn profile(state: &State, claims: &Value) -> Value {
    let mut profile = claims.clone();
    if state.deviation == Some(Deviation::OtherProfile) {
        profile["sub"] = "somebody-else".into();
    }
    profile
}

fn token(
    provider: &OidcProvider,
    state: &mut State,
    authorization: &str,
    body: &str,
) -> Result<Value, &'static str> {
    if client(authorization)
        != Some((OidcProvider::CLIENT_ID.to_owned(), OidcProvider::CLIENT_SECRET.to_owned()))
    {
        return Err("invalid_client");
    }
    let fields = pairs(body);
    let field = |name: &str| {
        let found = fields.iter().find(|(it, _)| it == name);
        found.map(|(_, it)| it.as_str()).unwrap_or_default()
    };
    if field("grant_type") != "authorization_code" {
        return Err("unsupported_grant_type");
    }
    let is_careless = state.deviation == Some(Deviation::CarelessCodes);
    let code = state.codes.get_mut(field("code")).ok_or("invalid_grant")?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier")));
    let is_right =
        !code.is_used && code.challenge == challenge && code.redirect_uri == field("redirect_uri");
    if !is_right && !is_careless {
        return Err("invalid_grant");
    }
    code.is_used = true;
    let code = code.clone();
    state.made += 1;
    let access_token = format!("access-{}", state.made);
    state.access_tokens.insert(access_token.clone(), code.claims.clone());
    let mut answer = json!({ "token_type": "Bearer", "access_token": access_token });
    if state.deviation != Some(Deviation::NoIdToken) {
        answer["id_token"] = id_token(provider, state, &code).into();
    }
    Ok(answer)
}

/// The client's id and secret, from the header.
fn client(authorization: &str) -> Option<(String, String)> {
    let basic = STANDARD.decode(authorization.strip_prefix("Basic ")?).ok()?;
    let basic = String::from_utf8(basic).ok()?;
    let (id, secret) = basic.split_once(':')?;
    let decode = |it: &str| Some(percent_decode_str(it).decode_utf8().ok()?.into_owned());
    Some((decode(id)?, decode(secret)?))
}

fn id_token(provider: &OidcProvider, state: &State, code: &Code) -> String {
    let now = provider.clock.now().as_second();
    let mut claims = match state.has_short_tokens {
        true => json!({ "sub": code.claims["sub"] }),
        false => code.claims.clone(),
    };
    claims["iss"] = provider.issuer.clone().into();
    claims["aud"] = OidcProvider::CLIENT_ID.into();
    claims["nonce"] = code.nonce.clone().into();
    claims["iat"] = now.into();
    claims["exp"] = (now + 300).into();
    let key = &state.signing;
    match state.deviation {
        Some(Deviation::WrongAudience) => claims["aud"] = "somebody-else".into(),
        Some(Deviation::SeveralAudiences) => {
            claims["aud"] = json!([OidcProvider::CLIENT_ID, "somebody-else"]);
        }
        Some(Deviation::OtherParty) => claims["azp"] = "somebody-else".into(),
        Some(Deviation::WrongNonce) => claims["nonce"] = "another".into(),
        Some(Deviation::NoNonce) => claims["nonce"] = Value::Null,
        Some(Deviation::Expired) => claims["exp"] = (now - 120).into(),
        Some(Deviation::FromTheFuture) => claims["iat"] = (now + 600).into(),
        Some(Deviation::OtherIssuer) => claims["iss"] = "https://evil.example".into(),
        Some(Deviation::NoSubject) => claims["sub"] = "".into(),
        Some(Deviation::AlgorithmNone) => return key.leave_unsigned(&claims),
        Some(Deviation::PublicKeyAsSecret) => return key.sign_with_public_key(&claims),
        Some(Deviation::WrongSignature) => return key.sign_wrongly(&claims),
        Some(Deviation::NoKeyId) => return key.sign_without_id(&claims),
        Some(Deviation::UnpublishedKey) => {
            return SigningKey::generate(KeyKind::Es256, "hidden").sign(&claims);
        }
        _ => {}
    }
    key.sign(&claims)
}
