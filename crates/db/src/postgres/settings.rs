//! The settings of connections to PostgreSQL, and how they reach the server.

/// The settings that every connection has.
const SETTINGS: [(&str, &str); 4] = [
    ("jit", "off"),
    ("lock_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("default_transaction_isolation", "read committed"),
];

/// Further settings of connections without limits, for changes of the schema.
const NO_LIMITS: [(&str, &str); 2] =
    [("idle_in_transaction_session_timeout", "0"), ("lock_timeout", "0")];

/// How the server plans prepared statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Planning {
    /// One plan for all values: planning a query for one page costs three times as much as reading the page.
    Generic,
    /// With the values, which Citus needs to find a person's shard. It keeps a plan where it can do without them.
    Citus,
}

impl Planning {
    /// The setting by which a connection can be recognized comes first.
    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Planning::Generic => &[("plan_cache_mode", "force_generic_plan")],
            // A transaction that has changed many shards at once may no longer change tables that all nodes have a
            // copy of. One after the other, it may.
            Planning::Citus => {
                &[("plan_cache_mode", "auto"), ("citus.multi_shard_modify_mode", "sequential")]
            }
        }
    }

    /// Settings for changes of the schema. Our triggers on distributed tables are safe: they write only rows of the
    /// same person, which are on the same node.
    fn schema_settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Planning::Generic => &[],
            Planning::Citus => &[("citus.enable_unsafe_triggers", "on")],
        }
    }
}

/// How the settings reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingsBy {
    /// With the connection's first message.
    Startup,
    /// By statements after it: a pooler in session mode takes no settings in the first message.
    Session,
    /// In each transaction: a pooler in transaction mode gives every transaction another server connection.
    Transaction,
}

/// The settings of all connections to one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) by: SettingsBy,
    pub(super) planning: Planning,
}

impl Settings {
    /// The settings of the first connection, which finds out how they reach the server and whether it has Citus.
    pub(super) const FIRST: Settings =
        Settings { by: SettingsBy::Startup, planning: Planning::Generic };

    /// Names and values. Without a time limit for statements, they are those for changes of the schema.
    pub(super) fn list(
        self,
        statement_timeout_millis: Option<u128>,
    ) -> Vec<(&'static str, String)> {
        // Zero means no limit at all.
        let timeout = statement_timeout_millis.map_or(0, |it| it.max(1)).to_string();
        let is_for_schema = statement_timeout_millis.is_none();
        let (no_limits, for_schema): (&[_], &[_]) = match is_for_schema {
            true => (&NO_LIMITS, self.planning.schema_settings()),
            false => (&[], &[]),
        };
        let fixed = [self.planning.settings(), &SETTINGS, no_limits, for_schema].concat();
        let fixed = fixed.into_iter().map(|(name, value)| (name, value.to_owned()));
        fixed.chain([("statement_timeout", timeout)]).collect()
    }
}
