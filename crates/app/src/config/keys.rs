//! All settings: name, type, default and description.

use super::backup_keys::BACKUP_KEYS;
use super::key::{Key, variable};
use super::mail_keys::MAIL_KEYS;
use super::provider_keys::PROVIDER_KEYS;
use super::value::Kind;

const KEYS: &[Key] = &[
    Key {
        name: "listen",
        kind: Kind::Address,
        default: Some("127.0.0.1:4680"),
        secret: false,
        about: "Address and port to listen on; port 0 picks a free one.",
    },
    Key {
        name: "public_url",
        kind: Kind::Origin,
        default: None,
        secret: false,
        about: "Public address of this installation; by default the listen address.",
    },
    Key {
        name: "proxies",
        kind: Kind::Networks,
        default: Some(""),
        secret: false,
        about: "Addresses of your own proxies, whose X-Forwarded-For is trusted.",
    },
    Key {
        name: "data_dir",
        kind: Kind::Path,
        default: Some("./evenkeel-data"),
        secret: false,
        about: "Folder of the SQLite database, the installation key and evenkeel.toml.",
    },
    Key {
        name: "installation_key",
        kind: Kind::InstallationKey,
        default: None,
        secret: true,
        about: "Encrypts secrets and signs cursors; by default the file installation.key in data_dir.",
    },
    Key {
        name: "server.connections",
        kind: Kind::Count { from: 16, to: 1_000_000 },
        default: Some("4096"),
        secret: false,
        about: "Maximum open connections; at most half of the process's limit of open files.",
    },
    Key {
        name: "server.connections_per_address",
        kind: Kind::Count { from: 4, to: 1_000_000 },
        default: None,
        secret: false,
        about: "Maximum open connections of one IPv4 address or IPv6 /64, except proxies; by default a quarter.",
    },
    Key {
        name: "server.stop_delay_seconds",
        kind: Kind::Count { from: 0, to: 300 },
        default: Some("3"),
        secret: false,
        about: "On SIGTERM, how long /readyz answers 503 before the listener closes; skipped if nobody asks /readyz.",
    },
    Key {
        name: "server.drain_seconds",
        kind: Kind::Count { from: 1, to: 3_600 },
        default: Some("5"),
        secret: false,
        about: "On SIGTERM, how long requests in flight may take to finish after the listener closed.",
    },
    Key {
        name: "database.url",
        kind: Kind::DatabaseUrl,
        default: None,
        secret: true,
        about: "Address of a PostgreSQL database; by default the SQLite file evenkeel.db in data_dir.",
    },
    Key {
        name: "database.connections",
        kind: Kind::Count { from: 4, to: 1_000 },
        default: Some("15"),
        secret: false,
        about: "Maximum connections of one process to PostgreSQL; those of all processes must fit its max_connections.",
    },
    Key {
        name: "database.listen_url",
        kind: Kind::DatabaseUrl,
        default: None,
        secret: true,
        about: "PostgreSQL's own address for notifications, if database.url is that of a pooler in transaction mode.",
    },
    Key {
        name: "database.migrate",
        kind: Kind::Switch,
        default: Some("true"),
        secret: false,
        about: "Whether a starting program migrates the schema; if false, only `evenkeel migrate` does.",
    },
    Key {
        name: "database.copy_before_migration",
        kind: Kind::Switch,
        default: Some("true"),
        secret: false,
        about: "Whether the SQLite file is copied beside itself before its schema is migrated.",
    },
    Key {
        name: "database.free_mib_min",
        kind: Kind::Count { from: 0, to: 1_000_000_000 },
        default: Some("16"),
        secret: false,
        about: "Free space in data_dir, in MiB, below which /readyz answers 503. SQLite only.",
    },
    Key {
        name: "rate_limit.requests",
        kind: Kind::Count { from: 1, to: 1_000_000_000 },
        default: Some("100"),
        secret: false,
        about: "Requests that one API key may make in a window.",
    },
    Key {
        name: "rate_limit.window_seconds",
        kind: Kind::Count { from: 1, to: 86_400 },
        default: Some("60"),
        secret: false,
        about: "Length of the rate limit's window.",
    },
    Key {
        name: "metrics.listen",
        kind: Kind::Address,
        default: None,
        secret: false,
        about: "Address of a separate listener for /metrics; by default there is none.",
    },
    Key {
        name: "metrics.public",
        kind: Kind::Switch,
        default: Some("false"),
        secret: false,
        about: "Whether /metrics is also served on the main address, without authentication.",
    },
    Key {
        name: "sign_up.open",
        kind: Kind::Switch,
        default: Some("false"),
        secret: false,
        about: "Whether anyone who reaches the sign-in page can create an account.",
    },
    Key {
        name: "cors.origins",
        kind: Kind::Origins,
        default: Some(""),
        secret: false,
        about: "Web origins whose pages may call the API from a browser.",
    },
    Key {
        name: "sign_in.password",
        kind: Kind::Switch,
        default: Some("true"),
        secret: false,
        about: "Whether people can sign in with a password; false needs single sign-on.",
    },
    Key {
        name: "oauth.registration",
        kind: Kind::Switch,
        default: Some("true"),
        secret: false,
        about: "Whether OAuth apps can register themselves; each person still decides what to allow.",
    },
    Key {
        name: "mcp.enabled",
        kind: Kind::Switch,
        default: Some("true"),
        secret: false,
        about: "Whether assistants can connect at /mcp; each person still decides what to allow.",
    },
    Key {
        name: "mcp.read_only",
        kind: Kind::Switch,
        default: Some("false"),
        secret: false,
        about: "Whether assistants that connect at /mcp can only read, and not propose.",
    },
    Key {
        name: "mcp.key",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "For `evenkeel mcp`: the API key that the assistant uses.",
    },
    Key {
        name: "exchange_rates.fetch",
        kind: Kind::Switch,
        default: Some("false"),
        secret: false,
        about: "Whether the server fetches the European Central Bank's reference rates twice a day.",
    },
    Key {
        name: "exchange_rates.url",
        kind: Kind::Secret,
        default: Some("https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml"),
        secret: false,
        about: "Address of the reference rates, in the XML or CSV format of the European Central Bank.",
    },
    Key {
        name: "approvals.life_seconds",
        kind: Kind::Count { from: 300, to: 604_800 },
        default: Some("86400"),
        secret: false,
        about: "How long a proposal stays open, unless the person sets their own time.",
    },
    Key {
        name: "webhooks.allow_networks",
        kind: Kind::Networks,
        default: Some(""),
        secret: false,
        about: "Private networks that webhooks may be sent to, in addition to public addresses.",
    },
    Key {
        name: "webhooks.ca_file",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "PEM file of certificate authorities to trust for webhooks, in addition to the system's.",
    },
    Key {
        name: "connections.allow_networks",
        kind: Kind::Networks,
        default: Some(""),
        secret: false,
        about: "Private networks where a bank provider may be, in addition to public addresses.",
    },
    Key {
        name: "connections.ca_file",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "PEM file of certificate authorities to trust for connections, in addition to the system's.",
    },
    Key {
        name: "plaid.client_id",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "Plaid keys for everybody who has none of their own: the client id.",
    },
    Key {
        name: "plaid.secret",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "Plaid keys for everybody who has none of their own: the secret of the environment.",
    },
    Key {
        name: "plaid.environment",
        kind: Kind::Word(&["sandbox", "production"]),
        default: Some("production"),
        secret: false,
        about: "The environment that plaid.client_id and plaid.secret are for.",
    },
    Key {
        name: "plaid.url",
        kind: Kind::Origin,
        default: None,
        secret: false,
        about: "Address of Plaid's API; by default that of the environment.",
    },
    Key {
        name: "enable_banking.url",
        kind: Kind::Origin,
        default: None,
        secret: false,
        about: "Address of Enable Banking's API; by default https://api.enablebanking.com.",
    },
    Key {
        name: "imports.unpacked_mib",
        kind: Kind::Count { from: 1, to: 4_096 },
        default: Some("64"),
        secret: false,
        about: "Maximum unpacked size of an Evenkeel export that is imported, in MiB.",
    },
    Key {
        name: "imports.rows",
        kind: Kind::Count { from: 1_000, to: 10_000_000 },
        default: Some("250000"),
        secret: false,
        about: "Maximum rows of an imported file; each takes about 1 KiB of memory while it is read.",
    },
    Key {
        name: "imports.readers",
        kind: Kind::Count { from: 1, to: 64 },
        default: Some("2"),
        secret: false,
        about: "Maximum files that are previewed or imported at once.",
    },
    Key {
        name: "imports.staged_mib_per_person",
        kind: Kind::Count { from: 1, to: 1_048_576 },
        default: Some("256"),
        secret: false,
        about: "Maximum size of one person's staged files, in MiB.",
    },
    Key {
        name: "imports.staged_mib",
        kind: Kind::Count { from: 1, to: 1_048_576 },
        default: Some("1024"),
        secret: false,
        about: "Maximum size of all staged files, in MiB.",
    },
    Key {
        name: "market.source",
        kind: Kind::Word(&["demo", "file", "alpaca"]),
        default: Some("demo"),
        secret: false,
        about: "Source of market prices; demo generates them and sends no requests.",
    },
    Key {
        name: "market.path",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "For market.source = file: a CSV file, or a folder of them.",
    },
    Key {
        name: "market.alpaca_key_id",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "For market.source = alpaca: the key's id.",
    },
    Key {
        name: "market.alpaca_secret_key",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "For market.source = alpaca: the key's secret.",
    },
    Key {
        name: "market.alpaca_url",
        kind: Kind::Origin,
        default: Some("https://data.alpaca.markets"),
        secret: false,
        about: "For market.source = alpaca: address of its market data API.",
    },
    Key {
        name: "trading.when_closed",
        kind: Kind::Word(&["queue", "last_price"]),
        default: Some("queue"),
        secret: false,
        about: "Trades approved while the market is closed: queue for the opening, or fill at the last price.",
    },
    Key {
        name: "trading.slippage_basis_points",
        kind: Kind::Count { from: 0, to: 500 },
        default: Some("0"),
        secret: false,
        about: "Slippage of paper trades against the quote, in hundredths of a percent.",
    },
    Key {
        name: "log.level",
        kind: Kind::Word(&["off", "error", "warn", "info", "debug", "trace"]),
        default: Some("info"),
        secret: false,
        about: "Log level; logs go to standard error.",
    },
    Key {
        name: "log.format",
        kind: Kind::Word(&["auto", "human", "json"]),
        default: Some("auto"),
        secret: false,
        about: "Log format; auto means human on a terminal and json elsewhere.",
    },
    Key {
        name: "demo.feed_seconds",
        kind: Kind::Count { from: 0, to: 86_400 },
        default: Some("20"),
        secret: false,
        about: "How often the demo receives new transactions; 0 turns the feed off.",
    },
];

/// All settings, in the order of documents.
pub(crate) fn all() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().chain(BACKUP_KEYS).chain(MAIL_KEYS).chain(PROVIDER_KEYS)
}

pub(crate) fn find(name: &str) -> Option<&'static Key> {
    all().find(|it| it.is_named(name))
}

/// The setting that a variable names, and its name.
pub(crate) fn find_variable(variable_name: &str) -> Option<(&'static Key, String)> {
    let name = variable_name.strip_prefix("EVENKEEL_")?.to_lowercase().replace("__", ".");
    find(&name).filter(|_| variable(&name) == variable_name).map(|it| (it, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_that_its_own_setting_accepts() {
        for key in all() {
            if let Some(default) = key.default {
                assert!(key.kind.parse(default).is_ok(), "{}", key.name);
            }
        }
    }

    #[test]
    fn names_and_variables_belong_together() {
        let requests = find("rate_limit.requests").unwrap();
        assert_eq!(requests.variable(), "EVENKEEL_RATE_LIMIT__REQUESTS");
        assert_eq!(requests.file_variable(), None);
        let url = find("database.url").unwrap();
        assert_eq!(url.file_variable().as_deref(), Some("EVENKEEL_DATABASE__URL_FILE"));
        assert_eq!(find("listen").unwrap().variable(), "EVENKEEL_LISTEN");
    }

    #[test]
    fn every_variable_leads_back_to_its_setting() {
        for key in all() {
            let name = key.name.replace('*', "home");
            let (found, found_name) = find_variable(&variable(&name)).unwrap();
            assert_eq!((found.name, found_name), (key.name, name));
        }
        for bad in ["LISTEN", "EVENKEEL_listen", "EVENKEEL_OIDC__A_B__ISSUER", "EVENKEEL_"] {
            assert!(find_variable(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_chosen_name_has_lower_case_letters_and_digits() {
        assert_eq!(find("oidc.home2.issuer").unwrap().name, "oidc.*.issuer");
        assert_eq!(find("oidc.ca_file").unwrap().name, "oidc.ca_file");
        for bad in
            ["oidc.issuer", "oidc..issuer", "oidc.A.issuer", "oidc.a-b.issuer", "oidc.*.issuer"]
        {
            assert!(find(bad).is_none(), "{bad}");
        }
    }
}
