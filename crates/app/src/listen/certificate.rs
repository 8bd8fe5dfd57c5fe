//! The certificate of the receiver, made once and kept in the data directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::Config;
use crate::data_dir;

/// Host names that the certificate is valid for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The receiver's key, its certificate and the authority that signed it, readable by the owner only.
fn own_file(config: &Config) -> PathBuf {
    config.data_dir.join("listen.pem")
}

/// The authority's certificate, which the sending server has to trust.
pub(crate) fn authority_file(config: &Config) -> PathBuf {
    config.data_dir.join("listen-ca.pem")
}

/// Creates the files that do not exist yet.
pub(crate) fn prepare(config: &Config) -> Result<()> {
    data_dir::create(&config.data_dir)?;
    let path = own_file(config);
    if !path.exists() {
        data_dir::write_once(&path, make()?.as_bytes())?;
    }
    let text = read(&path)?;
    let last = text.rfind("-----BEGIN CERTIFICATE").with_context(|| damaged(&path))?;
    data_dir::write_private(&authority_file(config), &text.as_bytes()[last..])
}

pub(super) fn acceptor(config: &Config) -> Result<TlsAcceptor> {
    let path = own_file(config);
    let text = read(&path)?;
    let broken = || damaged(&path);
    let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).with_context(broken)?;
    let own = CertificateDer::from_pem_slice(text.as_bytes()).with_context(broken)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![own], key)
        .with_context(broken)?;
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(tls)))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn damaged(path: &Path) -> String {
    format!("{} is damaged; delete it to create a new one", path.display())
}

/// Creates an authority that signs this one certificate. Its key is not kept, so it can never sign another.
fn make() -> Result<String> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.distinguished_name.push(DnType::CommonName, "evenkeel listen");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let signed = authority.self_signed(&authority_key)?;
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate()?;
    let mut own = CertificateParams::new(NAMES.map(str::to_owned))?;
    own.distinguished_name.push(DnType::CommonName, "localhost");
    let own = own.signed_by(&key, &issuer)?;
    Ok([key.serialize_pem(), own.pem(), signed.pem()].concat())
}
