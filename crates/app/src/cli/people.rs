//! Arguments of the commands about people, API keys and the audit trail.

use super::Output;
use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum User {
    /// Create a person
    Create(NewUser),
    /// List people
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Set a new password
    Password {
        email: String,
        #[command(flatten)]
        password: PasswordFrom,
        /// Turn two-step sign-in off, for a person who lost their passkey
        #[arg(long)]
        drop_second_step: bool,
    },
    /// Delete a person and all their data
    Delete {
        email: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args)]
pub(crate) struct NewUser {
    pub(crate) email: String,
    /// Name of the person
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Currency of their totals
    #[arg(long, default_value = "USD")]
    pub(crate) currency: String,
    /// Their time zone by its IANA name, such as America/New_York
    #[arg(long, default_value = "UTC", value_name = "NAME")]
    pub(crate) timezone: String,
    #[command(flatten)]
    pub(crate) password: PasswordFrom,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct PasswordFrom {
    /// Read the password from standard input instead of generating one
    #[arg(long)]
    pub(crate) password_stdin: bool,
}

#[derive(Subcommand)]
pub(crate) enum Audit {
    /// List entries, newest first
    List {
        #[command(flatten)]
        person: PersonArgs,
        /// Maximum number of entries
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Verify the whole trail; fails if an entry was changed or removed
    Verify {
        #[command(flatten)]
        person: PersonArgs,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Subcommand)]
pub(crate) enum Key {
    /// Create an API key; it is shown once
    Create(NewKey),
    /// List a person's API keys
    List {
        #[command(flatten)]
        person: PersonArgs,
        #[command(flatten)]
        output: Output,
    },
    /// Replace the installation key, and encrypt everything with the new one. Stop the server first
    RotateInstallation {
        /// A file with the new key, 64 hexadecimal digits, if the setting installation_key holds the present one
        #[arg(long, value_name = "FILE")]
        new_key_file: Option<std::path::PathBuf>,
    },
    /// Revoke an API key
    Revoke {
        /// Key id, as shown by `evenkeel key list`
        id: String,
        #[command(flatten)]
        person: PersonArgs,
    },
}

#[derive(Args)]
pub(crate) struct PersonArgs {
    /// Email address of the person; optional while there is only one person
    #[arg(long, value_name = "EMAIL")]
    pub(crate) user: Option<String>,
}

#[derive(Args)]
pub(crate) struct NewKey {
    #[command(flatten)]
    pub(crate) person: PersonArgs,
    /// Name of the key
    #[arg(long)]
    pub(crate) name: String,
    /// Grant read access only
    #[arg(long, conflicts_with = "scopes")]
    pub(crate) read_only: bool,
    /// Grant only these scopes, such as "accounts:read transactions:read"
    #[arg(long)]
    pub(crate) scopes: Option<String>,
    /// Limit the key to these accounts
    #[arg(long, value_name = "ACC_...", value_delimiter = ',')]
    pub(crate) accounts: Option<Vec<String>>,
    /// When the key expires: after days, such as 90d, or on a date, such as 2027-12-31
    #[arg(long, value_name = "WHEN")]
    pub(crate) expires: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}
