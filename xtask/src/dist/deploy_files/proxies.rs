//! The settings of Traefik, Tailscale and Cloudflare, which are not in Debian: they lead to the server's address.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{at, document, list, listen, source, text};

/// The host name in all examples.
const HOST: &str = "money.example.com";

pub(super) fn check() -> Result<()> {
    let server = format!("http://{}", listen()?);
    traefik(&server).context("traefik.yaml")?;
    cloudflared(&server).context("cloudflared.yml")?;
    tailscale(&server).context("tailscale-serve.json")?;
    let settings = source("deploy/evenkeel.toml")?;
    let listens = settings.contains(&format!("\nlisten = \"{}\"\n", listen()?));
    ensure!(listens, "evenkeel.toml listens on another address than the server's default");
    // The commands of docs/installing.md replace this line.
    let names_host = settings.contains(&format!("\n# public_url = \"https://{HOST}\"\n"));
    ensure!(names_host, "evenkeel.toml has no line for public_url");
    Ok(())
}

/// Traefik's routers name a service and middlewares that the file defines, and the service is the server.
fn traefik(server: &str) -> Result<()> {
    let http = document("deploy/proxy/traefik.yaml")?;
    let routers = at(&http, &["http", "routers"])?.as_object().context("there are no routers")?;
    for (name, router) in routers {
        ensure!(
            router["rule"] == format!("Host(`{HOST}`)"),
            "{name} has the rule {}",
            router["rule"]
        );
        at(&http, &["http", "services", text(router, &["service"])?])?;
        for middleware in router["middlewares"].as_array().into_iter().flatten() {
            at(&http, &["http", "middlewares", middleware.as_str().unwrap_or_default()])?;
        }
    }
    let balancer = at(&http, &["http", "services", "evenkeel", "loadBalancer"])?;
    let url = text(&list(balancer, &["servers"])?[0], &["url"])?;
    ensure!(url == server, "Traefik sends requests to {url}, and the server is at {server}");
    let ready = text(balancer, &["healthCheck", "path"])?;
    ensure!(ready == "/readyz", "Traefik asks {ready}");
    Ok(())
}

/// Cloudflare's rules lead the host to the server, and end with a rule for everything else.
fn cloudflared(server: &str) -> Result<()> {
    let tunnel = document("deploy/proxy/cloudflared.yml")?;
    let [rule, rest] = list(&tunnel, &["ingress"])? else {
        anyhow::bail!("there are not two rules");
    };
    let (host, service) = (text(rule, &["hostname"])?, text(rule, &["service"])?);
    ensure!(host == HOST && service == server, "{host} leads to {service}");
    ensure!(rest.get("hostname").is_none(), "the last rule is not for everything else");
    Ok(())
}

fn tailscale(server: &str) -> Result<()> {
    let serve: Value = serde_json::from_str(&source("deploy/proxy/tailscale-serve.json")?)?;
    ensure!(serve["TCP"]["443"]["HTTPS"] == true, "port 443 is not HTTPS");
    let target = &serve["Web"]["${TS_CERT_DOMAIN}:443"]["Handlers"]["/"]["Proxy"];
    ensure!(
        target == server,
        "Tailscale sends requests to {target}, and the server is at {server}"
    );
    Ok(())
}
