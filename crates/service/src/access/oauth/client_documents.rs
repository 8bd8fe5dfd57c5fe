//! Client ID metadata documents: an app whose id is the address of a document that describes it, so that it need not
//! register (draft-ietf-oauth-client-id-metadata-document).

use std::time::Duration;

use net::{HttpRequest, Limits};
use serde::Deserialize;

use super::clients::{self, Client};
use super::redirects::Redirect;
use crate::{App, Result};

const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    total: Duration::from_secs(10),
    body_max: 64 * 1_024,
};
/// How long a fetched document is used before it is fetched again.
const FRESH_SECONDS: i64 = 3_600;
const URL_LENGTH_MAX: usize = 500;

/// The allowed source of a client document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DocumentSource {
    /// Only documents that were fetched before, because nobody is signed in.
    #[default]
    Stored,
    /// The app's own server, through the guarded HTTP client.
    Fetched,
}

/// The result of looking for the client of a document.
pub(super) enum DescribedClient {
    Found(Client),
    /// A sentence for the person on why the document cannot be used.
    Unusable(String),
}

/// Finds the client that a document describes.
pub(super) async fn find(app: &App, url: &str, source: DocumentSource) -> Result<DescribedClient> {
    use DescribedClient::{Found, Unusable};
    if let Err(why) = check_address(url) {
        return Ok(Unusable(format!("The app's address {why}.")));
    }
    let stored = clients::find_by_document(app, url).await?;
    let age = |client: &Client| app.clock.now().as_second() - client.registered_at.as_second();
    match stored {
        Some(client) if source == DocumentSource::Stored || age(&client) < FRESH_SECONDS => {
            Ok(Found(client))
        }
        None if source == DocumentSource::Stored => {
            Ok(Unusable("The app that sent you here is not known yet.".to_owned()))
        }
        _ => match fetch(app, url).await {
            Ok(document) => {
                let Document { client_name, redirects } = document;
                Ok(Found(clients::save_document(app, url, &client_name, redirects).await?))
            }
            Err(why) => {
                let host = Redirect::parse(url).map_or(String::new(), |it| it.host().to_owned());
                Ok(Unusable(format!("The app describes itself at {host}, and {why}.")))
            }
        },
    }
}

/// An address that two programs cannot read differently, with a path.
fn check_address(url: &str) -> Result<(), &'static str> {
    if url.len() > URL_LENGTH_MAX {
        return Err("is too long");
    }
    Redirect::parse(url)?;
    let rest = url.strip_prefix("https://").unwrap_or_default();
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    let path = path.split('?').next().unwrap_or_default();
    match path {
        "" => Err("must have a path"),
        path if path.split('/').any(|it| matches!(it, "." | "..")) => {
            Err("must not have dots as parts of its path")
        }
        _ => Ok(()),
    }
}

/// The parts of a document that are used.
struct Document {
    client_name: String,
    redirects: Vec<Redirect>,
}

async fn fetch(app: &App, url: &str) -> Result<Document, String> {
    let Some(client) = &app.document_client else {
        return Err("this server cannot fetch it without certificate authorities".to_owned());
    };
    let request = HttpRequest::get(url).header("accept", "application/json");
    let response = client.send(request, LIMITS).await;
    let response = response.map_err(|failure| format!("that could not be fetched ({failure})"))?;
    if let Some(failure) = response.failure() {
        return Err(format!("that could not be fetched ({failure})"));
    }
    if response.status != 200 {
        return Err(format!("that address answered {}", response.status));
    }
    read(url, &response.body)
}

#[derive(Deserialize)]
struct Metadata {
    client_id: String,
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
    client_secret: Option<serde::de::IgnoredAny>,
}

fn read(url: &str, body: &[u8]) -> Result<Document, String> {
    let invalid = |_| "what is there is no client metadata document".to_owned();
    let metadata: Metadata = serde_json::from_slice(body).map_err(invalid)?;
    if metadata.client_id != url {
        return Err("the client_id there is another one".to_owned());
    }
    let method = metadata.token_endpoint_auth_method.as_deref().unwrap_or("none");
    if method != "none" || metadata.client_secret.is_some() {
        return Err("it asks for a secret, which a document cannot have".to_owned());
    }
    let client_name = metadata.client_name.unwrap_or_default();
    if client_name.trim().is_empty() {
        return Err("it gives itself no name".to_owned());
    }
    let redirects = clients::parse_redirects(&metadata.redirect_uris);
    let redirects = redirects.map_err(|error| format!("there {}", error.message))?;
    Ok(Document { client_name, redirects })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_with_a_path_are_fetched() {
        for (url, expected) in [
            ("https://app.example/client.json", Ok(())),
            ("https://app.example/a?b=c", Ok(())),
            ("https://app.example", Err("must have a path")),
            ("https://app.example/", Err("must have a path")),
            ("https://app.example/a/../b", Err("must not have dots as parts of its path")),
        ] {
            assert_eq!(check_address(url), expected, "{url}");
        }
        for url in ["https://user@app.example/a", "https://app.example/a#b", "https:app.example/a"]
        {
            assert!(check_address(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_document_describes_the_app_at_its_own_address() {
        let url = "https://app.example/client.json";
        let read = |text: &str| match read(url, text.as_bytes()) {
            Ok(it) => format!("{} at {}", it.client_name, it.redirects[0].host()),
            Err(why) => why,
        };
        let good = r#"{"client_id":"https://app.example/client.json","client_name":"Lens","redirect_uris":["https://app.example/back"]}"#;
        assert_eq!(read(good), "Lens at app.example");
        assert_eq!(
            read(&good.replace("client.json", "other.json")),
            "the client_id there is another one"
        );
        assert_eq!(read(&good.replace("Lens", " ")), "it gives itself no name");
        assert_eq!(read("[]"), "what is there is no client metadata document");
        let secret = good.replace('{', r#"{"client_secret":"x","#);
        assert_eq!(read(&secret), "it asks for a secret, which a document cannot have");
        let none = good.replace("https://app.example/back", "http://app.example/back");
        assert!(
            read(&none).starts_with("there each of redirect_uris must use https"),
            "{}",
            read(&none)
        );
    }
}
