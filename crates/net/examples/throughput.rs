//! How many requests a second go out over TLS to a receiver on this machine, and what each costs:
//! `cargo run --release -p net --example throughput`. Both sides run in this process, on threads of
//! their own, so that the time of each is known (on Linux).
#![expect(clippy::unwrap_used, reason = "a failed step of a measurement should panic")]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt as _, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use net::{Guard, HttpClient, HttpRequest, Limits, Policy};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

const AT_ONCE: usize = 32;
const BODY: &[u8] = &[b'x'; 400];
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), total: Duration::from_secs(15), body_max: 64 * 1024 };

/// Thread names, by which the kernel tells their time apart.
const SENDER: &str = "sender";
const RECEIVER: &str = "receiver";

fn main() {
    let (sender, receiver) = (runtime(SENDER), runtime(RECEIVER));
    println!("{AT_ONCE} at a time; CPU in microseconds for each request, ours and the receiver's");
    println!(
        "{:<10}{:>8}{:>12}{:>8}{:>10}{:>10}",
        "", "scopes", "a second", "ours", "theirs", "ratio"
    );
    for offer in ["http/1.1", "h2"] {
        let (port, pem) = receiver.block_on(listen(offer));
        let policy = Policy { guard: Guard::Any, extra_ca: Some(pem.into_bytes()) };
        let client = HttpClient::new(policy).unwrap();
        let alone = measure(&sender, &client, port, 0, 3_000);
        for (scopes, figures) in [
            (0, alone),
            (1, measure(&sender, &client, port, 1, 40_000)),
            (10, measure(&sender, &client, port, 10, 40_000)),
        ] {
            let ratio = alone.ours * 10 / figures.ours.max(1);
            println!(
                "{:<10}{:>8}{:>12}{:>8}{:>10}{:>8}.{}",
                if scopes == 0 { "no reuse" } else { offer },
                scopes,
                figures.per_second,
                figures.ours,
                figures.theirs,
                ratio / 10,
                ratio % 10
            );
        }
    }
}

#[derive(Clone, Copy)]
struct Figures {
    per_second: u128,
    ours: u128,
    theirs: u128,
}

fn measure(
    sender: &Runtime,
    client: &HttpClient,
    port: u16,
    scopes: usize,
    requests: usize,
) -> Figures {
    sender.block_on(send(client, port, scopes, requests / 10));
    let (ours, theirs) = (busy(SENDER), busy(RECEIVER));
    let began = Instant::now();
    sender.block_on(send(client, port, scopes, requests));
    let (took, requests) = (began.elapsed().as_micros(), requests as u128);
    Figures {
        per_second: requests * 1_000_000 / took,
        ours: (busy(SENDER) - ours) / requests / 1_000,
        theirs: (busy(RECEIVER) - theirs) / requests / 1_000,
    }
}

async fn send(client: &HttpClient, port: u16, scopes: usize, requests: usize) {
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (client, next) = (client.clone(), next.clone());
        workers.spawn(async move {
            loop {
                let place = next.fetch_add(1, Relaxed);
                if place >= requests {
                    return;
                }
                let asked = HttpRequest::post(format!("https://localhost:{port}/hooks"), BODY)
                    .header("content-type", "application/json")
                    .header("webhook-id", format!("evt_{place:026}"))
                    .header("webhook-timestamp", "1767225600")
                    .header("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=");
                let asked = match scopes {
                    0 => asked,
                    _ => asked.pooled(format!("scope {}", place % scopes)),
                };
                assert_eq!(client.send(asked, LIMITS).await.unwrap().status, 200);
            }
        });
    }
    workers.join_all().await;
}

fn runtime(name: &str) -> Runtime {
    Builder::new_multi_thread().worker_threads(2).thread_name(name).enable_all().build().unwrap()
}

/// How long threads of this name have been running, in nanoseconds.
fn busy(name: &str) -> u128 {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return 0 };
    let named = tasks
        .filter_map(|it| it.ok().map(|it| it.path()))
        .filter(|it| fs::read_to_string(it.join("comm")).is_ok_and(|comm| comm.trim_end() == name));
    let spent = named.filter_map(|it| fs::read_to_string(it.join("schedstat")).ok());
    spent.filter_map(|it| it.split(' ').next()?.parse::<u128>().ok()).sum()
}

async fn listen(offer: &str) -> (u16, String) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![offer.as_bytes().to_vec(), b"http/1.1".to_vec()];
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config))));
    (port, cert.pem())
}

async fn serve(listener: TcpListener, tls: TlsAcceptor) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let tls = tls.clone();
        tokio::spawn(async move {
            let service = service_fn(|request: http::Request<hyper::body::Incoming>| async {
                request.into_body().collect().await?;
                Ok::<_, hyper::Error>(Response::new(Full::new(Bytes::from_static(b"ok"))))
            });
            if let Ok(stream) = tls.accept(stream).await {
                let server = auto::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            }
        });
    }
}
