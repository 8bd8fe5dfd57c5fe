//! The command line: what can be asked for, and what `--help` says about it.

mod data;
mod people;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::Flags;

pub(crate) use data::{
    BalanceIs, Choose, Connect, Export, Import, NewConnection, Sync, TokenFrom, Which,
};
pub(crate) use people::{Audit, Key, NewKey, NewUser, PasswordFrom, User, Whose};

#[derive(Parser)]
#[command(
    name = "evenkeel",
    version,
    about = "Your own personal finance API, on your own machine.",
    after_help = "Try `evenkeel demo` first: it needs nothing and leaves nothing behind."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// These would otherwise be mixed among the options of each command.
const HEADING: &str = "Where the installation is";

/// Where the installation is; every command takes these.
#[derive(Args)]
pub(crate) struct Place {
    /// Configuration file; without it, evenkeel.toml in the data directory if it is there
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    config: Option<PathBuf>,
    /// Folder of the database and the installation key [default: ./evenkeel-data, for
    /// the demo a temporary one]
    #[arg(long, global = true, value_name = "DIR", help_heading = HEADING)]
    data_dir: Option<String>,
    /// PostgreSQL to use instead of the SQLite file in the data directory. Others on this machine see a password in
    /// it; better set EVENKEEL_DATABASE__URL, or use --database-url-file
    #[arg(long, global = true, value_name = "URL", help_heading = HEADING)]
    database_url: Option<String>,
    /// File that holds the address of that PostgreSQL
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help_heading = HEADING,
        conflicts_with = "database_url"
    )]
    database_url_file: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run with an example household, to look around
    Demo(Demo),
    /// Run the real thing
    Serve(Serving),
    /// People who have an account here
    #[command(subcommand)]
    User(User),
    /// API keys
    #[command(subcommand)]
    Key(Key),
    /// Banks that are asked over SimpleFIN
    #[command(subcommand)]
    Connect(Connect),
    /// Ask connections for what is new, now
    Sync(Sync),
    /// Card benefits: what is left of them, and what only you can say
    #[command(subcommand)]
    Benefit(Benefit),
    /// What was done with someone's account, and whether that account of it is whole
    #[command(subcommand)]
    Audit(Audit),
    /// Receive webhooks on this machine: show, verify and forward them
    #[command(long_about = LISTEN_HELP)]
    Listen(Listen),
    /// Print the settings in effect and where each comes from
    Config(Config),
    /// Print the OpenAPI document of the API
    Openapi,
    /// Check that everything is in order, and say what to do where it is not
    Doctor {
        #[command(flatten)]
        output: Output,
    },
    /// Take in files of banks: OFX, QFX, QIF, CSV, CAMT.053, MT940
    #[command(long_about = IMPORT_HELP)]
    Import(Import),
    /// Write everything of one person's into a zip file, as JSON and CSV
    Export(Export),
    /// Write everything into one file
    #[command(long_about = BACKUP_HELP)]
    Backup(Backup),
    /// Take everything in from a backup, into a database that is still empty
    #[command(long_about = RESTORE_HELP)]
    Restore {
        /// A file made by `evenkeel backup`
        file: PathBuf,
    },
}

const IMPORT_HELP: &str = "Take in files of banks: OFX, QFX, QIF, CSV, CAMT.053, MT940.

What is there already is not taken in again, so the same file may come twice and files may overlap. \
Each import can be undone in the web app. Rows that cannot be understood are told with their line \
and left out; the exit code is then 2. It is 1 when a file could not be read at all.";

const LISTEN_HELP: &str = "Receive webhooks on this machine: show, verify and forward them.

Each event is one line: when it came, what it is, what it is about, and whether its signature is \
good. With --forward it goes on to a program of yours, untouched, and whatever that answers is the \
answer. The certificate is made at the first start and kept in the data directory; what is \
printed at the start says how a server comes to trust it. `evenkeel demo` does so by itself.";

const BACKUP_HELP: &str = "Write everything into one file.

The server may go on running. The file holds all data and the installation key, so keep it as \
safe as the original. It can be restored into SQLite as well as into PostgreSQL: to move from one \
to the other, back up here and restore there.";

const RESTORE_HELP: &str = "Take everything in from a backup, into a database that is still empty.

The whole file is checked before anything is written, and either all of it is taken in or \
nothing. Stop the server first. To move from SQLite to PostgreSQL:

    evenkeel backup keel.backup
    evenkeel restore keel.backup --database-url-file /etc/evenkeel/database-url";

#[derive(Args)]
pub(crate) struct Output {
    /// Print JSON, for a script to read
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Serving {
    /// Address and port to answer on; port 0 takes a free one [default: 127.0.0.1:4680]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// How browsers and programs reach this installation, such as https://money.example.com
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Write JSON with the addresses to this file once everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Demo {
    #[command(flatten)]
    pub(crate) serving: Serving,
    /// The same seed makes the same data [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Make this many people with plain data, for load tests, instead of the household
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) users: Option<u64>,
    /// Transactions of those people, all together [default: 2000 for each]
    #[arg(long, value_name = "N", requires = "users")]
    pub(crate) transactions: Option<u64>,
    /// Write what each transaction of the household really is, as lines of JSON
    #[arg(long, value_name = "FILE", conflicts_with = "users")]
    pub(crate) ground_truth: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Listen {
    /// Send what arrives on to this address, such as http://localhost:3000/hooks
    #[arg(long, value_name = "URL")]
    pub(crate) forward: Option<String>,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4690")]
    pub(crate) listen: String,
    /// The endpoint's secret; after a rotation, or for two endpoints, give the flag twice
    #[arg(long, value_name = "WHSEC_...")]
    pub(crate) secret: Vec<String>,
}

#[derive(Subcommand)]
pub(crate) enum Benefit {
    /// The benefits of someone's cards, in their present cycles
    List {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        output: Output,
    },
    /// Say that a benefit was used or switched on, where the bank cannot see it
    Mark(Mark),
    /// Say which product a card is, where its name does not tell
    Card(Card),
    /// The card products we know
    Catalogue,
}

#[derive(Args)]
pub(crate) struct Mark {
    /// Its id, as `evenkeel benefit list` shows it
    pub(crate) id: String,
    /// How much of it was used in this cycle; all of it unless given
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) used: Option<String>,
    /// It was switched on with the issuer
    #[arg(long, conflicts_with_all = ["used", "clear"])]
    pub(crate) activated: bool,
    /// Take back what was said of this cycle
    #[arg(long, conflicts_with = "used")]
    pub(crate) clear: bool,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args)]
pub(crate) struct Card {
    /// The card's account
    #[arg(value_name = "ACC_...")]
    pub(crate) account: String,
    /// A product of `evenkeel benefit catalogue`, or none
    pub(crate) product: String,
    /// Since when you have it, which its yearly benefits count from
    #[arg(long, value_name = "DATE")]
    pub(crate) opened: Option<String>,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args)]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) output: Output,
    /// Print every setting there is, as a table for the documentation
    #[arg(long, conflicts_with = "json")]
    pub(crate) reference: bool,
}

#[derive(Args)]
pub(crate) struct Backup {
    /// The file to write
    pub(crate) file: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

impl Cli {
    /// What the flags say about settings.
    pub(crate) fn flags(&self) -> Flags {
        let serving = match &self.command {
            Command::Demo(demo) => Some(&demo.serving),
            Command::Serve(serving) => Some(serving),
            _ => None,
        };
        let flags = [
            ("data_dir", "--data-dir", self.place.data_dir.as_ref()),
            ("database.url", "--database-url", self.place.database_url.as_ref()),
            ("database.url", "--database-url-file", self.place.database_url_file.as_ref()),
            ("listen", "--listen", serving.and_then(|it| it.listen.as_ref())),
            ("public_url", "--public-url", serving.and_then(|it| it.public_url.as_ref())),
        ];
        let given = |(name, flag, text): (_, _, Option<&String>)| Some((name, flag, text?.clone()));
        let values = flags.into_iter().filter_map(given).collect();
        Flags { file: self.place.config.clone(), values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_contradicts_itself_nowhere() {
        Cli::command().debug_assert();
    }
}
