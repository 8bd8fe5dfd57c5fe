//! The text that the demo prints when it is ready.

use anyhow::Result;

use super::Access;
use crate::commands::{self, key};
use crate::config::Config;

/// Prints the addresses, the credentials and what to try. `urls` are the web address and the link that signs in.
pub(super) fn print(
    config: &Config,
    access: &Access,
    urls: (&str, &str),
    temporary: bool,
) -> Result<()> {
    let (url, sign_in_url) = urls;
    let again = match (access.again, access.same) {
        (true, true) => "\nThe data and the key are those of the last start.\n",
        (true, false) => {
            "\nThe data is that of the last start; the password and the key are new.\n"
        }
        (false, _) => "",
    };
    let keys = config.data_dir.join("keys.txt");
    let keys = match keys.exists() {
        true => format!("\nAPI keys of all people: {}\n", keys.display()),
        false => String::new(),
    };
    let curl = key::curl(&access.api_key, url, "/v1/transactions?limit=3");
    let text = format!(
        "
Evenkeel is ready. Open this link to sign in; it works once:

  {sign_in_url}

  Web address  {url}
  MCP address  {url}/mcp
  Email        {}
  Password     {}
  API key      {}
{again}{keys}
Try the API:

  {curl}

{}{}
",
        access.email,
        access.password,
        access.api_key,
        listening(config, access),
        ending(config, temporary)
    );
    commands::print(&text)
}

/// How to receive webhooks. Left out for a demo that other machines can reach, such as one in a container: it sends no
/// webhooks to this machine.
fn listening(config: &Config, access: &Access) -> String {
    if !super::listens_here(config) {
        return String::new();
    }
    // The program's path as it was started: after `cargo run` it is not on PATH.
    let program = std::env::args().next().filter(|it| it.contains('/'));
    let program = program.unwrap_or_else(|| "evenkeel".to_owned());
    let (key, folder) = (&access.api_key, config.data_dir.display());
    format!(
        "Receive its webhooks in another terminal:\n\n  export EVENKEEL_KEY={key}\n  \
         {program} listen --data-dir {folder}\n\n"
    )
}

fn ending(config: &Config, temporary: bool) -> String {
    if !temporary {
        let folder = config.data_dir.display();
        return format!(
            "Press Ctrl-C to stop. `evenkeel demo --data-dir {folder}` continues with the same data."
        );
    }
    match (config.database_url.is_some(), config.installation_key.is_some()) {
        (false, _) => "Press Ctrl-C to stop and delete everything.",
        (true, true) => "Press Ctrl-C to stop. The data stays in PostgreSQL.",
        (true, false) => {
            "Press Ctrl-C to stop. The data stays in PostgreSQL, but its installation key is \
                deleted; to use the data again, start with a --data-dir."
        }
    }
    .to_owned()
}
