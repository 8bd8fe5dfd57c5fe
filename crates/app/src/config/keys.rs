//! Every setting there is: its name, what it must look like, its default and what it is for.

use super::value::Kind;

pub(crate) struct Key {
    /// `section.name`, or a bare name at the top.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: Option<&'static str>,
    /// Never printed, and may be read from a file that a `..._FILE` variable names.
    pub(crate) secret: bool,
    pub(crate) about: &'static str,
}

pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "listen",
        kind: Kind::Address,
        default: Some("127.0.0.1:4680"),
        secret: false,
        about: "Address and port to answer on; port 0 takes a free one.",
    },
    Key {
        name: "public_url",
        kind: Kind::Origin,
        default: None,
        secret: false,
        about: "How browsers and programs reach this installation; without it, the listen address.",
    },
    Key {
        name: "proxies",
        kind: Kind::Networks,
        default: Some(""),
        secret: false,
        about: "Addresses of your own proxies: what they say in X-Forwarded-For is believed.",
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
        about: "Seals what leaves the program; without it, the file installation.key in data_dir.",
    },
    Key {
        name: "server.connections",
        kind: Kind::Count { from: 16, to: 1_000_000 },
        default: Some("4096"),
        secret: false,
        about: "Connections open at once; at most half of the files that the system lets us open.",
    },
    Key {
        name: "server.connections_per_address",
        kind: Kind::Count { from: 4, to: 1_000_000 },
        default: None,
        secret: false,
        about: "Of these from one IPv4 address or IPv6 /64, proxies aside; by default a quarter.",
    },
    Key {
        name: "database.url",
        kind: Kind::DatabaseUrl,
        default: None,
        secret: true,
        about: "Address of a PostgreSQL database; without it, the file evenkeel.db in data_dir.",
    },
    Key {
        name: "database.free_mib_min",
        kind: Kind::Count { from: 0, to: 1_000_000_000 },
        default: Some("16"),
        secret: false,
        about: "MiB that must be free in data_dir; with less, /readyz answers 503. For SQLite.",
    },
    Key {
        name: "rate_limit.requests",
        kind: Kind::Count { from: 1, to: 1_000_000_000 },
        default: Some("100"),
        secret: false,
        about: "Requests accepted from one API key in any window.",
    },
    Key {
        name: "rate_limit.window_seconds",
        kind: Kind::Count { from: 1, to: 86_400 },
        default: Some("60"),
        secret: false,
        about: "Length of that window.",
    },
    Key {
        name: "metrics.listen",
        kind: Kind::Address,
        default: None,
        secret: false,
        about: "Answers /metrics on this address; without it, nowhere, unless metrics.public says so.",
    },
    Key {
        name: "metrics.public",
        kind: Kind::Switch,
        default: Some("false"),
        secret: false,
        about: "Whether /metrics is answered beside everything else too, to whoever asks.",
    },
    Key {
        name: "sign_up.open",
        kind: Kind::Switch,
        default: Some("false"),
        secret: false,
        about: "Whether anyone who reaches the sign-in page may create an account.",
    },
    Key {
        name: "cors.origins",
        kind: Kind::Origins,
        default: Some(""),
        secret: false,
        about: "Web origins whose pages may call the API from a browser.",
    },
    Key {
        name: "oauth.registration",
        kind: Kind::Switch,
        default: Some("true"),
        secret: false,
        about: "Whether apps may register themselves; what they may do, each person decides.",
    },
    Key {
        name: "approvals.life_seconds",
        kind: Kind::Count { from: 300, to: 604_800 },
        default: Some("86400"),
        secret: false,
        about: "How long a proposal waits for the person, unless they choose for themselves.",
    },
    Key {
        name: "webhooks.allow_networks",
        kind: Kind::Networks,
        default: Some(""),
        secret: false,
        about: "Networks of your own that webhooks may be sent to, besides public addresses.",
    },
    Key {
        name: "webhooks.ca_file",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "Certificate authorities in PEM to trust besides the system's, for webhooks.",
    },
    Key {
        name: "connections.allow_networks",
        kind: Kind::Networks,
        default: Some(""),
        secret: false,
        about: "Networks of your own where a SimpleFIN server may be, besides public addresses.",
    },
    Key {
        name: "connections.ca_file",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "Certificate authorities in PEM to trust besides the system's, for connections.",
    },
    Key {
        name: "imports.unpacked_mib",
        kind: Kind::Count { from: 1, to: 4_096 },
        default: Some("64"),
        secret: false,
        about: "What an export from Evenkeel may unpack to when it is imported, in MiB.",
    },
    Key {
        name: "imports.rows",
        kind: Kind::Count { from: 1_000, to: 10_000_000 },
        default: Some("250000"),
        secret: false,
        about: "Rows of one file to import; each takes about 1 KiB of memory while it is read.",
    },
    Key {
        name: "imports.readers",
        kind: Kind::Count { from: 1, to: 64 },
        default: Some("2"),
        secret: false,
        about: "Files that are previewed or imported at the same time.",
    },
    Key {
        name: "imports.staged_mib_per_person",
        kind: Kind::Count { from: 1, to: 1_048_576 },
        default: Some("256"),
        secret: false,
        about: "Size of the files that wait for one person to import them, in MiB.",
    },
    Key {
        name: "imports.staged_mib",
        kind: Kind::Count { from: 1, to: 1_048_576 },
        default: Some("1024"),
        secret: false,
        about: "Size of the files that wait for anybody to import them, in MiB.",
    },
    Key {
        name: "market.source",
        kind: Kind::Word(&["demo", "file", "alpaca"]),
        default: Some("demo"),
        secret: false,
        about: "Where prices come from; demo makes them up and asks nobody.",
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
        about: "For market.source = alpaca: where its market data is asked for.",
    },
    Key {
        name: "trading.when_closed",
        kind: Kind::Word(&["queue", "last_price"]),
        default: Some("queue"),
        secret: false,
        about: "What becomes of a trade that is approved while the market is closed.",
    },
    Key {
        name: "trading.slippage_basis_points",
        kind: Kind::Count { from: 0, to: 500 },
        default: Some("0"),
        secret: false,
        about: "How much worse than the quote paper trades are filled, in hundredths of a percent.",
    },
    Key {
        name: "log.level",
        kind: Kind::Word(&["off", "error", "warn", "info", "debug", "trace"]),
        default: Some("info"),
        secret: false,
        about: "How much is logged, on standard error.",
    },
    Key {
        name: "log.format",
        kind: Kind::Word(&["auto", "human", "json"]),
        default: Some("auto"),
        secret: false,
        about: "Form of the log; auto means human on a terminal and json elsewhere.",
    },
    Key {
        name: "demo.feed_seconds",
        kind: Kind::Count { from: 0, to: 86_400 },
        default: Some("20"),
        secret: false,
        about: "How often the demo receives new transactions; 0 turns the feed off.",
    },
];

impl Key {
    pub(crate) fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|it| it.name == name)
    }

    /// The name in the environment.
    pub(crate) fn variable(&self) -> String {
        format!("EVENKEEL_{}", self.name.replace('.', "__").to_uppercase())
    }

    pub(crate) fn file_variable(&self) -> Option<String> {
        self.secret.then(|| format!("{}_FILE", self.variable()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_that_its_own_setting_accepts() {
        for key in KEYS {
            if let Some(default) = key.default {
                assert!(key.kind.parse(default).is_ok(), "{}", key.name);
            }
        }
    }

    #[test]
    fn names_and_variables_belong_together() {
        let requests = Key::find("rate_limit.requests").unwrap();
        assert_eq!(requests.variable(), "EVENKEEL_RATE_LIMIT__REQUESTS");
        assert_eq!(requests.file_variable(), None);
        let url = Key::find("database.url").unwrap();
        assert_eq!(url.file_variable().as_deref(), Some("EVENKEEL_DATABASE__URL_FILE"));
        assert_eq!(Key::find("listen").unwrap().variable(), "EVENKEEL_LISTEN");
    }
}
