//! People, their keys, and what was done in their name.

use super::Output;
use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum User {
    /// Give someone an account
    Create(NewUser),
    /// Everyone who has an account
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Replace someone's password
    Password {
        email: String,
        #[command(flatten)]
        password: PasswordFrom,
        /// Ask for no passkey behind the new password; for someone who lost theirs
        #[arg(long)]
        drop_second_step: bool,
    },
    /// Remove someone and everything of theirs
    Delete {
        email: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args)]
pub(crate) struct NewUser {
    pub(crate) email: String,
    /// What to call them
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The currency their totals are in
    #[arg(long, default_value = "USD")]
    pub(crate) currency: String,
    #[command(flatten)]
    pub(crate) password: PasswordFrom,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct PasswordFrom {
    /// Read the password from standard input instead of making one up
    #[arg(long)]
    pub(crate) password_stdin: bool,
}

#[derive(Subcommand)]
pub(crate) enum Audit {
    /// The newest entries first
    List {
        #[command(flatten)]
        whose: Whose,
        /// How many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Follow the trail from its first entry to its last; fails where one was changed or taken out
    Verify {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Subcommand)]
pub(crate) enum Key {
    /// Make an API key; it is shown once
    Create(NewKey),
    /// Someone's API keys
    List {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        output: Output,
    },
    /// End an API key
    Revoke {
        /// Its id, as `evenkeel key list` shows it
        id: String,
        #[command(flatten)]
        whose: Whose,
    },
}

#[derive(Args)]
pub(crate) struct Whose {
    /// Whose; may be left out while only one person has an account
    #[arg(long, value_name = "EMAIL")]
    pub(crate) user: Option<String>,
}

#[derive(Args)]
pub(crate) struct NewKey {
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// What it is for
    #[arg(long)]
    pub(crate) name: String,
    /// Allow reading only
    #[arg(long, conflicts_with = "scopes")]
    pub(crate) read_only: bool,
    /// Allow only these, such as "accounts:read transactions:read"
    #[arg(long)]
    pub(crate) scopes: Option<String>,
    /// Show only these accounts
    #[arg(long, value_name = "ACC_...", value_delimiter = ',')]
    pub(crate) accounts: Option<Vec<String>>,
    /// When it ends: in so many days, such as 90d, or after a day, such as 2027-12-31
    #[arg(long, value_name = "WHEN")]
    pub(crate) expires: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}
