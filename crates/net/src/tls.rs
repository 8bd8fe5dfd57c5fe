//! Whom to believe, and what to offer to speak.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::Verifier;
use tokio_rustls::TlsConnector;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("the file of certificate authorities must hold certificates in PEM")]
    NoCertificate,
    #[error("no certificate could be checked: {0}")]
    Tls(String),
}

/// Both remember sessions together, so that a second connection to a host is cheaper.
#[derive(Clone)]
pub(crate) struct Tls {
    /// Offers HTTP/1.1.
    pub(crate) one: TlsConnector,
    /// Offers HTTP/2 as well.
    pub(crate) any: TlsConnector,
}

impl Tls {
    pub(crate) fn new(extra_ca: Option<&[u8]>) -> Result<Tls, SetupError> {
        let extra = extra_ca.map(certificates).transpose()?;
        let mut one = config(extra.unwrap_or_default())?;
        one.alpn_protocols = vec![b"http/1.1".to_vec()];
        let mut any = one.clone();
        any.alpn_protocols.insert(0, b"h2".to_vec());
        Ok(Tls { one: Arc::new(one).into(), any: Arc::new(any).into() })
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.ok().filter(|it| !it.is_empty()).ok_or(SetupError::NoCertificate)
}

fn config(extra: Vec<CertificateDer<'static>>) -> Result<ClientConfig, SetupError> {
    let refused = |error: rustls::Error| SetupError::Tls(error.to_string());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, provider.clone()).map_err(refused)?;
    // Naming a verifier counts as dangerous; this one checks chain, name and time as usual.
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(refused)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(config)
}
