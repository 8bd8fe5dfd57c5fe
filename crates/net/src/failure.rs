//! Why a request failed: a sentence for people, and the error code that deliveries show.

/// Neither the sentence nor the code contains the resolved address: otherwise a user who chooses the URL could map the
/// network of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("the server did not answer in time")]
    Timeout,
    #[error("the host name could not be resolved")]
    Dns,
    #[error("the server could not be reached")]
    Connect,
    #[error("the TLS certificate must be valid for the host and come from a trusted authority")]
    Tls,
    #[error("the host has an address that is not public")]
    BlockedAddress,
    #[error("the server answered with a redirect, and redirects are not followed")]
    Redirect,
    #[error("the response is too large")]
    BodyTooLarge,
    #[error("the connection broke before the response was complete")]
    Broken,
    #[error(
        "the URL must look like https://example.com/hooks: an ASCII host name, at most 2048 characters, no user name or password"
    )]
    BadUrl,
    #[error("the URL must begin with https://")]
    NotHttps,
    #[error("a header contains characters that are not allowed")]
    BadHeader,
}

impl Failure {
    /// The error code of a delivery that failed for this reason.
    pub fn code(self) -> &'static str {
        match self {
            Failure::Timeout => "timeout",
            Failure::Dns => "dns",
            Failure::Connect | Failure::Broken | Failure::BadHeader => "connect",
            Failure::Tls => "tls",
            Failure::BlockedAddress | Failure::BadUrl | Failure::NotHttps => "blocked_address",
            Failure::Redirect => "redirect",
            Failure::BodyTooLarge => "body_too_large",
        }
    }
}
