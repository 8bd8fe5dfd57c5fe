//! Why a store cannot be used, and what to do about it. `endpoint`, `region`, `bucket` and the keys are the names of
//! settings.

use net::Failure;

use crate::xml;

/// Text of a server that is shown: at most so many characters.
const SHOWN_CHARS: usize = 160;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the store at {endpoint} cannot be used: {failure}; check endpoint and the network")]
    Unreachable { endpoint: String, failure: Failure },
    #[error("the bucket {0} does not exist; create it, or correct bucket")]
    NoBucket(String),
    #[error("the object does not exist")]
    NotFound,
    #[error("the bucket is in the region {0}; set region to it")]
    OtherRegion(String),
    #[error("the bucket is at another address; check endpoint and region")]
    OtherAddress,
    #[error("the store does not know access_key_id; check it")]
    UnknownKey,
    #[error("the store refuses the signature; check secret_access_key and region")]
    BadSignature,
    #[error(
        "the clocks of this machine and of the store are too far apart; turn on time synchronization (NTP)"
    )]
    ClockSkew,
    #[error(
        "the key may not do this ({0}); allow it to list the bucket and to read, write and delete its objects"
    )]
    Denied(&'static str),
    #[error("the store refused to {action} (status {status}{detail})")]
    Refused { action: &'static str, status: u16, detail: String },
    #[error("the store answered {action} with something that is not S3; check endpoint")]
    Malformed { action: &'static str },
    #[error("the store lists more objects than Evenkeel reads; use a prefix of its own for them")]
    EndlessList,
    #[error("the object changed while it was read")]
    Changed,
    #[error("the object is larger than {0} parts")]
    TooLarge(usize),
    #[error("what was read back differs from what was written")]
    Differs,
    #[error("writing ended early, so nothing was stored")]
    Incomplete,
    #[error("bucket must be the name of a bucket: 3 to 63 letters, digits, dots and hyphens")]
    BadBucket,
    #[error("prefix must consist of letters, digits and -._/")]
    BadPrefix,
}

impl Error {
    /// The error in a response with a failing status.
    pub(crate) fn from_response(
        action: &'static str,
        bucket: &str,
        response: &net::HttpResponse,
    ) -> Error {
        let document = xml::parse(&response.body).filter(|it| it.name == "Error");
        let text = |name: &str| document.as_ref().and_then(|it| it.text_of(name));
        let code = text("Code").unwrap_or_default();
        let region = || text("Region").or_else(|| response.header("x-amz-bucket-region"));
        match (response.status, code) {
            (_, "NoSuchBucket") => Error::NoBucket(bucket.to_owned()),
            (_, "PermanentRedirect" | "TemporaryRedirect" | "AuthorizationHeaderMalformed")
            | (300..=399, _) => match region() {
                Some(region) => Error::OtherRegion(shown(region)),
                None => Error::OtherAddress,
            },
            (_, "InvalidAccessKeyId") => Error::UnknownKey,
            (_, "SignatureDoesNotMatch") => Error::BadSignature,
            (_, "RequestTimeTooSkewed" | "RequestExpired") => Error::ClockSkew,
            (401 | 403, "AccessDenied" | "") => Error::Denied(action),
            (404, "NoSuchKey" | "NoSuchUpload" | "NotFound" | "") => Error::NotFound,
            (412, _) => Error::Changed,
            (status, code) => {
                let message = text("Message").unwrap_or_default();
                let detail = match (code, message) {
                    ("", "") => String::new(),
                    _ => format!(": {} {}", shown(code), shown(message)).trim_end().to_owned(),
                };
                Error::Refused { action, status, detail }
            }
        }
    }
}

/// A server's text in one line, without characters that would control a terminal.
fn shown(text: &str) -> String {
    let plain = |it: char| if it.is_control() { ' ' } else { it };
    text.chars().take(SHOWN_CHARS).map(plain).collect()
}
