//! The statements of a migration, taken apart for a sharded database: there a new table gets its foreign keys only
//! after it was placed, because a table on one node cannot refer to a distributed one.

/// A new table, and the statements that add its foreign keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NewTable {
    pub(super) name: String,
    /// The statement without foreign keys.
    pub(super) create: String,
    pub(super) foreign_keys: Vec<String>,
}

impl NewTable {
    /// None for another statement.
    pub(super) fn parse(statement: &str) -> Option<NewTable> {
        let head = ["create table ", "create unlogged table "];
        let rest = head.iter().find_map(|it| statement.strip_prefix(it))?;
        let open = statement.find('(')?;
        let name = rest.split(|it: char| it == '(' || it.is_whitespace()).next()?.to_owned();
        let items = top_level_items(&statement[open..]);
        let length: usize = items.iter().map(|it| it.len() + 1).sum();
        let end = statement.get(open + length..)?.strip_prefix(')')?;
        let (mut kept, mut foreign_keys) = (Vec::new(), Vec::new());
        for item in items.iter().map(|it| it.trim()) {
            if item.starts_with("foreign key") {
                foreign_keys.push(format!("alter table {name} add {item}"));
            } else if let Some((column, reference)) = item.split_once(" references ") {
                let (key, _) = column.split_once(char::is_whitespace)?;
                let key =
                    format!("alter table {name} add foreign key ({key}) references {reference}");
                foreign_keys.push(key);
                kept.push(column);
            } else {
                kept.push(item);
            }
        }
        let create = format!("{}({}){end}", &statement[..open], kept.join(", "));
        Some(NewTable { name, create, foreign_keys })
    }
}

/// The parts between commas of a list in parentheses, without those in inner parentheses.
fn top_level_items(list: &str) -> Vec<&str> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0_usize, 1);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && letter == ',') {
            items.push(&list[start..at]);
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    items
}

/// The statements of a text, without comments. Bodies of functions between `$$` stay whole.
pub(super) fn split(sql: &str) -> Vec<String> {
    let (mut statements, mut statement) = (Vec::new(), String::new());
    let (mut is_text, mut is_body) = (false, false);
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        if !is_text && !is_body && rest.starts_with("--") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        if !is_text && rest.starts_with("$$") {
            is_body = !is_body;
            statement.push_str("$$");
            rest = &rest[2..];
            continue;
        }
        is_text ^= letter == '\'' && !is_body;
        if letter == ';' && !is_text && !is_body {
            statements.push(std::mem::take(&mut statement));
        } else {
            statement.push(letter);
        }
        rest = &rest[letter.len_utf8()..];
    }
    statements.push(statement);
    let trimmed = statements.iter().map(|it| it.trim().to_owned());
    trimmed.filter(|it| !it.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_semicolons_outside_of_texts_comments_and_functions() {
        let sql = "-- One; two.\na 'x;--''y';\ncreate function f() as $$\nbegin; 'it; end $$;\n  -- End\n b ; ";
        assert_eq!(
            split(sql),
            ["a 'x;--''y'", "create function f() as $$\nbegin; 'it; end $$", "b"]
        );
    }

    #[test]
    fn a_new_table_is_separated_from_its_foreign_keys() {
        let table = NewTable::parse(
            "create table notes (\n    user_id bytea not null references users (id) on delete cascade,
    id bytea not null, size numeric(9, 2) default (1),\n    primary key (user_id, id),
    foreign key (user_id, id) references accounts (user_id, id) on delete cascade\n) ",
        );
        let expected = NewTable {
            name: "notes".to_owned(),
            create: "create table notes (user_id bytea not null, id bytea not null, \
                size numeric(9, 2) default (1), primary key (user_id, id)) "
                .to_owned(),
            foreign_keys: vec![
                "alter table notes add foreign key (user_id) references users (id) on delete cascade"
                    .to_owned(),
                "alter table notes add foreign key (user_id, id) references accounts (user_id, id) on delete cascade"
                    .to_owned(),
            ],
        };
        assert_eq!(table, Some(expected));
        for other in
            ["create index a on b (c)", "alter table a add column b text", "create table a ("]
        {
            assert_eq!(NewTable::parse(other), None, "{other}");
        }
    }
}
