//! TLS configuration: trusted authorities and offered protocols.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio_rustls::TlsConnector;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("the file of certificate authorities must contain certificates in PEM format")]
    NoCertificate,
    #[error("TLS could not be set up: {0}")]
    Tls(String),
}

/// The connectors share a session cache, so that a second connection to a host is cheaper.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) http1: TlsConnector,
    pub(crate) http1_or_http2: TlsConnector,
    /// Without a protocol of HTTP, for mail.
    pub(crate) plain: TlsConnector,
}

impl Tls {
    /// Certificates must be valid for at least this much longer.
    pub(crate) fn new(extra_ca: Option<&[u8]>, validity: Duration) -> Result<Tls, SetupError> {
        let verifier = verifier(extra_ca)?;
        let plain = match validity.is_zero() {
            true => config(verifier)?,
            false => config(Arc::new(LaterVerifier { verifier, by: validity }))?,
        };
        let mut http1 = plain.clone();
        http1.alpn_protocols = vec![b"http/1.1".to_vec()];
        let mut http1_or_http2 = http1.clone();
        http1_or_http2.alpn_protocols.insert(0, b"h2".to_vec());
        Ok(Tls {
            http1: Arc::new(http1).into(),
            http1_or_http2: Arc::new(http1_or_http2).into(),
            plain: Arc::new(plain).into(),
        })
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.ok().filter(|it| !it.is_empty()).ok_or(SetupError::NoCertificate)
}

/// The verifier for the system's authorities and these. Verifiers are kept for the life of the process, because reading
/// the system's authorities takes longer than everything else that a client needs.
fn verifier(extra_ca: Option<&[u8]>) -> Result<Arc<Verifier>, SetupError> {
    static KEPT: Mutex<BTreeMap<Vec<u8>, Arc<Verifier>>> = Mutex::new(BTreeMap::new());
    let extra = extra_ca.map(certificates).transpose()?.unwrap_or_default();
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let key = extra_ca.unwrap_or_default();
    if let Some(verifier) = kept.get(key) {
        return Ok(verifier.clone());
    }
    let verifier = Verifier::new_with_extra_roots(extra, provider()).map_err(setup_failed)?;
    let verifier = Arc::new(verifier);
    kept.insert(key.to_vec(), verifier.clone());
    Ok(verifier)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

fn setup_failed(error: rustls::Error) -> SetupError {
    SetupError::Tls(error.to_string())
}

/// Checks certificates as the usual verifier will at a later time.
#[derive(Debug)]
struct LaterVerifier {
    verifier: Arc<Verifier>,
    by: Duration,
}

impl ServerCertVerifier for LaterVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let later = Duration::from_secs(now.as_secs()).saturating_add(self.by);
        let later = UnixTime::since_unix_epoch(later);
        self.verifier.verify_server_cert(certificate, intermediates, name, ocsp_response, later)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

fn config(verifier: Arc<dyn ServerCertVerifier>) -> Result<ClientConfig, SetupError> {
    // rustls calls any custom verifier dangerous; this one checks chain, name and validity as usual.
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(setup_failed)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(config)
}
