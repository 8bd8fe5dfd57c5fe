//! Writes a calendar in the format iCalendar (RFC 5545).

use base::{Date, Timestamp};

/// The most bytes in a line, without its end (RFC 5545, section 3.1).
const LINE_MAX: usize = 75;

/// An event that takes a whole day.
pub(super) struct Event {
    /// The same for the same event every time, and unique.
    pub(super) uid: String,
    pub(super) on: Date,
    pub(super) updated_at: Timestamp,
    pub(super) summary: String,
    pub(super) description: String,
}

/// The calendar as a file.
pub(super) fn write(name: &str, events: &[Event]) -> String {
    let mut out = String::new();
    let mut line = |text: &str| push_folded(&mut out, text);
    line("BEGIN:VCALENDAR");
    line("VERSION:2.0");
    line("PRODID:-//Evenkeel//Recurring payments//EN");
    line("CALSCALE:GREGORIAN");
    line("METHOD:PUBLISH");
    line(&format!("X-WR-CALNAME:{}", escape(name)));
    line("REFRESH-INTERVAL;VALUE=DURATION:PT12H");
    line("X-PUBLISHED-TTL:PT12H");
    for event in events {
        let end = event.on.tomorrow().unwrap_or(Date::MAX);
        line("BEGIN:VEVENT");
        line(&format!("UID:{}", escape(&event.uid)));
        line(&format!("DTSTAMP:{}", event.updated_at.strftime("%Y%m%dT%H%M%SZ")));
        line(&format!("DTSTART;VALUE=DATE:{}", event.on.strftime("%Y%m%d")));
        line(&format!("DTEND;VALUE=DATE:{}", end.strftime("%Y%m%d")));
        line(&format!("SUMMARY:{}", escape(&event.summary)));
        line(&format!("DESCRIPTION:{}", escape(&event.description)));
        line("TRANSP:TRANSPARENT");
        line("END:VEVENT");
    }
    line("END:VCALENDAR");
    out
}

/// Escapes a text value. Control characters other than line breaks and tabs are not allowed in one.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\\' | ';' | ',' => out.extend(['\\', letter]),
            '\n' | '\r' => out.push_str("\\n"),
            '\t' => out.push('\t'),
            other if other.is_control() => {}
            other => out.push(other),
        }
    }
    out
}

/// Appends a line. One that is too long goes on in the next line after a space, and no letter is cut in two.
fn push_folded(out: &mut String, line: &str) {
    let mut length = 0;
    for letter in line.chars() {
        if length + letter.len_utf8() > LINE_MAX {
            out.push_str("\r\n ");
            length = 1;
        }
        out.push(letter);
        length += letter.len_utf8();
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(summary: &str) -> Event {
        Event {
            uid: "str_1-2026-03-31@evenkeel".to_owned(),
            on: "2026-03-31".parse().unwrap(),
            updated_at: "2026-03-10T12:00:00.123456Z".parse().unwrap(),
            summary: summary.to_owned(),
            description: String::new(),
        }
    }

    /// The lines as a reader puts them together again.
    fn unfolded(file: &str) -> Vec<String> {
        assert!(file.ends_with("\r\n") && !file.replace("\r\n", "").contains(['\r', '\n']));
        let whole = file.replace("\r\n ", "");
        whole.trim_end_matches("\r\n").split("\r\n").map(str::to_owned).collect()
    }

    #[test]
    fn a_calendar_has_the_required_lines_in_order() {
        let lines = unfolded(&write("Bills", &[event("Rent")]));
        assert_eq!(lines[..3], ["BEGIN:VCALENDAR", "VERSION:2.0", lines[2].as_str()]);
        assert!(lines[2].starts_with("PRODID:"));
        let from = lines.iter().position(|it| it == "BEGIN:VEVENT").unwrap();
        assert_eq!(
            lines[from..],
            [
                "BEGIN:VEVENT",
                "UID:str_1-2026-03-31@evenkeel",
                "DTSTAMP:20260310T120000Z",
                "DTSTART;VALUE=DATE:20260331",
                "DTEND;VALUE=DATE:20260401",
                "SUMMARY:Rent",
                "DESCRIPTION:",
                "TRANSP:TRANSPARENT",
                "END:VEVENT",
                "END:VCALENDAR",
            ]
        );
    }

    #[test]
    fn separators_and_line_breaks_are_escaped_and_control_characters_left_out() {
        let text = "Smith, Jones; Co\\Ltd\r\nBEGIN:VEVENT\u{7}\tX";
        assert_eq!(escape(text), "Smith\\, Jones\\; Co\\\\Ltd\\nBEGIN:VEVENT\tX");
        let lines = unfolded(&write("Bills", &[event("A\nEND:VCALENDAR")]));
        assert_eq!(lines.iter().filter(|it| *it == "END:VCALENDAR").count(), 1);
    }

    proptest! {
        #[test]
        fn no_line_is_longer_than_75_bytes_and_unfolding_gives_the_text_back(text in "\\PC{0,300}") {
            let file = write("Bills", &[event(&text)]);
            for line in file.split("\r\n") {
                prop_assert!(line.len() <= LINE_MAX, "{line}");
            }
            let expected = format!("SUMMARY:{}", escape(&text));
            prop_assert!(unfolded(&file).contains(&expected), "{file}");
        }
    }
}
