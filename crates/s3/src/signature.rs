//! AWS Signature Version 4: each request carries a signature over its method, path, query, some headers and the hash of
//! its body. The hash also makes the store refuse a body that was changed on the way.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use base::{Timestamp, percent_encode};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const SERVICE: &str = "s3";

/// The credentials and the region that signatures are made for. No `Debug`, so that the key is never logged.
#[derive(Clone)]
pub(crate) struct Signer {
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
    pub(crate) region: String,
}

/// The parts of a request that are signed.
pub(crate) struct Signed<'a> {
    pub(crate) method: &'static str,
    /// In percent-encoding, as it is sent.
    pub(crate) path: &'a str,
    /// In percent-encoding and sorted, as it is sent.
    pub(crate) query: &'a str,
    /// Lower-case names in alphabetical order.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body_sha256: &'a str,
}

impl Signer {
    /// The value of the Authorization header.
    pub(crate) fn authorization(&self, request: &Signed<'_>, at: Timestamp) -> String {
        let time = time(at);
        let day = &time[..8];
        let scope = format!("{day}/{}/{SERVICE}/aws4_request", self.region);
        let names: Vec<&str> = request.headers.iter().map(|it| it.0).collect();
        let names = names.join(";");
        let headers: String = request
            .headers
            .iter()
            .map(|(name, value)| format!("{name}:{}\n", value.trim()))
            .collect();
        let Signed { method, path, query, body_sha256, .. } = request;
        let canonical = format!("{method}\n{path}\n{query}\n{headers}\n{names}\n{body_sha256}");
        let text = format!("{ALGORITHM}\n{time}\n{scope}\n{}", sha256_hex(canonical.as_bytes()));
        let secret = format!("AWS4{}", self.secret_access_key);
        let key = [day, &self.region, SERVICE, "aws4_request"]
            .iter()
            .fold(secret.into_bytes(), |key, part| hmac_sha256(&key, part));
        let signature = hex(&hmac_sha256(&key, &text));
        format!(
            "{ALGORITHM} Credential={}/{scope},SignedHeaders={names},Signature={signature}",
            self.access_key_id
        )
    }
}

/// A time as signatures have it, `20130524T000000Z`.
pub(crate) fn time(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// A query in percent-encoding, sorted by name.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let mut pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value)))
        .collect();
    pairs.sort_unstable();
    pairs.join("&")
}

pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn hmac_sha256(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const HOST: (&str, &str) = ("host", "examplebucket.s3.amazonaws.com");
    const DATE: (&str, &str) = ("x-amz-date", "20130524T000000Z");

    /// The signature of a request, with the credentials of the examples in the documentation of Amazon S3.
    fn signature(signed: &Signed<'_>) -> String {
        let signer = Signer {
            access_key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            region: "us-east-1".to_owned(),
        };
        let header = signer.authorization(signed, "2013-05-24T00:00:00Z".parse().unwrap());
        let start = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
            SignedHeaders=";
        assert!(header.starts_with(start), "{header}");
        header.split_once("Signature=").unwrap().1.to_owned()
    }

    fn get<'a>(path: &'a str, query: &'a str, headers: &'a [(&'a str, &'a str)]) -> Signed<'a> {
        Signed { method: "GET", path, query, headers, body_sha256: EMPTY }
    }

    #[test]
    fn signatures_are_those_of_the_examples_that_amazon_published() {
        let hash = ("x-amz-content-sha256", EMPTY);
        assert_eq!(
            signature(&get("/test.txt", "", &[HOST, ("range", "bytes=0-9"), hash, DATE])),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        assert_eq!(
            signature(&get("/", &query(&[("lifecycle", "")]), &[HOST, hash, DATE])),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
        assert_eq!(
            signature(&get(
                "/",
                &query(&[("prefix", "J"), ("max-keys", "2")]),
                &[HOST, hash, DATE]
            )),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
        let body_sha256 = sha256_hex(b"Welcome to Amazon S3.");
        let headers = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            HOST,
            ("x-amz-content-sha256", &body_sha256),
            DATE,
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        let put = Signed {
            method: "PUT",
            path: "/test%24file.text",
            query: "",
            headers: &headers,
            body_sha256: &body_sha256,
        };
        assert_eq!(
            signature(&put),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
    }
}
