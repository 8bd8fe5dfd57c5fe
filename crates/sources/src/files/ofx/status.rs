//! The status that a bank sends with its OFX response.

use std::borrow::Cow;

/// How much of a bank's message is passed on.
const MESSAGE_MAX: usize = 200;

#[derive(Debug)]
pub(super) struct Status<'a> {
    line: usize,
    code: Option<Cow<'a, str>>,
    severity: Option<Cow<'a, str>>,
    message: Option<Cow<'a, str>>,
}

impl<'a> Status<'a> {
    pub(super) fn new(line: usize) -> Status<'a> {
        Status { line, code: None, severity: None, message: None }
    }

    pub(super) fn set(&mut self, name: &str, value: Cow<'a, str>) -> Option<Cow<'a, str>> {
        let slot = match name {
            "CODE" => &mut self.code,
            "SEVERITY" => &mut self.severity,
            "MESSAGE" => &mut self.message,
            _ => return Some(value),
        };
        slot.get_or_insert(value);
        None
    }

    /// The line and message, if the bank refused to answer.
    pub(super) fn refusal(&self) -> Option<(usize, String)> {
        let severity = self.severity.as_deref()?;
        if !severity.eq_ignore_ascii_case("ERROR") {
            return None;
        }
        let code = self.code.as_deref().unwrap_or_default();
        let words = match self.message.as_deref() {
            Some(message) => message.chars().take(MESSAGE_MAX).collect(),
            None => in_words(code).to_owned(),
        };
        let words = words.trim_end_matches('.');
        let code = if code.is_empty() { String::new() } else { format!(" (code {code})") };
        Some((self.line, format!("the bank answered: {words}{code}")))
    }
}

/// The message for codes that come without one.
fn in_words(code: &str) -> &'static str {
    match code {
        "2001" | "2003" => "it does not know the account",
        "2002" => "it cannot show the account",
        "2004" => "the account is closed",
        "2005" => "you may not see the account",
        "2019" => "it has answered the same question before",
        "2020" | "2027" => "the dates that were asked for are not valid",
        "15000" => "the password must be changed first",
        "15500" => "the name or password was wrong",
        _ => "something went wrong, without saying what",
    }
}
