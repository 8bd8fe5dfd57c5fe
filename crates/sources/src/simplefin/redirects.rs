//! Sends a request and follows up to five redirects. Each target is checked by the HTTP client's address guard, and
//! credentials are only sent to their own origin.

use std::time::Duration;

use net::{Failure, HttpClient, HttpRequest, HttpResponse, Limits};

use super::SimplefinError;
use super::address::Parts;

const MOST_REDIRECTS: usize = 5;
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Clone, Copy)]
pub(super) struct BoundedRequest {
    /// The timeout for all redirects together.
    pub(super) within: Duration,
    pub(super) body_max: usize,
}

impl BoundedRequest {
    pub(super) async fn post(
        self,
        client: &HttpClient,
        url: &str,
    ) -> Result<HttpResponse, SimplefinError> {
        self.send(client, url.to_owned(), None, true).await
    }

    pub(super) async fn get(
        self,
        client: &HttpClient,
        url: String,
        authorization: String,
    ) -> Result<HttpResponse, SimplefinError> {
        self.send(client, url, Some(authorization), false).await
    }

    async fn send(
        self,
        client: &HttpClient,
        url: String,
        authorization: Option<String>,
        posts: bool,
    ) -> Result<HttpResponse, SimplefinError> {
        let steps = self.follow_redirects(client, url, authorization, posts);
        let ended = tokio::time::timeout(self.within, steps).await;
        ended.unwrap_or(Err(SimplefinError::Unreachable(Failure::Timeout)))
    }

    async fn follow_redirects(
        self,
        client: &HttpClient,
        mut url: String,
        mut authorization: Option<String>,
        mut posts: bool,
    ) -> Result<HttpResponse, SimplefinError> {
        let limits = Limits { connect: CONNECT, total: self.within, body_max: self.body_max };
        for _ in 0..=MOST_REDIRECTS {
            let mut request = match posts {
                true => HttpRequest::post(url.as_str(), "").header("content-length", "0"),
                false => HttpRequest::get(url.as_str()),
            };
            if let Some(authorization) = &authorization {
                request = request
                    .header("accept", "application/json")
                    .header("authorization", authorization.as_str());
            }
            let reply = client.send(request, limits).await.map_err(SimplefinError::from_failure)?;
            let further = match reply.status {
                301 | 302 | 303 | 307 | 308 => reply.header("location"),
                _ if reply.truncated => return Err(SimplefinError::TooLarge),
                _ => return Ok(reply),
            };
            let further = further.and_then(|it| joined(&url, it));
            let further = further.ok_or(SimplefinError::InvalidResponse(
                "its redirect cannot be followed".to_owned(),
            ))?;
            if origin(&further) != origin(&url) {
                authorization = None;
            }
            posts &= reply.status != 303;
            url = further;
        }
        Err(SimplefinError::InvalidResponse("it leads elsewhere again and again".to_owned()))
    }
}

fn origin(url: &str) -> Option<String> {
    let origin = Parts::of(url)?.origin();
    let default = if origin.starts_with("https") { ":443" } else { ":80" };
    Some(origin.strip_suffix(default).map(str::to_owned).unwrap_or(origin))
}

/// The target of a redirect from `url`. None if it is not a URL, contains credentials, or would leave TLS.
fn joined(url: &str, location: &str) -> Option<String> {
    let base = Parts::of(url)?;
    let whole = if location.contains("://") && !location.starts_with(['/', '?']) {
        location.to_owned()
    } else if let Some(rest) = location.strip_prefix("//") {
        let scheme = if base.is_https() { "https" } else { "http" };
        format!("{scheme}://{rest}")
    } else {
        let path = base.path().split('?').next().unwrap_or_default();
        let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
        match location.chars().next() {
            Some('/') => format!("{}{location}", base.origin()),
            Some('?') => format!("{}{path}{location}", base.origin()),
            _ => format!("{}{folder}{location}", base.origin()),
        }
    };
    let target = Parts::of(&whole)?;
    let lesser = base.is_https() && !target.is_https();
    (!lesser && !target.has_user_info()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::{joined, origin};

    #[test]
    fn a_redirect_location_is_resolved_against_its_url() {
        let url = "https://a.example/one/two?x=1";
        for (location, expected) in [
            ("https://b.example/y", Some("https://b.example/y")),
            ("//b.example/y", Some("https://b.example/y")),
            ("/y?z=https://c.example", Some("https://a.example/y?z=https://c.example")),
            ("?y=2", Some("https://a.example/one/two?y=2")),
            ("three", Some("https://a.example/one/three")),
            ("http://a.example/one", None),
            ("https://user:pass@b.example/", None),
            ("ftp://b.example/", None),
            ("https://", None),
        ] {
            assert_eq!(joined(url, location).as_deref(), expected, "{location}");
        }
        assert_eq!(joined("https://a.example", "y").as_deref(), Some("https://a.example/y"));
        assert!(joined("http://a.example/", "http://b.example/").is_some());
    }

    #[test]
    fn origins_are_the_same_only_with_scheme_host_and_port() {
        assert_eq!(origin("https://A.example:443/x"), origin("https://a.example/y"));
        for other in ["http://a.example", "https://b.example", "https://a.example:444"] {
            assert_ne!(origin("https://a.example"), origin(other), "{other}");
        }
    }
}
