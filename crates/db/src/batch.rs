//! One statement of PostgreSQL's for many rows, which it is given as arrays.

use tokio_postgres::types::{ToSql, Type};

use crate::value::Param;

/// The values of one parameter, row by row.
pub(crate) enum Column {
    Int(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

impl Column {
    fn of(first: &Param<'_>, rows: usize) -> Column {
        match first {
            Param::Int(_) => Column::Int(Vec::with_capacity(rows)),
            Param::Text(_) => Column::Text(Vec::with_capacity(rows)),
            Param::Bytes(_) | Param::Id(_) => Column::Bytes(Vec::with_capacity(rows)),
        }
    }

    /// Whether it fits.
    fn push(&mut self, value: &Param<'_>) -> bool {
        match (self, value) {
            (Column::Int(all), Param::Int(it)) => all.push(*it),
            (Column::Text(all), Param::Text(it)) => all.push(it.map(str::to_owned)),
            (Column::Bytes(all), Param::Bytes(it)) => all.push(it.map(<[u8]>::to_vec)),
            (Column::Bytes(all), Param::Id(it)) => all.push(it.map(|it| it.to_vec())),
            _ => return false,
        }
        true
    }

    pub(crate) fn param(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Column::Int(it) => (it, Type::INT8_ARRAY),
            Column::Text(it) => (it, Type::TEXT_ARRAY),
            Column::Bytes(it) => (it, Type::BYTEA_ARRAY),
        }
    }
}

/// The values turned from rows into columns; none when the rows are not alike.
pub(crate) fn columns<'p>(rows: &[impl AsRef<[Param<'p>]>]) -> Option<Vec<Column>> {
    let first = rows.first()?.as_ref();
    let mut columns: Vec<Column> = first.iter().map(|it| Column::of(it, rows.len())).collect();
    for row in rows {
        let fits = row.as_ref().len() == columns.len()
            && columns.iter_mut().zip(row.as_ref()).all(|(column, it)| column.push(it));
        if !fits {
            return None;
        }
    }
    Some(columns)
}

fn list(mark: &str, width: usize) -> String {
    let all: Vec<String> = (1..=width).map(|it| format!("{mark}{it}")).collect();
    all.join(", ")
}

/// An insert that takes its rows from columns.
pub(crate) fn inserting(table: &str, names: &str, width: usize) -> String {
    format!("insert into {table} ({names}) select * from unnest({})", list("$", width))
}

/// `update t set a = $2 where k = $1` with its parameters taken from the columns of `v`, and the number of the row for
/// each that was touched. None for a statement that is not such an update.
pub(crate) fn for_all(sql: &str, width: usize) -> Option<String> {
    let place = sql.split_whitespace().next().filter(|it| *it == "update").and(position(sql))?;
    let (change, condition) = sql.split_at(place);
    let (params, names) = (list("$", width), list("c", width));
    let from = format!("from unnest({params}) with ordinality as v ({names}, n)");
    let named = |part: &str| part.replace('$', "v.c");
    Some(format!("{}{from} {} returning v.n", named(change), named(condition)))
}

/// Where the condition begins. There is exactly one.
fn position(sql: &str) -> Option<usize> {
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
    fn an_update_of_one_row_becomes_one_of_many() {
        let sql =
            "update notes set word = $2,\n at = $12\n where id = $1 and word in ('where', $3)";
        let expected = "update notes set word = v.c2,\n at = v.c12\n from unnest($1, $2, $3) with \
                        ordinality as v (c1, c2, c3, n) where id = v.c1 and word in ('where', v.c3) \
                        returning v.n";
        assert_eq!(for_all(sql, 3).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_no_plain_update_is_left_alone() {
        for sql in [
            "delete from notes where id = $1",
            "insert into notes (id) values ($1)",
            "update notes set word = $1",
            "update notes set word = (select word from others where id = $2) where id = $1",
        ] {
            assert_eq!(for_all(sql, 2), None, "{sql}");
        }
    }
}
