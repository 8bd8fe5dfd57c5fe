//! Statements over many rows whose values are passed as arrays and unpacked with `unnest`.

use tokio_postgres::types::{ToSql, Type};

use crate::value::Param;

/// The values of one parameter for all rows.
pub(super) enum ArrayParam {
    Int(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

impl ArrayParam {
    fn of_type(first: &Param<'_>, rows: usize) -> ArrayParam {
        match first {
            Param::Int(_) => ArrayParam::Int(Vec::with_capacity(rows)),
            Param::Text(_) => ArrayParam::Text(Vec::with_capacity(rows)),
            Param::Bytes(_) | Param::Id(_) => ArrayParam::Bytes(Vec::with_capacity(rows)),
        }
    }

    /// Appends a value; false if it has another type.
    fn push(&mut self, value: &Param<'_>) -> bool {
        match (self, value) {
            (ArrayParam::Int(all), Param::Int(it)) => all.push(*it),
            (ArrayParam::Text(all), Param::Text(it)) => all.push(it.map(str::to_owned)),
            (ArrayParam::Bytes(all), Param::Bytes(it)) => all.push(it.map(<[u8]>::to_vec)),
            (ArrayParam::Bytes(all), Param::Id(it)) => all.push(it.map(|it| it.to_vec())),
            _ => return false,
        }
        true
    }

    pub(super) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            ArrayParam::Int(it) => (it, Type::INT8_ARRAY),
            ArrayParam::Text(it) => (it, Type::TEXT_ARRAY),
            ArrayParam::Bytes(it) => (it, Type::BYTEA_ARRAY),
        }
    }
}

/// Turns rows of parameters into one array per column; none if the rows differ in width or types.
pub(super) fn from_rows<'p>(rows: &[impl AsRef<[Param<'p>]>]) -> Option<Vec<ArrayParam>> {
    let first = rows.first()?.as_ref();
    let mut arrays: Vec<ArrayParam> =
        first.iter().map(|it| ArrayParam::of_type(it, rows.len())).collect();
    for row in rows {
        let fits = row.as_ref().len() == arrays.len()
            && arrays.iter_mut().zip(row.as_ref()).all(|(array, it)| array.push(it));
        if !fits {
            return None;
        }
    }
    Some(arrays)
}

fn numbered(prefix: &str, width: usize) -> String {
    let all: Vec<String> = (1..=width).map(|it| format!("{prefix}{it}")).collect();
    all.join(", ")
}

/// An insert that takes its rows from arrays.
pub(super) fn insert_statement(table: &str, names: &str, width: usize) -> String {
    format!("insert into {table} ({names}) select * from unnest({})", numbered("$", width))
}

/// Rewrites `update t set a = $2 where k = $1` to take its parameters from arrays, and to return the number of the
/// parameter row for each changed row. None for a statement that is not such an update.
pub(super) fn update_statement(sql: &str, width: usize) -> Option<String> {
    let is_update = sql.split_whitespace().next() == Some("update");
    let (change, condition) = sql.split_at(only_where(sql).filter(|_| is_update)?);
    let (params, names) = (numbered("$", width), numbered("c", width));
    let from = format!("from unnest({params}) with ordinality as v ({names}, n)");
    let from_arrays = |part: &str| part.replace('$', "v.c");
    Some(format!("{}{from} {} returning v.n", from_arrays(change), from_arrays(condition)))
}

/// The position of the word `where`, if it occurs exactly once.
fn only_where(sql: &str) -> Option<usize> {
    let mut found = sql.match_indices("where").filter(|(at, word)| {
        let is_space = |it: Option<char>| it.is_some_and(char::is_whitespace);
        is_space(sql[..*at].chars().next_back()) && is_space(sql[at + word.len()..].chars().next())
    });
    let (at, _) = found.next()?;
    found.next().is_none().then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_rewritten_to_take_many_rows() {
        let sql =
            "update notes set word = $2,\n at = $12\n where id = $1 and word in ('where', $3)";
        let expected = "update notes set word = v.c2,\n at = v.c12\n from unnest($1, $2, $3) with \
                        ordinality as v (c1, c2, c3, n) where id = v.c1 and word in ('where', v.c3) \
                        returning v.n";
        assert_eq!(update_statement(sql, 3).as_deref(), Some(expected));
    }

    #[test]
    fn a_statement_that_is_not_a_plain_update_is_not_rewritten() {
        for sql in [
            "delete from notes where id = $1",
            "insert into notes (id) values ($1)",
            "update notes set word = $1",
            "update notes set word = (select word from others where id = $2) where id = $1",
        ] {
            assert_eq!(update_statement(sql, 2), None, "{sql}");
        }
    }
}
