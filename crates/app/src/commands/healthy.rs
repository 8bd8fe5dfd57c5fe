//! `evenkeel healthy`: asks the server of this configuration whether it is ready, for the health checks of containers,
//! whose images have no other program that could ask.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use net::{Guard, HttpClient, HttpRequest, Limits, Policy};

use crate::config::Config;

/// Shorter than the usual timeout of a health check, so that the reason is printed.
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(2), total: Duration::from_secs(4), body_max: 4 * 1024 };

pub(crate) async fn run(config: &Config) -> Result<()> {
    let url = ready_url(&config.listen)?;
    // The address is the operator's own, so private networks are allowed.
    let client = HttpClient::new(Policy { guard: Guard::Any, extra_ca: None })
        .context("cannot prepare the request; install the system's package ca-certificates")?;
    let reply = client.send(HttpRequest::get(url.as_str()), LIMITS).await.with_context(|| {
        format!("no server answers at {url}; start it, or set listen to the address that it uses")
    })?;
    let reason = String::from_utf8_lossy(&reply.body).trim().to_owned();
    ensure!(reply.status == 200, "the server is not ready ({}): {reason}", reply.status);
    super::print("ready\n")
}

/// The address of `/readyz` for a program on this machine: loopback in place of all addresses.
fn ready_url(listen: &str) -> Result<String> {
    let host = match listen.parse::<SocketAddr>() {
        Ok(address) => SocketAddr::new(reachable(address.ip()), address.port()).to_string(),
        // A host name with its port.
        Err(_) => listen.to_owned(),
    };
    ensure!(
        !host.ends_with(":0"),
        "listen is {listen}, and port 0 means that the server picked one; give --listen with the port it printed"
    );
    Ok(format!("http://{host}/readyz"))
}

fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_asked_at_an_address_that_this_machine_reaches() {
        for (listen, url) in [
            ("127.0.0.1:4680", "http://127.0.0.1:4680/readyz"),
            ("0.0.0.0:80", "http://127.0.0.1:80/readyz"),
            ("[::]:4680", "http://[::1]:4680/readyz"),
            ("192.168.1.5:10", "http://192.168.1.5:10/readyz"),
            ("localhost:4680", "http://localhost:4680/readyz"),
        ] {
            assert_eq!(ready_url(listen).unwrap(), url);
        }
        assert!(ready_url("127.0.0.1:0").unwrap_err().to_string().contains("give --listen"));
    }
}
