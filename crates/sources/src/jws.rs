//! Signed JSON (JWS in its compact form) of other servers: Plaid's webhooks, and the ID tokens of single sign-on. Only
//! signatures with a public key are known; `none` and shared secrets (HS256) are no algorithms here.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// A longer token is refused unread.
const LENGTH_MAX: usize = 32 * 1_024;
const KEY_ID_MAX: usize = 512;
/// The largest RSA modulus that is accepted, in bytes.
const MODULUS_MAX: usize = 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    fn parse(name: &str) -> Option<Algorithm> {
        match name {
            "RS256" => Some(Algorithm::Rs256),
            "ES256" => Some(Algorithm::Es256),
            // RFC 9864 calls the same algorithm by its curve.
            "EdDSA" | "Ed25519" => Some(Algorithm::EdDsa),
            _ => None,
        }
    }
}

/// The header of a token: what it says about its signature, before that is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub algorithm: Algorithm,
    pub key_id: Option<String>,
}

#[derive(Deserialize)]
struct RawHeader {
    alg: String,
    kid: Option<String>,
    /// Extensions that a reader must understand. None are known here.
    crit: Option<IgnoredAny>,
}

/// Reads the header of a token; none if the token is malformed or its algorithm is not one of ours.
pub fn header(token: &str) -> Option<Header> {
    let first = token.split('.').next().filter(|_| token.len() <= LENGTH_MAX)?;
    let raw: RawHeader = decode_json(first)?;
    let is_short = raw.kid.as_ref().is_none_or(|it| (1..=KEY_ID_MAX).contains(&it.len()));
    if raw.crit.is_some() || !is_short {
        return None;
    }
    Some(Header { algorithm: Algorithm::parse(&raw.alg)?, key_id: raw.kid })
}

/// A public key, which belongs to one algorithm. That the key decides the algorithm, and not the token, is what keeps a
/// forger from choosing one that fits them.
#[derive(Debug, Clone)]
pub struct PublicKey {
    pub key_id: Option<String>,
    pub algorithm: Algorithm,
    material: Material,
}

#[derive(Debug, Clone)]
enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point of P-256, uncompressed, or a key of Ed25519.
    Curve(Vec<u8>),
}

/// A key as JSON (RFC 7517).
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl PublicKey {
    /// Reads a key from JSON; none if it is no key for signatures with one of our algorithms.
    pub fn from_jwk(value: serde_json::Value) -> Option<PublicKey> {
        let jwk: Jwk = serde_json::from_value(value).ok()?;
        if jwk.purpose.as_deref().is_some_and(|it| it != "sig") {
            return None;
        }
        let (algorithm, material) = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => {
                let (modulus, exponent) = (bytes(jwk.n)?, bytes(jwk.e)?);
                let fits = (256..=MODULUS_MAX).contains(&modulus.len()) && exponent.len() <= 4;
                fits.then_some((Algorithm::Rs256, Material::Rsa { modulus, exponent }))?
            }
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(jwk.x)?, bytes(jwk.y)?);
                // An uncompressed point begins with 4.
                let point = [&[4][..], &x, &y].concat();
                (x.len() == 32 && y.len() == 32)
                    .then_some((Algorithm::Es256, Material::Curve(point)))?
            }
            ("OKP", Some("Ed25519")) => {
                let x = bytes(jwk.x)?;
                (x.len() == 32).then_some((Algorithm::EdDsa, Material::Curve(x)))?
            }
            _ => return None,
        };
        if jwk.alg.is_some_and(|it| Algorithm::parse(&it) != Some(algorithm)) {
            return None;
        }
        Some(PublicKey { key_id: jwk.kid, algorithm, material })
    }

    /// The claims of a token, if its signature was made with this key and its algorithm.
    pub fn verified<T: DeserializeOwned>(&self, token: &str) -> Option<T> {
        if header(token)?.algorithm != self.algorithm {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (_, claims) = signed.split_once('.').filter(|(_, it)| !it.contains('.'))?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let signed = signed.as_bytes();
        let verified = match (&self.material, self.algorithm) {
            (Material::Rsa { modulus, exponent }, _) => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, &signature)
            }
            (Material::Curve(key), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(signed, &signature)
            }
            (Material::Curve(key), _) => {
                UnparsedPublicKey::new(&ED25519, key).verify(signed, &signature)
            }
        };
        verified.ok()?;
        decode_json(claims)
    }
}

fn bytes(encoded: Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(encoded?.trim_end_matches('=')).ok()
}

fn decode_json<T: DeserializeOwned>(encoded: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The token and key of RFC 8037, appendix A.4 and A.2.
    const TOKEN: &str = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

    fn ed25519() -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" })
    }

    #[test]
    fn only_algorithms_with_a_public_key_are_known() {
        let token =
            |header: Value| format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header.to_string()));
        for (name, known) in [
            ("RS256", Some(Algorithm::Rs256)),
            ("ES256", Some(Algorithm::Es256)),
            ("EdDSA", Some(Algorithm::EdDsa)),
            ("Ed25519", Some(Algorithm::EdDsa)),
            ("none", None),
            ("None", None),
            ("", None),
            ("HS256", None),
            ("RS512", None),
        ] {
            let found = header(&token(json!({ "alg": name, "kid": "k" })));
            assert_eq!(found.map(|it| it.algorithm), known, "{name}");
        }
        assert!(header(&token(json!({ "alg": "RS256", "crit": ["b64"] }))).is_none());
        assert!(header(&token(json!({ "kid": "k" }))).is_none());
        let long = format!("{}{}", token(json!({ "alg": "RS256" })), "A".repeat(LENGTH_MAX));
        assert!(header(&long).is_none());
        for bad in ["", ".", "..", "x", "e30.e30.e30", "é.é.é"] {
            assert!(header(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_signature_counts_only_for_its_own_text_and_key() {
        let key = PublicKey::from_jwk(ed25519()).unwrap();
        // The payload of the example is no JSON, so a string that fails to parse is what is left of a right signature.
        let (signed, signature) = TOKEN.rsplit_once('.').unwrap();
        let raw = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let Material::Curve(point) = &key.material else { panic!("a curve") };
        let verify = |text: &str| {
            UnparsedPublicKey::new(&ED25519, point).verify(text.as_bytes(), &raw).is_ok()
        };
        assert!(verify(signed) && !verify(&signed.replace("RXh", "RXg")));
        assert!(key.verified::<Value>(TOKEN).is_none(), "no JSON");
    }

    #[test]
    fn keys_for_other_uses_or_of_odd_shapes_are_left_out() {
        let with = |name: &str, value: Value| {
            let mut key = ed25519();
            key[name] = value;
            PublicKey::from_jwk(key)
        };
        assert!(with("use", json!("sig")).is_some() && with("alg", json!("EdDSA")).is_some());
        for (name, value) in [
            ("use", json!("enc")),
            ("alg", json!("RS256")),
            ("crv", json!("X25519")),
            ("kty", json!("oct")),
            ("x", json!("AA")),
            ("x", json!("!")),
        ] {
            assert!(with(name, value.clone()).is_none(), "{name} {value}");
        }
        let rsa = |bytes: usize| {
            let n = URL_SAFE_NO_PAD.encode(vec![0xff; bytes]);
            PublicKey::from_jwk(json!({ "kty": "RSA", "n": n, "e": "AQAB" }))
        };
        assert!(rsa(256).is_some() && rsa(128).is_none() && rsa(1_025).is_none());
        assert!(PublicKey::from_jwk(json!("x")).is_none());
    }
}
