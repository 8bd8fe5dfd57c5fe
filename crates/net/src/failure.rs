//! Why no usable answer came, in a sentence for people and in the one word that deliveries show.

/// Neither the sentence nor the word tells which address a name led to: whoever chose the name
/// could otherwise map the network that this program stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("no answer came in time")]
    Timeout,
    #[error("the name of the host was not found")]
    Dns,
    #[error("no connection could be made")]
    Connect,
    #[error("the certificate must be valid for the host and come from a trusted authority")]
    Tls,
    #[error("the host has an address that is not public")]
    BlockedAddress,
    #[error("the answer leads elsewhere, and redirects are not followed")]
    Redirect,
    #[error("the answer is larger than is let in")]
    BodyTooLarge,
    #[error("the connection broke before the whole answer came")]
    Broken,
    #[error(
        "the URL must look like https://example.com/hooks: a host in plain letters, at most 2048 characters, no user name or password"
    )]
    BadUrl,
    #[error("the URL must begin with https://")]
    NotHttps,
    #[error("a header holds characters that cannot be sent")]
    BadHeader,
}

impl Failure {
    /// The word for it in the list of deliveries.
    pub fn word(self) -> &'static str {
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
