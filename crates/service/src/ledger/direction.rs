//! The direction of money: into an account, or out of it.

base::words!(Direction { Inflow => "inflow", Outflow => "outflow" });
db::word_columns!(Direction);
