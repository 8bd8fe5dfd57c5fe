//! TLS to PostgreSQL: what `sslmode` and `sslrootcert` in an address mean.
//!
//! Every mode that encrypts also verifies: `require` means the same as `verify-full`. `verify-ca` leaves out the name of
//! the host, for servers whose certificate names another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Error, Result};

/// How a connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tls {
    Off,
    /// Encrypted, and the certificate is good for the host. By the system's authorities, or by those of a file.
    Full(Option<PathBuf>),
    /// Encrypted, and the certificate comes from an authority of the file, whatever host it names.
    Authority(PathBuf),
}

/// The TLS parameters of an address. They are removed from it, because the driver does not know all of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    mode: Option<String>,
    roots: Option<String>,
}

/// Parts an address into what the driver reads and what it says of TLS.
pub(crate) fn take_from(url: &str) -> (String, Asked) {
    // The user name and the password before the @ may hold any character, a question mark too.
    let host = url.find('@').map_or(0, |at| at + 1);
    let Some(query) = url[host..].find('?').map(|at| host + at) else {
        return (url.to_owned(), Asked::default());
    };
    let mut asked = Asked::default();
    let is_left = |pair: &&str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "sslmode" => asked.mode = Some(decoded(value)),
            "sslrootcert" => asked.roots = Some(decoded(value)),
            _ => return true,
        }
        false
    };
    let left: Vec<&str> = url[query + 1..].split('&').filter(is_left).collect();
    let address = &url[..query];
    let url =
        if left.is_empty() { address.to_owned() } else { format!("{address}?{}", left.join("&")) };
    (url, asked)
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let byte = digits.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Asked {
    /// Without a word from the operator: encrypted and verified over a network, plain on this machine, where many
    /// servers offer a certificate that nobody could verify.
    pub(crate) fn settle(self, is_local: bool) -> Result<Tls, String> {
        let file = self.roots.filter(|it| it != "system").map(PathBuf::from);
        match (self.mode.as_deref(), file) {
            (None | Some("prefer"), None) if is_local => Ok(Tls::Off),
            (Some("disable"), _) => Ok(Tls::Off),
            (None | Some("prefer" | "require" | "verify-full"), file) => Ok(Tls::Full(file)),
            (Some("verify-ca"), Some(file)) => Ok(Tls::Authority(file)),
            (Some("verify-ca"), None) => {
                Err("has sslmode=verify-ca, which needs sslrootcert=FILE: \
                 any certificate of a public authority would do otherwise"
                    .to_owned())
            }
            (Some(_), _) => Err("has an unknown sslmode; it must be disable, prefer, require, \
                 verify-ca or verify-full"
                .to_owned()),
        }
    }
}

impl Tls {
    /// How to speak to the server; none where it is spoken to in the clear.
    pub(crate) fn connector(&self) -> Result<Option<MakeRustlsConnect>> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(refused)?;
        let builder = match self {
            Tls::Off => return Ok(None),
            Tls::Full(None) => builder.with_platform_verifier().map_err(refused)?,
            Tls::Full(Some(file)) => builder.with_root_certificates(roots(file)?),
            Tls::Authority(file) => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyHost::new(roots(file)?, provider)?)),
        };
        Ok(Some(MakeRustlsConnect::new(builder.with_no_client_auth())))
    }
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("setting up TLS: {error}"))
}

fn roots(file: &Path) -> Result<RootCertStore> {
    let unreadable = |reason: String| {
        Error::unavailable(format!(
            "the file {} that sslrootcert names cannot be used: {reason}",
            file.display()
        ))
    };
    let mut roots = RootCertStore::empty();
    let read = CertificateDer::pem_file_iter(file).map_err(|it| unreadable(it.to_string()))?;
    for certificate in read {
        let certificate = certificate.map_err(|it| unreadable(it.to_string()))?;
        roots.add(certificate).map_err(|it| unreadable(it.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unreadable("there is no certificate in it".to_owned()));
    }
    Ok(roots)
}

/// Verifies everything about a certificate but the host that it names.
#[derive(Debug)]
struct AnyHost(Arc<WebPkiServerVerifier>);

impl AnyHost {
    fn new(roots: RootCertStore, provider: Arc<CryptoProvider>) -> Result<AnyHost> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        verifier.build().map(AnyHost).map_err(refused)
    }
}

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let verified =
            self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is looked at last, when the chain is known to be good.
            Err(rustls::Error::InvalidCertificate(
                NotValidForName | NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(url: &str, is_local: bool) -> Result<Tls, String> {
        take_from(url).1.settle(is_local)
    }

    #[test]
    fn what_is_said_of_tls_is_taken_out_of_the_address() {
        let (url, asked) = take_from(
            "postgres://a:b?sslmode=x@h/d?sslmode=verify-ca&options=-c&\
                                      sslrootcert=%2Fetc%2Fmy%20ca.pem",
        );
        assert_eq!(url, "postgres://a:b?sslmode=x@h/d?options=-c");
        let file = PathBuf::from("/etc/my ca.pem");
        assert_eq!(asked.settle(false), Ok(Tls::Authority(file)));
        let (url, asked) = take_from("postgres://h/d?sslmode=disable");
        assert_eq!((url.as_str(), asked.settle(false)), ("postgres://h/d", Ok(Tls::Off)));
        assert_eq!(take_from("postgres://h/d").0, "postgres://h/d");
    }

    #[test]
    fn every_mode_that_encrypts_verifies_too() {
        let file = || Some(PathBuf::from("/ca"));
        for (query, over_network, here) in [
            ("", Tls::Full(None), Tls::Off),
            ("?sslmode=prefer", Tls::Full(None), Tls::Off),
            ("?sslmode=require", Tls::Full(None), Tls::Full(None)),
            ("?sslmode=verify-full", Tls::Full(None), Tls::Full(None)),
            ("?sslmode=verify-full&sslrootcert=system", Tls::Full(None), Tls::Full(None)),
            ("?sslrootcert=/ca", Tls::Full(file()), Tls::Full(file())),
            ("?sslmode=verify-full&sslrootcert=/ca", Tls::Full(file()), Tls::Full(file())),
            ("?sslmode=disable&sslrootcert=/ca", Tls::Off, Tls::Off),
        ] {
            let url = format!("postgres://h/d{query}");
            assert_eq!(settled(&url, false), Ok(over_network), "{query}");
            assert_eq!(settled(&url, true), Ok(here), "{query}");
        }
        for wrong in ["verify-ca", "allow", "verify_full", ""] {
            assert!(settled(&format!("postgres://h/d?sslmode={wrong}"), true).is_err(), "{wrong}");
        }
    }
}
