//! Views for people who read the database with psql, sqlite3 or a report tool. One text serves both engines: words in
//! braces, such as `{date t.posted_on}`, stand for an expression of the engine.
//!
//! `evenkeel_views` lists the views with their descriptions and the checksum of the text they were made from.

use base::Currency;
use base::category::Category;
use base::split::PARTS_MAX;

use crate::error::Result;
use crate::target::Engine;
use crate::tx::Tx;

/// The name of the view that lists the others.
pub(crate) const LIST: &str = "evenkeel_views";

/// The names of the views in the database, and the checksum of their text.
pub(crate) fn listed(tx: &mut Tx<'_>) -> Result<Vec<(String, i64)>> {
    let exists = match tx.engine() {
        Engine::Sqlite => {
            "select name from sqlite_schema where type = 'view' and name = 'evenkeel_views'"
        }
        Engine::Postgres => {
            "select viewname::text from pg_views where schemaname = current_schema() and viewname = 'evenkeel_views'"
        }
    };
    if tx.first(exists, &[], |row| row.get::<String>(0))?.is_none() {
        return Ok(Vec::new());
    }
    tx.all("select name, checksum from evenkeel_views order by name", &[], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// The statements for an engine, with the view that lists the others.
pub(crate) fn sql_of(text: &str, sum: i64, engine: Engine) -> String {
    let rows: Vec<String> = descriptions(text)
        .map(|(name, description)| {
            let description = description.replace('\'', "''");
            match engine {
                Engine::Sqlite => format!("select '{name}' as name, '{description}' as description, {sum} as checksum"),
                Engine::Postgres => format!(
                    "select '{name}'::text as name, '{description}'::text as description, ({sum})::bigint as checksum"
                ),
            }
        })
        .collect();
    format!("{}\ncreate view {LIST} as\n{};\n", expanded(text, engine), rows.join("\nunion all "))
}

/// Each view with the comment line above it.
fn descriptions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().zip(text.lines().skip(1));
    lines.filter_map(|(above, line)| {
        let name = line.strip_prefix("create view ")?.strip_suffix(" as")?;
        Some((name, above.strip_prefix("-- ").unwrap_or_default()))
    })
}

/// The text with every word in braces replaced.
fn expanded(text: &str, engine: Engine) -> String {
    let without_comments: String =
        text.lines().filter(|it| !it.starts_with("--")).flat_map(|it| [it, "\n"]).collect();
    let mut parts = without_comments.split('{');
    let mut sql = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (word, rest) = part.split_once('}').unwrap_or((part, ""));
        sql += &expression(word, engine);
        sql += rest;
    }
    sql
}

fn expression(word: &str, engine: Engine) -> String {
    let (kind, value) = word.split_once(' ').unwrap_or((word, ""));
    match kind {
        "date" => date(value, engine),
        "time" => time(value, engine),
        "decimal" => decimal(value, engine),
        "flag" => format!("({value})"),
        "id" => {
            let (prefix, column) = value.split_once(' ').unwrap_or(("", value));
            id(prefix, column, engine)
        }
        "money" => {
            let (amount, currency) = value.split_once(' ').unwrap_or((value, ""));
            money(amount, currency, engine)
        }
        "primary" => primary(value),
        "lines" => {
            let (table, rest) = value.split_once(' ').unwrap_or((value, ""));
            let (column, condition) = rest.split_once(' ').unwrap_or((rest, "true"));
            lines(table, column, condition, engine)
        }
        "find" => {
            let (code, text) = value.split_once(' ').unwrap_or((value, ""));
            let function = if engine == Engine::Sqlite { "instr" } else { "strpos" };
            format!("{function}({text}, {})", character(code, engine))
        }
        _ => format!("{{{word}}}"),
    }
}

/// The character with a code.
fn character(code: &str, engine: Engine) -> String {
    match engine {
        Engine::Sqlite => format!("char({code})"),
        Engine::Postgres => format!("chr({code})"),
    }
}

/// The named query `lines`: the lines of a text column, numbered from 1, of the rows that meet the condition. Citus has no
/// recursive queries over all users, and SQLite has no function that splits a text.
fn lines(table: &str, column: &str, condition: &str, engine: Engine) -> String {
    match engine {
        Engine::Sqlite => format!(
            "recursive cut (user_id, id, part, line, rest) as (
                select user_id, id, 0, '', {column} || char(10) from {table} where {condition}
                union all
                select user_id, id, part + 1, substr(rest, 1, instr(rest, char(10)) - 1),
                    substr(rest, instr(rest, char(10)) + 1)
                from cut where rest <> ''
            ), lines as (select user_id, id, part, line from cut where part > 0)"
        ),
        Engine::Postgres => format!(
            "lines as (
                select user_id, id, n.part, (string_to_array({column}, chr(10)))[n.part] as line
                from {table} cross join generate_series(1, {PARTS_MAX}) as n (part)
                where {condition} and n.part <= cardinality(string_to_array({column}, chr(10)))
            )"
        ),
    }
}

/// Days since 1970 as a date; text on SQLite, which has no type for it.
fn date(days: &str, engine: Engine) -> String {
    match engine {
        Engine::Sqlite => format!("date({days} * 86400, 'unixepoch')"),
        Engine::Postgres => format!("(date '1970-01-01' + ({days})::integer)"),
    }
}

/// Microseconds since 1970 as a time in UTC; text on SQLite.
fn time(micros: &str, engine: Engine) -> String {
    match engine {
        Engine::Sqlite => {
            format!("strftime('%Y-%m-%dT%H:%M:%SZ', {micros} / 1000000, 'unixepoch')")
        }
        Engine::Postgres => format!("to_timestamp({micros} / 1000000)"),
    }
}

/// An exact decimal in text as a number. SQLite has no exact decimals: it becomes the nearest floating-point number.
fn decimal(text: &str, engine: Engine) -> String {
    match engine {
        Engine::Sqlite => format!("cast({text} as real)"),
        Engine::Postgres => format!("cast({text} as numeric)"),
    }
}

/// Minor units as an amount with the decimals of the currency.
fn money(minor: &str, currency: &str, engine: Engine) -> String {
    let amount = |decimals: u32| match engine {
        Engine::Sqlite => format!("{minor} / {}.0", 10_i64.pow(decimals)),
        Engine::Postgres => format!(
            "round({minor} * 0.{:0>1$}1, {decimals})",
            "",
            decimals.saturating_sub(1) as usize
        ),
    };
    let whole = match engine {
        Engine::Sqlite => format!("{minor} * 1.0"),
        Engine::Postgres => format!("{minor}::numeric"),
    };
    let codes = |decimals: u32| {
        let has = |code: &&str| Currency::parse(code).is_ok_and(|it| it.decimals() == decimals);
        let quoted: Vec<String> =
            Currency::codes().filter(has).map(|it| format!("'{it}'")).collect();
        quoted.join(", ")
    };
    format!(
        "case when {currency} in ({}) then {whole} when {currency} in ({}) then {} else {} end",
        codes(0),
        codes(3),
        amount(3),
        amount(2)
    )
}

/// The primary category of a detailed one.
fn primary(category: &str) -> String {
    let mut names: Vec<&str> = Category::ALL.iter().map(|it| it.primary()).collect();
    names.dedup();
    // The longest first, in case one begins with another.
    names.sort_by_key(|it| std::cmp::Reverse(it.len()));
    let cases = names.iter().map(|name| {
        format!(" when substr({category}, 1, {}) = '{name}_' then '{name}'", name.len() + 1)
    });
    format!("case{} end", cases.collect::<String>())
}

/// An id as the API prints it: its prefix and 26 digits of Crockford's base32, each made of five of the 128 bits. The
/// first digit has only three. Two hexadecimal digits always contain the five bits.
fn id(prefix: &str, column: &str, engine: Engine) -> String {
    let value = |place: usize| match engine {
        // The position is 0 for the digit 0, which the text leaves out.
        Engine::Sqlite => {
            format!("instr('123456789ABCDEF', substr(hex({column}), {}, 1))", place + 1)
        }
        Engine::Postgres => {
            let shift = if place.is_multiple_of(2) { 4 } else { 0 };
            format!("(get_byte({column}, {}) >> {shift} & 15)", place / 2)
        }
    };
    let digits = (0..26_usize).map(|digit| {
        let bits = match digit {
            0 => format!("({} >> 1)", value(0)),
            _ => {
                let first_bit = 5 * digit - 2;
                let (place, offset) = (first_bit / 4, first_bit % 4);
                format!("(({} * 16 + {}) >> {} & 31)", value(place), value(place + 1), 3 - offset)
            }
        };
        format!(" || substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + {bits}, 1)")
    });
    format!("'{prefix}'{}", digits.collect::<String>())
}
