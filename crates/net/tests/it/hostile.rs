//! URLs and host names of attackers who try to reach internal addresses (SSRF).

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use net::Failure::{self, BadUrl, BlockedAddress, Dns, NotHttps};
use net::{Guard, HttpClient, HttpRequest, Policy};
use rustls::ServerConfig;

use crate::LIMITS;
use crate::receiver::Receiver;
use crate::server::Authority;

/// The addresses of the host names below.
fn lookup(name: &str) -> Vec<IpAddr> {
    let found: &[&str] = match name {
        "public.example" => &["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
        "localhost" | "db.localhost" | "127.0.0.1.nip.example" => &["127.0.0.1"],
        "localhost6" | "ip6-localhost" => &["::1"],
        "metadata" | "instance-data" | "metadata.google.internal" => &["169.254.169.254"],
        "metadata.azure.internal" => &["168.63.129.16"],
        "metadata.alibaba.example" => &["100.100.100.200"],
        "metadata6.example" => &["fd00:ec2::254"],
        "intranet" | "nas.local" | "vault.internal" => &["10.0.0.5"],
        "mixed.example" => &["93.184.215.14", "10.0.0.5"],
        "mixed6.example" => &["93.184.215.14", "::ffff:10.0.0.5"],
        "nat64.example" => &["64:ff9b::a00:5"],
        "6to4.example" => &["2002:a00:5::1"],
        "teredo.example" => &["2001:0:4136:e378:8000:63bf:f5ff:fffa"],
        "unspecified.example" => &["0.0.0.0"],
        "broadcast.example" => &["255.255.255.255"],
        _ => &[],
    };
    found.iter().map(|it| it.parse().unwrap()).collect()
}

const HOSTILE: [(&str, Failure); 119] = [
    // Numbers that other programs read as 127.0.0.1 or 169.254.169.254.
    ("https://2130706433/", BadUrl),
    ("https://2130706433:443/", BadUrl),
    ("https://2852039166/latest/meta-data/", BadUrl),
    ("https://017700000001/", BadUrl),
    ("https://0177.0.0.1/", BadUrl),
    ("https://0177.0.0.01/", BadUrl),
    ("https://0251.0376.0251.0376/", BadUrl),
    ("https://0x7f000001/", BadUrl),
    ("https://0X7F000001/", BadUrl),
    ("https://0x7f.0x0.0x0.0x1/", BadUrl),
    ("https://0x7f.1/", BadUrl),
    ("https://0xa9.0xfe.0xa9.0xfe/", BadUrl),
    ("https://0x/", BadUrl),
    ("https://127.1/", BadUrl),
    ("https://127.0.1/", BadUrl),
    ("https://10.1/", BadUrl),
    ("https://0/", BadUrl),
    ("https://127.0.0.1.1/", BadUrl),
    ("https://127.0.0.256/", BadUrl),
    ("https://4294967297/", BadUrl),
    ("https://99999999999999999999/", BadUrl),
    ("https://-1/", Dns),
    ("https://127.0.0.1e0/", Dns),
    // Plain addresses.
    ("https://127.0.0.1/", BlockedAddress),
    ("https://127.0.0.1./", BlockedAddress),
    ("https://127.255.255.254:8443/", BlockedAddress),
    ("https://0.0.0.0/", BlockedAddress),
    ("https://10.0.0.5/", BlockedAddress),
    ("https://172.16.0.1/", BlockedAddress),
    ("https://192.168.1.1/", BlockedAddress),
    ("https://100.64.0.1/", BlockedAddress),
    ("https://169.254.169.254/latest/meta-data/", BlockedAddress),
    ("https://169.254.170.2/v2/credentials", BlockedAddress),
    ("https://168.63.129.16/metadata", BlockedAddress),
    ("https://100.100.100.200/latest/meta-data/", BlockedAddress),
    ("https://192.0.0.192/opc/v2/", BlockedAddress),
    ("https://198.18.0.1/", BlockedAddress),
    ("https://203.0.113.1/", BlockedAddress),
    ("https://224.0.0.1/", BlockedAddress),
    ("https://255.255.255.255/", BlockedAddress),
    ("https://[::]/", BlockedAddress),
    ("https://[::1]/", BlockedAddress),
    ("https://[0:0:0:0:0:0:0:1]/", BlockedAddress),
    ("https://[0000:0000:0000:0000:0000:0000:0000:0001]:8443/", BlockedAddress),
    ("https://[fe80::1]/", BlockedAddress),
    ("https://[fec0::1]/", BlockedAddress),
    ("https://[fd00:ec2::254]/", BlockedAddress),
    ("https://[fd12:3456::1]/", BlockedAddress),
    ("https://[ff02::1]/", BlockedAddress),
    ("https://[2001:db8::1]/", BlockedAddress),
    // Embedded addresses: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP.
    ("https://[::ffff:127.0.0.1]/", BlockedAddress),
    ("https://[::ffff:7f00:1]/", BlockedAddress),
    ("https://[0:0:0:0:0:ffff:a9fe:a9fe]/", BlockedAddress),
    ("https://[::127.0.0.1]/", BlockedAddress),
    ("https://[::7f00:1]/", BlockedAddress),
    ("https://[::ffff:0:127.0.0.1]/", BlockedAddress),
    ("https://[64:ff9b::127.0.0.1]/", BlockedAddress),
    ("https://[64:ff9b::a9fe:a9fe]/", BlockedAddress),
    ("https://[64:ff9b:1::a9fe:a9fe]/", BlockedAddress),
    ("https://[2002:7f00:1::]/", BlockedAddress),
    ("https://[2002:a9fe:a9fe::1]/", BlockedAddress),
    ("https://[2001:0:4136:e378:8000:63bf:5601:5601]/", BlockedAddress),
    ("https://[fe80::5efe:a00:5]/", BlockedAddress),
    // Brackets and zones.
    ("https://[fe80::1%25eth0]/", BadUrl),
    ("https://[fe80::1%eth0]/", BadUrl),
    ("https://[::1%25lo]/", BadUrl),
    ("https://[::1", BadUrl),
    ("https://::1/", BadUrl),
    ("https://[127.0.0.1]/", BadUrl),
    ("https://[::1].example/", BadUrl),
    ("https://[[::1]]/", BadUrl),
    ("https://[v1.fe80::a+en1]/", BadUrl),
    ("https://[]/", BadUrl),
    // Names that resolve to internal addresses.
    ("https://localhost/", BlockedAddress),
    ("https://LOCALHOST/", BlockedAddress),
    ("https://localhost./", BlockedAddress),
    ("https://db.localhost/", BlockedAddress),
    ("https://localhost6/", BlockedAddress),
    ("https://ip6-localhost/", BlockedAddress),
    ("https://127.0.0.1.nip.example/", BlockedAddress),
    ("https://metadata/computeMetadata/v1/", BlockedAddress),
    ("https://metadata.google.internal./", BlockedAddress),
    ("https://metadata.azure.internal/", BlockedAddress),
    ("https://metadata.alibaba.example/", BlockedAddress),
    ("https://metadata6.example/", BlockedAddress),
    ("https://instance-data/", BlockedAddress),
    ("https://intranet/", BlockedAddress),
    ("https://nas.local/", BlockedAddress),
    ("https://vault.internal:8200/", BlockedAddress),
    ("https://mixed.example/", BlockedAddress),
    ("https://mixed6.example/", BlockedAddress),
    ("https://nat64.example/", BlockedAddress),
    ("https://6to4.example/", BlockedAddress),
    ("https://teredo.example/", BlockedAddress),
    ("https://unspecified.example/", BlockedAddress),
    ("https://broadcast.example/", BlockedAddress),
    ("https://nowhere.example/", Dns),
    // Hosts that look like others.
    ("https://public.example@127.0.0.1/", BadUrl),
    ("https://public.example:443@127.0.0.1/", BadUrl),
    ("https://127.0.0.1@public.example/", BadUrl),
    ("https://127.0.0.1%2f@public.example/", BadUrl),
    ("https://public.example\\@127.0.0.1/", BadUrl),
    ("https://127.0.0.1\\.public.example/", BadUrl),
    ("https:\\\\127.0.0.1/", BadUrl),
    ("https://%31%32%37.0.0.1/", BadUrl),
    ("https://127%2e0%2e0%2e1/", BadUrl),
    ("https://localhost%00.public.example/", BadUrl),
    ("https://①②⑦.⓪.⓪.①/", BadUrl),
    ("https://127。0。0。1/", BadUrl),
    ("https://loc\u{ad}alhost/", BadUrl),
    ("https://public.example\t/", BadUrl),
    ("https://public.example/\r\nHost: 127.0.0.1", BadUrl),
    ("\nhttps://127.0.0.1/", BadUrl),
    ("https://public.example../", BadUrl),
    ("https://public.example:/", BadUrl),
    ("https://public.example:00443443/", BadUrl),
    // Schemes other than https.
    ("http://public.example/", NotHttps),
    ("gopher://127.0.0.1:6379/_FLUSHALL", BadUrl),
    ("file:///etc/passwd", BadUrl),
];

#[tokio::test]
async fn no_request_is_sent_to_a_hostile_url() {
    let policy = Policy { guard: Guard::Public { allow: Vec::new() }, extra_ca: None };
    let client = HttpClient::new(policy).unwrap().with_resolver(lookup);
    for (url, failure) in HOSTILE {
        assert_eq!(client.vet(url, LIMITS.connect).await, Err(failure), "{url}");
        for request in [HttpRequest::get(url), HttpRequest::get(url).pooled("a")] {
            assert_eq!(client.send(request, LIMITS).await.unwrap_err(), failure, "{url}");
        }
    }
    assert_eq!(client.vet("https://public.example/", LIMITS.connect).await, Ok(()));
    assert_eq!(client.vet("https://PUBLIC.example.:8443/", LIMITS.connect).await, Ok(()));
}

#[tokio::test]
async fn an_overlong_url_is_refused_before_any_lookup() {
    let policy = Policy { guard: Guard::Public { allow: Vec::new() }, extra_ca: None };
    let client =
        HttpClient::new(policy).unwrap().with_resolver(|name| panic!("{name} was looked up"));
    for url in [
        format!("https://public.example/{}", "a".repeat(3_000_000)),
        format!("https://{}.example/", "a".repeat(64)),
        format!("https://{}example/", "a.".repeat(1_000)),
        format!("https://public.example:{}/", "4".repeat(2_000)),
        format!("https://[{}::1]/", "0:".repeat(500)),
    ] {
        assert_eq!(client.vet(&url, LIMITS.connect).await, Err(BadUrl), "{}", &url[..40]);
    }
}

/// A DNS rebinding attack: two servers on the same port, of which the client may reach only the first, and a host name
/// that resolves to the first on the first lookup and to the second afterward.
struct Rebinding {
    vetted: Receiver,
    inside: Receiver,
    lookups: Arc<AtomicUsize>,
    client: HttpClient,
    url: String,
}

async fn rebinding(offer: &str) -> Rebinding {
    let authority = Authority::new();
    let mut tls = ServerConfig::clone(&authority.certify("rebinding.example"));
    tls.alpn_protocols = vec![offer.as_bytes().to_vec()];
    let tls = Arc::new(tls);
    let vetted = Receiver::start("127.0.0.1:0", Some(tls.clone())).await;
    let inside = Receiver::start(&format!("127.0.0.2:{}", vetted.port), Some(tls)).await;
    let guard = Guard::Public { allow: vec!["127.0.0.1".parse().unwrap()] };
    let policy = Policy { guard, extra_ca: Some(authority.pem.into_bytes()) };
    let lookups = Arc::<AtomicUsize>::default();
    let counted = lookups.clone();
    let client = HttpClient::new(policy).unwrap().with_resolver(move |_| {
        let first = counted.fetch_add(1, SeqCst) == 0;
        vec![if first { [127, 0, 0, 1].into() } else { [127, 0, 0, 2].into() }]
    });
    let url = format!("https://rebinding.example:{}/", vetted.port);
    Rebinding { vetted, inside, lookups, client, url }
}

#[tokio::test]
async fn a_rebinding_name_is_resolved_once_per_connection() {
    let mut it = rebinding("http/1.1").await;
    it.client.send(HttpRequest::get(&*it.url), LIMITS).await.unwrap();
    assert_eq!((it.vetted.connections(), it.lookups.load(SeqCst)), (vec![1], 1));
    let second = it.client.send(HttpRequest::get(&*it.url), LIMITS).await;
    assert_eq!((second.unwrap_err(), it.lookups.load(SeqCst)), (BlockedAddress, 2));
    assert_eq!((it.vetted.connections(), it.inside.connections()), (vec![], vec![]));
}

#[tokio::test]
async fn a_pooled_connection_keeps_its_checked_address_for_a_minute() {
    for offer in ["http/1.1", "h2"] {
        let mut it = rebinding(offer).await;
        let ask = || it.client.send(HttpRequest::get(&*it.url).pooled("a"), LIMITS);
        for _ in 0..3 {
            ask().await.unwrap();
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(19)).await;
            tokio::time::resume();
        }
        assert_eq!(it.lookups.load(SeqCst), 1);
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(3)).await;
        tokio::time::resume();
        assert_eq!(ask().await.unwrap_err(), BlockedAddress);
        assert_eq!((it.vetted.connections(), it.inside.connections()), (vec![1; 3], vec![]));
    }
}

#[tokio::test]
async fn a_retry_checks_the_address_again() {
    for offer in ["http/1.1", "h2"] {
        let mut it = rebinding(offer).await;
        let ask = || it.client.send(HttpRequest::get(&*it.url).pooled("a"), LIMITS);
        ask().await.unwrap();
        it.vetted.hang_up();
        assert_eq!(ask().await.unwrap_err(), BlockedAddress);
        assert_eq!((it.vetted.connections(), it.inside.connections()), (vec![1], vec![]));
    }
}
