//! `evenkeel connect enable-banking`: saves the person's application, lists banks, and connects one.

use anyhow::{Context as _, Result, bail};
use base::ConnectionId;
use base::draft::Source;
use serde_json::json;
use service::ingest::connections::{self, Institution, LinkTarget, enable_banking};
use service::{App, Caller};

use super::{connect_link, named_or_only_person, print, print_json};
use crate::cli;
use crate::config::Config;

const SOURCE: Source = Source::EnableBanking;

/// Returns the new connection, or none if the banks were only listed.
pub(super) async fn connect(
    config: &Config,
    app: &App,
    new: &cli::NewConsent,
) -> Result<Option<(Caller, ConnectionId)>> {
    let user = named_or_only_person(app, new.person.user.as_deref()).await?;
    let caller = user.owner();
    save_application(app, &caller, new).await?;
    let country = new.country.to_ascii_uppercase();
    let banks = connections::list_banks(app, &caller, SOURCE, &country).await?;
    let Some(name) = &new.bank else {
        show(&banks, new.output.json)?;
        return Ok(None);
    };
    let bank = find(&banks, name)?;
    let target = LinkTarget::NewAt(SOURCE, bank.id.clone());
    let addresses = connect_link::addresses(config, SOURCE);
    eprintln!(
        "Be signed in to Evenkeel in the browser that you use; the bank sends you back there."
    );
    let id = connect_link::follow(app, &caller, (target, addresses), false).await?;
    Ok(Some((caller, id)))
}

/// The private key comes from a file, never from the command line, where others on the machine could see it.
async fn save_application(app: &App, caller: &Caller, new: &cli::NewConsent) -> Result<()> {
    let (Some(id), Some(file)) = (&new.application_id, &new.key_file) else { return Ok(()) };
    let private_key = std::fs::read_to_string(file)
        .with_context(|| format!("the private key {} cannot be read", file.display()))?;
    let keys = enable_banking::Keys { application_id: id.clone(), private_key };
    Ok(connections::save_keys(app, caller, SOURCE, &keys.to_secret()).await?)
}

fn show(banks: &[Institution], as_json: bool) -> Result<()> {
    if as_json {
        return print_json(&banks.iter().map(|it| json!({ "name": it.name })).collect());
    }
    let lines: String = banks.iter().map(|it| format!("{}\n", it.name)).collect();
    print(&format!("{lines}Connect one with --bank NAME.\n"))
}

/// The bank of this name, or the only one whose name has it in it.
fn find<'a>(banks: &'a [Institution], name: &str) -> Result<&'a Institution> {
    let wanted = name.to_lowercase();
    if let Some(exact) = banks.iter().find(|it| it.name.to_lowercase() == wanted) {
        return Ok(exact);
    }
    let is_like = |it: &&Institution| it.name.to_lowercase().contains(&wanted);
    let found: Vec<&Institution> = banks.iter().filter(is_like).take(10).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => bail!("no bank of this country has {name} in its name; list them without --bank"),
        several => {
            let names: Vec<&str> = several.iter().map(|it| it.name.as_str()).collect();
            bail!("several banks have {name} in their name: {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_is_found_by_a_part_of_its_name_if_that_is_clear() {
        let bank = |name: &str| Institution { id: format!("DE {name}"), name: name.to_owned() };
        let banks = [bank("Nordbank"), bank("Nordbank Privat"), bank("Alpenbank")];
        let id = |name| find(&banks, name).map(|it| it.id.as_str()).map_err(|it| it.to_string());
        assert_eq!(id("nordbank"), Ok("DE Nordbank"));
        assert_eq!(id("ALPEN"), Ok("DE Alpenbank"));
        assert!(id("nord").unwrap_err().contains("Nordbank, Nordbank Privat"));
        assert!(id("south").unwrap_err().contains("list them"));
    }
}
