//! TLS configuration: trusted authorities and offered protocols.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
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
    pub(crate) fn new(extra_ca: Option<&[u8]>) -> Result<Tls, SetupError> {
        let plain = config(verifier(extra_ca)?)?;
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

fn config(verifier: Arc<Verifier>) -> Result<ClientConfig, SetupError> {
    // rustls calls any custom verifier dangerous; this one checks chain, name and validity as usual.
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(setup_failed)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(config)
}
