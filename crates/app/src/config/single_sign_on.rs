//! The providers of single sign-on: each has a name that the operator chooses, and settings of its own.

use anyhow::{Context as _, Result, ensure};
use service::access::oidc::ProviderSettings;

use super::layers::Settings;

pub(super) fn providers(all: &Settings) -> Result<Vec<ProviderSettings>> {
    let names = all.chosen_names("oidc");
    let providers: Vec<ProviderSettings> =
        names.iter().map(|name| provider(all, name)).collect::<Result<_>>()?;
    for (at, one) in providers.iter().enumerate() {
        let twin = providers.iter().skip(at + 1).find(|it| it.issuer == one.issuer);
        if let Some(twin) = twin {
            let (one, other) = (&one.name, &twin.name);
            anyhow::bail!("oidc.{one} and oidc.{other} have the same issuer; keep one of them");
        }
    }
    ensure!(
        !providers.is_empty() || all.text("sign_in.password")? == "true",
        "sign_in.password is false, and no provider of single sign-on is set; nobody new could sign in"
    );
    Ok(providers)
}

fn provider(all: &Settings, name: &str) -> Result<ProviderSettings> {
    let key = |field: &str| format!("oidc.{name}.{field}");
    let needed = |field: &str| {
        let missing = || format!("oidc.{name} needs {}; set it, or remove the others", key(field));
        all.maybe_text(&key(field)).with_context(missing)
    };
    let scopes = all.list(&key("scopes"));
    ensure!(scopes.iter().any(|it| it == "openid"), "{} must contain openid", key("scopes"));
    Ok(ProviderSettings {
        name: name.to_owned(),
        label: all.maybe_text(&key("label")).unwrap_or_else(|| capitalized(name)),
        issuer: needed("issuer")?,
        client_id: needed("client_id")?,
        client_secret: all.maybe_text(&key("client_secret")),
        scopes,
        groups_claim: all.text(&key("groups_claim"))?,
        create_for_domains: all.list(&key("create_for_domains")),
        create_for_groups: all.list(&key("create_for_groups")),
        admin_groups: all.list(&key("admin_groups")),
        link_verified_email: all.text(&key("link_verified_email"))? == "true",
    })
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
