//! The provider's keys: three algorithms, and forgeries.

use std::sync::Arc;

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    Rs256,
    Es256,
    EdDsa,
}

#[derive(Clone)]
pub struct SigningKey {
    pub id: String,
    key: Key,
}

#[derive(Clone)]
enum Key {
    Rs256(Arc<RsaKeyPair>),
    Es256(Arc<EcdsaKeyPair>),
    EdDsa(Arc<Ed25519KeyPair>),
}

impl SigningKey {
    pub fn generate(kind: KeyKind, id: &str) -> SigningKey {
        let key = match kind {
            KeyKind::Rs256 => Key::Rs256(Arc::new(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())),
            KeyKind::Es256 => {
                let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
                Key::Es256(Arc::new(key))
            }
            KeyKind::EdDsa => Key::EdDsa(Arc::new(Ed25519KeyPair::generate().unwrap())),
        };
        SigningKey { id: id.to_owned(), key }
    }

    fn algorithm(&self) -> &'static str {
        match self.key {
            Key::Rs256(_) => "RS256",
            Key::Es256(_) => "ES256",
            Key::EdDsa(_) => "EdDSA",
        }
    }

    /// The public key, as providers publish it.
    pub fn jwk(&self) -> Value {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let mut jwk = match &self.key {
            Key::Rs256(key) => {
                // PKCS #1 of a key of 2,048 bits: the modulus has a fixed place, and the exponent is 65537.
                let der = key.public_key().as_ref();
                json!({ "kty": "RSA", "n": encode(&der[9..265]), "e": "AQAB" })
            }
            Key::Es256(key) => {
                let point = key.public_key().as_ref();
                let (x, y) = (encode(&point[1..33]), encode(&point[33..65]));
                json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y })
            }
            Key::EdDsa(key) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(key.public_key().as_ref()) })
            }
        };
        jwk["kid"] = self.id.clone().into();
        jwk["use"] = "sig".into();
        jwk["alg"] = self.algorithm().into();
        jwk
    }

    fn signature(&self, text: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.key {
            Key::Rs256(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).unwrap();
                signature
            }
            Key::Es256(key) => key.sign(&random, text).unwrap().as_ref().to_vec(),
            Key::EdDsa(key) => key.sign(text).as_ref().to_vec(),
        }
    }

    pub(super) fn sign(&self, claims: &Value) -> String {
        let header = json!({ "alg": self.algorithm(), "kid": self.id, "typ": "JWT" });
        self.sign_as(&header, claims)
    }

    /// Signs under any header.
    pub(super) fn sign_as(&self, header: &Value, claims: &Value) -> String {
        let text = unsigned(header, claims);
        let signature = self.signature(text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// A signature of another text.
    pub(super) fn sign_wrongly(&self, claims: &Value) -> String {
        let signed = self.sign(claims);
        let other = self.sign(&json!({ "sub": "somebody else" }));
        let (text, _) = signed.rsplit_once('.').unwrap();
        format!("{text}.{}", other.rsplit_once('.').unwrap().1)
    }

    /// A token that says that it is not signed.
    pub(super) fn leave_unsigned(&self, claims: &Value) -> String {
        format!("{}.", unsigned(&json!({ "alg": "none", "kid": self.id }), claims))
    }

    /// A token that is signed with what everybody knows: the public key.
    pub(super) fn sign_with_public_key(&self, claims: &Value) -> String {
        let text = unsigned(&json!({ "alg": "HS256", "kid": self.id }), claims);
        let public = match &self.key {
            Key::Rs256(key) => key.public_key().as_ref().to_vec(),
            Key::Es256(key) => key.public_key().as_ref().to_vec(),
            Key::EdDsa(key) => key.public_key().as_ref().to_vec(),
        };
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
    }

    /// A token without the id of its key.
    pub(super) fn sign_without_id(&self, claims: &Value) -> String {
        self.sign_as(&json!({ "alg": self.algorithm() }), claims)
    }
}

fn unsigned(header: &Value, claims: &Value) -> String {
    let [header, claims] = [header, claims].map(|it| URL_SAFE_NO_PAD.encode(it.to_string()));
    format!("{header}.{claims}")
}
