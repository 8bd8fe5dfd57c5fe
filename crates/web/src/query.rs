//! Query parameters: each endpoint declares its own, and an unknown one is refused with a suggestion.

use base::{Date, Id, Kind, Timestamp};
use percent_encoding::percent_decode_str;
use service::{Error, Result};

/// The declaration of a parameter, for parsing and documentation.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    pub name: &'static str,
    pub takes: Takes,
    pub description: &'static str,
    pub example: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub enum Takes {
    Text {
        longest: usize,
    },
    Id(&'static str),
    Uuid,
    Date,
    Instant,
    Bool,
    Whole {
        least: i64,
        most: i64,
        default: i64,
    },
    OneOf(&'static [&'static str]),
    /// A word from a closed set that is too long to list in a message.
    Category,
}

/// The decoded parameters of a request, whose names are checked.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pairs: Vec<(&'static Parameter, String)>,
}

impl Query {
    pub fn parse(text: &str, known: &'static [Parameter]) -> Result<Query> {
        let mut pairs: Vec<(&'static Parameter, String)> = Vec::new();
        for part in text.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = decode(name, "the query")?;
            let Some(parameter) = known.iter().find(|it| it.name == name) else {
                return Err(unknown(&name, known.iter().map(|it| it.name)));
            };
            if pairs.iter().any(|(it, _)| it.name == name) {
                return Err(Error::invalid(&name, format!("{name} is given more than once")));
            }
            let value = decode(value, &name)?;
            if value.is_empty() {
                return Err(Error::invalid(&name, format!("{name} is empty; leave it out")));
            }
            pairs.push((parameter, value));
        }
        Ok(Query { pairs })
    }

    /// The names of the parameters that are ids.
    pub(crate) fn id_names(&self) -> Vec<&'static str> {
        let ids =
            self.pairs.iter().filter(|(it, _)| matches!(it.takes, Takes::Id(_) | Takes::Uuid));
        ids.map(|(it, _)| it.name).collect()
    }

    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        let Some((parameter, value)) = self.pairs.iter().find(|(it, _)| it.name == name) else {
            return Ok(None);
        };
        match parameter.takes {
            Takes::Text { longest } if value.chars().count() > longest => {
                Err(wrong(name, &format!("have at most {longest} characters")))
            }
            Takes::OneOf(words) if !words.contains(&value.as_str()) => {
                Err(wrong(name, &format!("be one of {}", words.join(", "))))
            }
            _ => Ok(Some(value)),
        }
    }

    pub fn id<K: Kind>(&self, name: &str) -> Result<Option<Id<K>>> {
        self.read(name, |text| {
            Id::parse(text).map_err(|error| error.to_string().replacen("must ", "", 1))
        })
    }

    pub fn date(&self, name: &str) -> Result<Option<Date>> {
        self.read(name, |text| {
            // Only YYYY-MM-DD: jiff also accepts ambiguous forms.
            let plain = text.len() == 10 && text.is_ascii();
            let parsed: Option<Date> = if plain { text.parse().ok() } else { None };
            parsed.ok_or_else(|| "be a date that exists, as YYYY-MM-DD".to_owned())
        })
    }

    pub fn instant(&self, name: &str) -> Result<Option<Timestamp>> {
        self.read(name, |text| {
            let requirement = || "be an instant such as 2026-04-10T08:30:00Z".to_owned();
            text.parse().map_err(|_| requirement())
        })
    }

    pub fn bool(&self, name: &str) -> Result<Option<bool>> {
        self.read(name, |text| match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("be true or false".to_owned()),
        })
    }

    /// A whole number within its declared bounds, or its default.
    pub fn whole(&self, parameter: &Parameter) -> Result<i64> {
        let Takes::Whole { least, most, default } = parameter.takes else {
            return Err(Error::internal("a parameter is read as what it is not"));
        };
        let read = self.read(parameter.name, |text| {
            let digits = text.len() <= 18 && text.bytes().all(|it| it.is_ascii_digit());
            let number: Option<i64> = if digits { text.parse().ok() } else { None };
            number
                .filter(|it| (least..=most).contains(it))
                .ok_or_else(|| format!("be a whole number from {least} to {most}"))
        })?;
        Ok(read.unwrap_or(default))
    }

    fn read<T>(
        &self,
        name: &str,
        read: impl Fn(&str) -> std::result::Result<T, String>,
    ) -> Result<Option<T>> {
        match self.text(name)? {
            Some(text) => read(text).map(Some).map_err(|requirement| wrong(name, &requirement)),
            None => Ok(None),
        }
    }
}

/// `limit must be a whole number from 1 to 100`
fn wrong(name: &str, requirement: &str) -> Error {
    Error::invalid(name, format!("{name} must {requirement}"))
}

/// Refuses an undeclared parameter: a filter that is silently ignored would return the wrong rows.
pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
    let shown: String = name.chars().take(64).collect();
    // Suggests a name even if half of it differs: there are few names, and a wrong suggestion does no harm.
    let message = match base::nearest(&shown, known.clone(), shown.chars().count() / 2 + 1) {
        Some(nearest) => format!("{shown} is not known here; did you mean {nearest}?"),
        None => match known.collect::<Vec<_>>().as_slice() {
            [] => format!("{shown} is not known here, which takes none"),
            names => format!("{shown} is not known here; known are {}", names.join(", ")),
        },
    };
    Error::invalid(&shown, message)
}

fn decode(text: &str, name: &str) -> Result<String> {
    match decode_component(text) {
        Ok(text) => Ok(text),
        Err(requirement) => Err(wrong(name, requirement)),
    }
}

/// Decodes percent and plus encoding. A result that is not UTF-8 is an error, never replaced.
pub(crate) fn decode_component(text: &str) -> Result<String, &'static str> {
    let is_escape = |it: &str| it.len() >= 2 && it.bytes().take(2).all(|it| it.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(is_escape) {
        return Err("have two hexadecimal digits after each %");
    }
    let text = text.replace('+', " ");
    let decoded = percent_decode_str(&text).decode_utf8().map_err(|_| "be UTF-8 text")?;
    Ok(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    static KNOWN: &[Parameter] = &[
        Parameter { name: "account_id", takes: Takes::Id("acc_"), description: "", example: "" },
        Parameter { name: "start_date", takes: Takes::Date, description: "", example: "" },
        Parameter {
            name: "limit",
            takes: Takes::Whole { least: 1, most: 100, default: 50 },
            description: "",
            example: "",
        },
        Parameter { name: "q", takes: Takes::Text { longest: 5 }, description: "", example: "" },
    ];

    fn check(query: &str, expected: &str) {
        let read = || -> Result<String> {
            let query = Query::parse(query, KNOWN)?;
            let date = query.date("start_date")?.map_or(String::new(), |it| it.to_string());
            let account: Option<base::AccountId> = query.id("account_id")?;
            let account = account.map_or(String::new(), |it| it.to_string());
            let q = query.text("q")?.unwrap_or_default().to_owned();
            Ok(format!("{} {date} {q} {account}", query.whole(&KNOWN[2])?))
        };
        let shown = match read() {
            Ok(text) => text.trim_end().to_owned(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(shown, expected, "{query}");
    }

    #[test]
    fn parameters_are_read_exactly_or_refused_with_what_to_do() {
        check("", "50");
        check("limit=7&start_date=2026-02-28&q=a%26+b", "7 2026-02-28 a& b");
        check("limit=0", "error: limit must be a whole number from 1 to 100");
        check("limit=101", "error: limit must be a whole number from 1 to 100");
        check("limit=x", "error: limit must be a whole number from 1 to 100");
        check("limit=+5", "error: limit must be a whole number from 1 to 100");
        check("limit=5&limit=6", "error: limit is given more than once");
        check("limit=", "error: limit is empty; leave it out");
        check(
            "start_date=2026-02-30",
            "error: start_date must be a date that exists, as YYYY-MM-DD",
        );
        check("start_date=20260201", "error: start_date must be a date that exists, as YYYY-MM-DD");
        check("q=abcdef", "error: q must have at most 5 characters");
        check("q=%ff", "error: q must be UTF-8 text");
        check("q=%f", "error: q must have two hexadecimal digits after each %");
        check(
            "account_id=acc_1",
            "error: account_id must look like acc_ followed by 26 letters and digits",
        );
    }

    #[test]
    fn an_unknown_parameter_is_refused_with_the_nearest_name() {
        check("acount=1", "error: acount is not known here; did you mean account_id?");
        check("Limit=1", "error: Limit is not known here; did you mean limit?");
        check("from_date=1", "error: from_date is not known here; did you mean start_date?");
        check(
            "zzzzzzzzzzzzzzz=1",
            "error: zzzzzzzzzzzzzzz is not known here; known are account_id, start_date, limit, q",
        );
    }
}
