//! What the demo says when it is ready.

use anyhow::Result;

use super::Access;
use crate::commands::{self, key};
use crate::config::Config;

pub(super) fn print(config: &Config, access: &Access, url: &str, temporary: bool) -> Result<()> {
    let again = match (access.again, access.same) {
        (true, true) => "\nThe data was there already and is as it was left, and so is the key.\n",
        (true, false) => {
            "\nThe data was there already and is as it was left; the password and the key are \
             new.\n"
        }
        (false, _) => "",
    };
    let keys = config.data_dir.join("keys.txt");
    let keys = match keys.exists() {
        true => format!("\nA key for each person: {}\n", keys.display()),
        false => String::new(),
    };
    // As it was started: after `cargo run` it is on no path.
    let program = std::env::args().next().filter(|it| it.contains('/'));
    let program = program.unwrap_or_else(|| "evenkeel".to_owned());
    let curl = key::curl(&access.api_key, url, "/v1/transactions?limit=3");
    let text = format!(
        "
Evenkeel is ready.

  Web address  {url}
  Email        {}
  Password     {}
  API key      {}
{again}{keys}
Ask it something:

  {curl}

See its events as they happen, in another terminal:

  export EVENKEEL_KEY={}
  {program} listen --data-dir {}

{}
",
        access.email,
        access.password,
        access.api_key,
        access.api_key,
        config.data_dir.display(),
        ending(config, temporary)
    );
    commands::print(&text)
}

fn ending(config: &Config, temporary: bool) -> String {
    if !temporary {
        let folder = config.data_dir.display();
        return format!("Ctrl-C stops it. `evenkeel demo --data-dir {folder}` goes on from there.");
    }
    match (config.database_url.is_some(), config.installation_key.is_some()) {
        (false, _) => "Ctrl-C stops it and removes everything.",
        (true, true) => "Ctrl-C stops it. The data stays in PostgreSQL.",
        (true, false) => {
            "Ctrl-C stops it. The data stays in PostgreSQL, but the key it belongs to goes; to \
             come back to it, name a --data-dir at the start."
        }
    }
    .to_owned()
}
