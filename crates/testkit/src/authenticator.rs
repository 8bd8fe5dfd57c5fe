//! A simulated passkey and browser: it creates real signatures, and sends false data where a test wants it to.

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Es256,
    EdDsa,
    Rs256,
}

enum Key {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(RsaKeyPair),
}

pub struct Authenticator {
    key: Key,
    pub credential_id: Vec<u8>,
    /// The signature counter; an authenticator that does not count stays at zero.
    pub counter: u32,
    /// User present 1, user verified 4. The flag for attested credential data is added where it applies.
    pub flags: u8,
    pub origin: String,
    pub cross_origin: bool,
    /// The relying party id to sign for; by default that of the request.
    pub site: Option<String>,
    user_handle: Vec<u8>,
}

impl Authenticator {
    pub fn new(kind: Kind, origin: &str, credential_id: &[u8]) -> Authenticator {
        let key = match kind {
            Kind::Es256 => {
                Key::Es256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap())
            }
            Kind::EdDsa => Key::EdDsa(Ed25519KeyPair::generate().unwrap()),
            Kind::Rs256 => Key::Rs256(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()),
        };
        Authenticator {
            key,
            credential_id: credential_id.to_vec(),
            counter: 0,
            flags: 0b101,
            origin: origin.to_owned(),
            cross_origin: false,
            site: None,
            user_handle: Vec::new(),
        }
    }

    /// The result of `navigator.credentials.create`.
    pub fn create(&mut self, options: &Value) -> Value {
        self.user_handle = decode(&options["user"]["id"]);
        let site = options["rp"]["id"].as_str().unwrap();
        let mut data = self.data(site, 0b100_0000);
        data.extend([0; 16]);
        data.extend((self.credential_id.len() as u16).to_be_bytes());
        data.extend(&self.credential_id);
        // The COSE key that would follow is not read by the product.
        data.push(0xa0);
        let id = encode(&self.credential_id);
        json!({
            "id": id, "rawId": id, "type": "public-key",
            "response": {
                "clientDataJSON": encode(&self.client_data("webauthn.create", options)),
                "authenticatorData": encode(&data),
                "publicKey": encode(&self.public_key()),
                "publicKeyAlgorithm": self.algorithm(),
                "transports": ["internal"],
            },
            "clientExtensionResults": {},
        })
    }

    /// The result of `navigator.credentials.get`.
    pub fn get(&self, options: &Value) -> Value {
        let data = self.data(options["rpId"].as_str().unwrap(), 0);
        let client_data = self.client_data("webauthn.get", options);
        let mut signed = data.clone();
        signed.extend(Sha256::digest(&client_data));
        let id = encode(&self.credential_id);
        json!({
            "id": id, "rawId": id, "type": "public-key",
            "response": {
                "clientDataJSON": encode(&client_data),
                "authenticatorData": encode(&data),
                "signature": encode(&self.sign(&signed)),
                "userHandle": encode(&self.user_handle),
            },
            "clientExtensionResults": {},
        })
    }

    fn data(&self, site: &str, more_flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest(self.site.as_deref().unwrap_or(site)).to_vec();
        data.push(self.flags | more_flags);
        data.extend(self.counter.to_be_bytes());
        data
    }

    fn client_data(&self, kind: &str, options: &Value) -> Vec<u8> {
        json!({
            "type": kind, "challenge": options["challenge"], "origin": self.origin,
            "crossOrigin": self.cross_origin,
        })
        .to_string()
        .into_bytes()
    }

    pub fn algorithm(&self) -> i64 {
        match &self.key {
            Key::Es256(_) => -7,
            Key::EdDsa(_) => -8,
            Key::Rs256(_) => -257,
        }
    }

    fn public_key(&self) -> Vec<u8> {
        let der: PublicKeyX509Der<'_> = match &self.key {
            Key::Es256(key) => key.public_key().as_der().unwrap(),
            Key::EdDsa(key) => key.public_key().as_der().unwrap(),
            Key::Rs256(key) => key.public_key().as_der().unwrap(),
        };
        der.as_ref().to_vec()
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.key {
            Key::Es256(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Key::EdDsa(key) => key.sign(message).as_ref().to_vec(),
            Key::Rs256(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(text: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text.as_str().unwrap()).unwrap()
}
