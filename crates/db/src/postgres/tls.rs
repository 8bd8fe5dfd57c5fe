//! TLS to PostgreSQL: the parameters `sslmode` and `sslrootcert` of a database URL.
//!
//! Every mode that encrypts also verifies: `require` means the same as `verify-full`. `verify-ca` does not check the
//! host name, for servers whose certificate names another host.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::percent_decode_str;
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

use crate::error::{Error, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tls {
    Off,
    /// Encrypted, with a certificate that is valid for the host. Trusts the authorities of the system, or of a file.
    Full(Option<PathBuf>),
    /// Encrypted, with a certificate from an authority of the file, for any host name.
    Authority(PathBuf),
}

/// The TLS parameters of a database URL, before they are checked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TlsParams {
    mode: Option<String>,
    roots: Option<String>,
}

/// Splits a database URL into the URL for the driver and its TLS parameters, not all of which the driver knows.
pub(super) fn split_tls_params(url: &str) -> (String, TlsParams) {
    // The user name and the password before the @ may contain any character, also a question mark.
    let host = url.find('@').map_or(0, |at| at + 1);
    let Some(query) = url[host..].find('?').map(|at| host + at) else {
        return (url.to_owned(), TlsParams::default());
    };
    let mut tls = TlsParams::default();
    let is_for_driver = |pair: &&str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "sslmode" => tls.mode = Some(decode(value)),
            "sslrootcert" => tls.roots = Some(decode(value)),
            _ => return true,
        }
        false
    };
    let rest: Vec<&str> = url[query + 1..].split('&').filter(is_for_driver).collect();
    let base = &url[..query];
    let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    (url, tls)
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

impl TlsParams {
    /// Decides how to connect. The default is encrypted and verified over a network, and plain on this machine, where
    /// many servers have a certificate that cannot be verified.
    pub(super) fn resolve(self, is_local: bool) -> Result<Tls, String> {
        let file = self.roots.filter(|it| it != "system").map(PathBuf::from);
        match (self.mode.as_deref(), file) {
            (None | Some("prefer"), None) if is_local => Ok(Tls::Off),
            (Some("disable"), _) => Ok(Tls::Off),
            (None | Some("prefer" | "require" | "verify-full"), file) => Ok(Tls::Full(file)),
            (Some("verify-ca"), Some(file)) => Ok(Tls::Authority(file)),
            (Some("verify-ca"), None) => {
                Err("has sslmode=verify-ca, which needs sslrootcert=FILE: \
                 without it, any certificate of a public authority would be accepted"
                    .to_owned())
            }
            (Some(_), _) => Err("has an unknown sslmode; it must be disable, prefer, require, \
                 verify-ca or verify-full"
                .to_owned()),
        }
    }
}

impl Tls {
    /// The TLS connector; none for a plain connection.
    pub(super) fn connector(&self) -> Result<Option<MakeRustlsConnect>> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(setup_failed)?;
        let builder = match self {
            Tls::Off => return Ok(None),
            Tls::Full(None) => builder.with_platform_verifier().map_err(setup_failed)?,
            Tls::Full(Some(file)) => builder.with_root_certificates(roots(file)?),
            Tls::Authority(file) => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyHost::new(roots(file)?, provider)?)),
        };
        Ok(Some(MakeRustlsConnect::new(builder.with_no_client_auth())))
    }
}

fn setup_failed(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("setting up TLS: {error}"))
}

fn roots(file: &Path) -> Result<RootCertStore> {
    let unreadable = |reason: String| {
        Error::unavailable(format!(
            "the certificate file {} (sslrootcert) cannot be used: {reason}",
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
        return Err(unreadable("it contains no certificate".to_owned()));
    }
    Ok(roots)
}

/// Verifies everything about a certificate except the host name.
#[derive(Debug)]
struct AnyHost(Arc<WebPkiServerVerifier>);

impl AnyHost {
    fn new(roots: RootCertStore, provider: Arc<CryptoProvider>) -> Result<AnyHost> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        verifier.build().map(AnyHost).map_err(setup_failed)
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
            // The verifier checks the name last, so the chain is valid here.
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

    fn resolve(url: &str, is_local: bool) -> Result<Tls, String> {
        split_tls_params(url).1.resolve(is_local)
    }

    #[test]
    fn tls_parameters_are_removed_from_the_url() {
        let (url, tls) = split_tls_params(
            "postgres://a:b?sslmode=x@h/d?sslmode=verify-ca&options=-c&\
                                      sslrootcert=%2Fetc%2Fmy%20ca.pem",
        );
        assert_eq!(url, "postgres://a:b?sslmode=x@h/d?options=-c");
        let file = PathBuf::from("/etc/my ca.pem");
        assert_eq!(tls.resolve(false), Ok(Tls::Authority(file)));
        let (url, tls) = split_tls_params("postgres://h/d?sslmode=disable");
        assert_eq!((url.as_str(), tls.resolve(false)), ("postgres://h/d", Ok(Tls::Off)));
        assert_eq!(split_tls_params("postgres://h/d").0, "postgres://h/d");
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
            assert_eq!(resolve(&url, false), Ok(over_network), "{query}");
            assert_eq!(resolve(&url, true), Ok(here), "{query}");
        }
        for wrong in ["verify-ca", "allow", "verify_full", ""] {
            assert!(resolve(&format!("postgres://h/d?sslmode={wrong}"), true).is_err(), "{wrong}");
        }
    }
}
