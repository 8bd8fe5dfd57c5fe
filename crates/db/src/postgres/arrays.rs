//! Statements over many rows whose values are passed as arrays and unpacked with `unnest`.

use tokio_postgres::types::{ToSql, Type};

use crate::value::Param;

/// The values of one parameter for all rows.
pub(super) enum ArrayParam {
    Int(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
    /// One value for all rows.
    One(Option<Vec<u8>>),
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
            ArrayParam::One(it) => (it, Type::BYTEA),
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

/// Adds a condition on the user to a statement of `update_statement`, if all rows belong to one user, who becomes the
/// last parameter. Citus then asks the user's shard only, and otherwise all of them.
pub(super) fn name_user(sql: &str, arrays: &mut Vec<ArrayParam>) -> String {
    let same = |column: &ArrayParam| match column {
        ArrayParam::Bytes(all) => all.first().cloned().filter(|it| all.iter().all(|row| row == it)),
        _ => None,
    };
    let parts = only_where(sql).and_then(|at| {
        let (update, condition) = sql.split_at(at);
        let (condition, returning) = condition.rsplit_once(" returning ")?;
        let condition = condition.strip_prefix("where ")?;
        let (_, after) = condition.split_once("user_id = v.c")?;
        let digits = after.split(|it: char| !it.is_ascii_digit()).next()?;
        let user = same(arrays.get(digits.parse::<usize>().ok()?.checked_sub(1)?)?)?;
        Some((update, condition, returning, user))
    });
    let Some((update, condition, returning, user)) = parts else { return sql.to_owned() };
    arrays.push(ArrayParam::One(user));
    let number = arrays.len();
    format!("{update}where ({condition}) and user_id = ${number} returning {returning}")
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
    fn an_update_of_one_users_rows_names_the_user() {
        let sql = update_statement("update notes set word = $2 where user_id = $1 and id = $3", 3);
        let sql = sql.unwrap();
        let rows = |users: [u8; 2]| {
            let row = |it| [vec![it], b"word".to_vec(), vec![it]];
            let rows = users.map(row);
            let column = |at: usize| rows.iter().map(|it| Some(it[at].clone())).collect();
            (0..3).map(|at| ArrayParam::Bytes(column(at))).collect::<Vec<_>>()
        };
        let mut arrays = rows([7, 7]);
        let named = name_user(&sql, &mut arrays);
        let end = "where (user_id = v.c1 and id = v.c3) and user_id = $4 returning v.n";
        assert!(named.ends_with(end), "{named}");
        assert!(matches!(arrays.last(), Some(ArrayParam::One(Some(user))) if *user == [7]));
        let mut arrays = rows([7, 8]);
        assert_eq!((name_user(&sql, &mut arrays), arrays.len()), (sql, 3), "two users");
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
