//! TLS to PostgreSQL: what each `sslmode` verifies.

use std::path::Path;

use db::{Db, Target};
use testkit::{TlsPostgres, receiver};

async fn open(host: &str, query: &str, roots: Option<&Path>) -> Result<Db, String> {
    let server = TlsPostgres::start().await;
    let roots = roots.map_or(String::new(), |it| format!("&sslrootcert={}", it.display()));
    let url = format!("postgres://me:secret@{host}:{}/x?sslmode={query}{roots}", server.port);
    let target = Target::postgres(&url)?;
    let opened = Db::open(&target).await;
    opened.map_err(|error| {
        let message = format!("{error} {error:?}");
        assert!(!message.contains("secret"), "{message}");
        message
    })
}

#[tokio::test]
async fn each_sslmode_verifies_what_it_documents() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (folder.path().join("own.pem"), folder.path().join("other.pem"));
    std::fs::write(&own, receiver::authority()).unwrap();
    std::fs::write(&other, receiver::another_authority()).unwrap();
    for (host, mode, roots, fits) in [
        ("localhost", "verify-full", Some(&own), true),
        ("localhost", "require", Some(&own), true),
        ("localhost", "verify-ca", Some(&own), true),
        // The certificate names another host.
        ("127.0.0.1", "verify-full", Some(&own), false),
        ("127.0.0.1", "require", Some(&own), false),
        ("127.0.0.1", "verify-ca", Some(&own), true),
        // The certificate comes from an authority that is not trusted.
        ("localhost", "verify-full", Some(&other), false),
        ("localhost", "verify-ca", Some(&other), false),
        ("localhost", "verify-full", None, false),
        ("localhost", "require", None, false),
        // This server accepts only TLS.
        ("localhost", "disable", Some(&own), false),
    ] {
        let opened = open(host, mode, roots.map(|it| it.as_path())).await;
        assert_eq!(opened.is_ok(), fits, "{host} {mode} {roots:?}: {:?}", opened.err());
    }
}

#[tokio::test]
async fn an_unusable_certificate_file_is_named_in_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "nothing").unwrap();
    for file in [empty, folder.path().join("missing.pem")] {
        let message = open("localhost", "verify-full", Some(&file)).await.err().unwrap();
        assert!(message.contains("sslrootcert") && message.contains(".pem"), "{message}");
    }
    let message = open("localhost", "verify-ca", None).await.err().unwrap();
    assert!(message.contains("needs sslrootcert"), "{message}");
    let message = open("localhost", "verify", None).await.err().unwrap();
    assert!(message.contains("verify-ca or verify-full"), "{message}");
}
