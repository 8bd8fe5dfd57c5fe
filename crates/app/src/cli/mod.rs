//! The command line's commands, flags and help texts.

mod data;
mod people;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::Flags;

pub(crate) use data::{
    BalanceIs, Choose, Connect, Export, Import, KindIs, NewConnection, NewConsent, NewLink, Sync,
    TokenFrom, Which,
};
pub(crate) use people::{Audit, Key, NewKey, NewUser, PasswordFrom, PersonArgs, User};

#[derive(Parser)]
#[command(
    name = "evenkeel",
    version,
    about = "Your own personal finance API, on your own machine.",
    after_help = "Try `evenkeel demo` first: it needs no setup and leaves no files."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) place: InstallationArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Heading for the options that every command has.
const HEADING: &str = "Installation";

/// Options of every command: where the installation is.
#[derive(Args)]
pub(crate) struct InstallationArgs {
    /// Configuration file [default: evenkeel.toml in the data directory, if it exists]
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    config: Option<PathBuf>,
    /// Folder of the database and the installation key [default: ./evenkeel-data, for
    /// the demo a temporary one]
    #[arg(long, global = true, value_name = "DIR", help_heading = HEADING)]
    data_dir: Option<String>,
    /// PostgreSQL address, to use instead of the SQLite file in the data directory. Others on this machine can see a
    /// password in it: prefer EVENKEEL_DATABASE__URL or --database-url-file
    #[arg(long, global = true, value_name = "URL", help_heading = HEADING)]
    database_url: Option<String>,
    /// File that contains the PostgreSQL address
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
    /// Run with an example household to explore
    Demo(Demo),
    /// Run the server
    Serve(Serving),
    /// Manage people
    #[command(subcommand)]
    User(User),
    /// Manage API keys
    #[command(subcommand)]
    Key(Key),
    /// Manage bank connections
    #[command(subcommand)]
    Connect(Connect),
    /// Sync connections now
    Sync(Sync),
    /// Show and update card benefits
    #[command(subcommand)]
    Benefit(Benefit),
    /// Import exchange rates, and show how old they are
    #[command(subcommand)]
    Rates(Rates),
    /// Try out the mail server
    #[command(subcommand)]
    Mail(Mail),
    /// Show and verify a person's audit trail
    #[command(subcommand)]
    Audit(Audit),
    /// Receive webhooks on this machine: show, verify and forward them
    #[command(long_about = LISTEN_HELP)]
    Listen(Listen),
    /// Serve an assistant on this machine over standard input and output (MCP)
    #[command(long_about = MCP_HELP)]
    Mcp(Mcp),
    /// Print the settings in effect and where each comes from
    Config(Config),
    /// Print the OpenAPI document of the API
    Openapi,
    /// Check the installation, and say how to fix problems
    Doctor {
        #[command(flatten)]
        output: Output,
    },
    /// Ask the running server whether it is ready; the exit code is 1 if it is not
    Healthy(Healthy),
    /// Import bank files: OFX, QFX, QIF, CSV, CAMT.053, MT940
    #[command(long_about = IMPORT_HELP)]
    Import(Import),
    /// Export one person's data to a zip file of JSON and CSV
    Export(Export),
    /// Migrate the database's schema to this version of Evenkeel
    #[command(long_about = MIGRATE_HELP)]
    Migrate(Migrate),
    /// Distribute the tables over the nodes of a PostgreSQL cluster with Citus
    #[command(long_about = SHARD_HELP)]
    Shard(Shard),
    /// Back up the whole installation to one file
    #[command(long_about = BACKUP_HELP)]
    Backup(Backup),
    /// Restore a backup into an empty database
    #[command(long_about = RESTORE_HELP)]
    Restore {
        /// A file made by `evenkeel backup` or by a server, or an object such as s3://bucket/name
        #[arg(required_unless_present = "list")]
        file: Option<PathBuf>,
        /// Restore into a temporary database, examine it and delete it: nothing else changes
        #[arg(long)]
        drill: bool,
        /// List the backups in backups.folder or in the store of backups.s3, newest first
        #[arg(long, conflicts_with_all = ["file", "drill"])]
        list: bool,
    },
}

const IMPORT_HELP: &str = "Import bank files: OFX, QFX, QIF, CSV, CAMT.053, MT940.

Known transactions are not imported again, so you can import the same file twice, and files may overlap. \
You can undo each import in the web app. Rows that cannot be read are listed with their line and \
skipped; the exit code is then 2. It is 1 if a file could not be read at all.";

const LISTEN_HELP: &str = "Receive webhooks on this machine: show, verify and forward them.

Each event is printed on one line with its time, type, data and the result of the signature check. \
With --forward, events are forwarded unchanged to your program, and its response is returned to \
the sender. The certificate is created at the first start and kept in the data directory; the text \
printed at the start says how to make a server trust it. `evenkeel demo` trusts it by itself.";

const MIGRATE_HELP: &str = "Migrate the database's schema to this version of Evenkeel.

The server does this by itself when it starts, unless database.migrate is false. Each step is applied whole or \
not at all, and a step that was interrupted is continued by the next run. With --check, nothing is changed; \
the exit code is then 2 if steps are pending.";

const SHARD_HELP: &str = "Distribute the tables over the nodes of a PostgreSQL cluster with Citus.

All rows of one person go to one node. Stop every server first, and make a backup. The database may be empty or have \
data, which is copied table by table. A run that was interrupted is continued by the next one; until then no \
server starts. Later migrations place new tables by themselves. docs/scaling.md says how to set up the cluster.";

const MCP_HELP: &str = "Serve an assistant on this machine over standard input and output (MCP).

For desktop clients that start their servers themselves. Set EVENKEEL_MCP__KEY to an API key: the assistant may do what \
the key may do, and its proposals carry the key's name. With --url, messages go to a running server; without, the data \
directory is opened directly.";

const BACKUP_HELP: &str = "Back up the whole installation to one file.

The server can keep running. The file contains all data and the installation key, so keep it as \
safe as the original. It can be restored into SQLite or PostgreSQL: to move from one to the other, \
back up here and restore there.";

const RESTORE_HELP: &str = "Restore a backup into an empty database.

The whole file is checked before anything is written, and either all of it is restored or nothing. \
Stop the server first. To move from SQLite to PostgreSQL:

    evenkeel backup keel.backup
    evenkeel restore keel.backup --database-url-file /etc/evenkeel/database-url";

#[derive(Args)]
pub(crate) struct Output {
    /// Print JSON for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Serving {
    /// Address and port to listen on; port 0 picks a free one [default: 127.0.0.1:4680]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Public address of this installation, such as https://money.example.com
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Write the addresses as JSON to this file once the server is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
    /// Run with a clock that is wrong by this many seconds, to test several processes on one database
    #[arg(
        long,
        value_name = "SECONDS",
        hide = true,
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    pub(crate) clock_offset: i64,
}

#[derive(Args)]
pub(crate) struct Healthy {
    /// Address and port of the server [default: the setting listen]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

#[derive(Args)]
pub(crate) struct Demo {
    #[command(flatten)]
    pub(crate) serving: Serving,
    /// Open the web app in this machine's browser, signed in
    #[arg(long)]
    pub(crate) open: bool,
    /// Seed of the generated data; the same seed gives the same data [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Create this many people with simple data for load tests, instead of the household
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) users: Option<u64>,
    /// Total number of transactions of those people [default: 2000 each]
    #[arg(long, value_name = "N", requires = "users")]
    pub(crate) transactions: Option<u64>,
    /// Write the true category of each transaction of the household, as JSON lines
    #[arg(long, value_name = "FILE", conflicts_with = "users")]
    pub(crate) ground_truth: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Listen {
    /// Forward deliveries to this address, such as http://localhost:3000/hooks
    #[arg(long, value_name = "URL")]
    pub(crate) forward: Option<String>,
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4690")]
    pub(crate) listen: String,
    /// The endpoint's signing secret; repeat the flag after a rotation or for several endpoints
    #[arg(long, value_name = "WHSEC_...")]
    pub(crate) secret: Vec<String>,
}

#[derive(Args)]
pub(crate) struct Mcp {
    /// Address of a running server, such as http://127.0.0.1:4680 [default: open the data directory]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum Rates {
    /// Import a file of the European Central Bank: eurofxref-hist.csv, or one of its XML files
    Import {
        /// The file, unpacked
        file: PathBuf,
    },
    /// Show the day of the newest rates
    Show,
}

#[derive(Subcommand)]
pub(crate) enum Benefit {
    /// List the benefits of a person's cards in their current period
    List {
        #[command(flatten)]
        person: PersonArgs,
        #[command(flatten)]
        output: Output,
    },
    /// Mark a benefit as used or activated
    Mark(Mark),
    /// Set which card product an account is
    Card(Card),
    /// List the known card products
    #[command(alias = "catalogue")]
    Catalog,
}

#[derive(Args)]
pub(crate) struct Mark {
    /// Benefit id, as shown by `evenkeel benefit list`
    pub(crate) id: String,
    /// Amount used in this period [default: all of it]
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) used: Option<String>,
    /// The benefit was activated with the issuer
    #[arg(long, conflicts_with_all = ["used", "clear"])]
    pub(crate) activated: bool,
    /// Clear your entry for this period
    #[arg(long, conflicts_with = "used")]
    pub(crate) clear: bool,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
}

#[derive(Args)]
pub(crate) struct Card {
    /// The card's account
    #[arg(value_name = "ACC_...")]
    pub(crate) account: String,
    /// A product from `evenkeel benefit catalog`, or none
    pub(crate) product: String,
    /// Date you opened the card, from which its yearly benefits count
    #[arg(long, value_name = "DATE")]
    pub(crate) opened: Option<String>,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
}

#[derive(Args)]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) output: Output,
    /// Print all settings as a Markdown table
    #[arg(long, conflicts_with = "json")]
    pub(crate) reference: bool,
}

#[derive(Args)]
pub(crate) struct Migrate {
    /// Only show the pending steps
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct Shard {
    /// Parts into which each table is divided; a node has several of them, and they can be moved to new nodes
    #[arg(long, value_name = "N", default_value_t = 32,
        value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) shards: u32,
    /// Only show how each table is placed, and how it would be
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) check: bool,
}

#[derive(Subcommand)]
pub(crate) enum Mail {
    /// Send a message now, and say what the mail server answers
    Test {
        /// The address to send it to
        address: String,
    },
}

#[derive(Args)]
pub(crate) struct Backup {
    /// The file to write, or an object of the store of backups.s3 such as s3://bucket/name
    pub(crate) file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

impl Cli {
    /// The settings that flags set.
    pub(crate) fn flags(&self) -> Flags {
        let serving = match &self.command {
            Command::Demo(demo) => Some(&demo.serving),
            Command::Serve(serving) => Some(serving),
            _ => None,
        };
        let listen = match &self.command {
            Command::Healthy(args) => args.listen.as_ref(),
            _ => serving.and_then(|it| it.listen.as_ref()),
        };
        let flags = [
            ("data_dir", "--data-dir", self.place.data_dir.as_ref()),
            ("database.url", "--database-url", self.place.database_url.as_ref()),
            ("database.url", "--database-url-file", self.place.database_url_file.as_ref()),
            ("listen", "--listen", listen),
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
    fn the_command_line_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
