//! Messages of plain text, written so that every byte on the wire is printable ASCII in short lines: a name, a subject or
//! a text cannot add a header or end the message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::address::{EmailAddress, Mailbox};

/// The longest line, without its end.
const LINE_MAX: usize = 76;
/// The longest text in a header that is not encoded.
const PLAIN_MAX: usize = 60;
/// Bytes of one encoded word: 45 in base64 are 60 characters, and the frame adds 12.
const WORD_BYTES: usize = 45;

/// A message to one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub from: Mailbox,
    pub to: EmailAddress,
    pub subject: String,
    pub text: String,
    /// The unique part of its id. A message that is sent twice keeps it, so that programs show it once.
    pub id: String,
    /// The time as email has it, such as `Tue, 17 Nov 2026 16:00:00 +0000`.
    pub date: String,
}

impl Message {
    /// Headers and body with line ends of two characters, without the dot at the end.
    pub(super) fn write(&self) -> String {
        let from = match &self.from.name {
            None => self.from.address.to_string(),
            Some(name) => format!("{} <{}>", header_text(name), self.from.address),
        };
        let plain = |it: &str| -> String {
            it.chars().filter(|it| it.is_ascii_alphanumeric() || ",: +-".contains(*it)).collect()
        };
        let (date, id, domain) = (plain(&self.date), plain(&self.id), self.from.address.domain());
        let (to, subject) = (&self.to, header_text(&self.subject));
        let body = quoted_printable(&self.text);
        format!(
            "From: {from}\r\nTo: {to}\r\nSubject: {subject}\r\nDate: {date}\r\nMessage-ID: <{id}@{domain}>\r\n\
             MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Transfer-Encoding: quoted-printable\r\nAuto-Submitted: auto-generated\r\n\r\n{body}"
        )
    }
}

/// Text in a header: as it is if it is short and has no character that means something there, and otherwise in encoded
/// words.
fn header_text(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || " !#$%&'*+-/^_`{|}~".contains(it);
    match text.len() <= PLAIN_MAX && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => encoded_words(text),
    }
}

fn encoded_words(text: &str) -> String {
    let mut words: Vec<String> = vec![String::new()];
    for character in text.chars() {
        let character = if character.is_control() { ' ' } else { character };
        let is_full = words.last().is_some_and(|it| it.len() + character.len_utf8() > WORD_BYTES);
        if is_full {
            words.push(String::new());
        }
        words.last_mut().into_iter().for_each(|it| it.push(character));
    }
    let encode = |it: &String| format!("=?utf-8?B?{}?=", STANDARD.encode(it));
    words.iter().map(encode).collect::<Vec<_>>().join("\r\n ")
}

/// Encodes text: ASCII stays readable, and every line is short.
fn quoted_printable(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() + text.len() / 8);
    for line in text.lines() {
        let mut length = 0;
        let bytes = line.as_bytes();
        for (index, byte) in bytes.iter().enumerate() {
            let is_last = index + 1 == bytes.len();
            let is_literal = match byte {
                b' ' | b'\t' => !is_last,
                b'=' => false,
                _ => byte.is_ascii_graphic(),
            };
            let width = if is_literal { 1 } else { 3 };
            if length + width >= LINE_MAX {
                encoded.push_str("=\r\n");
                length = 0;
            }
            match is_literal {
                true => encoded.push(char::from(*byte)),
                false => encoded.push_str(&format!("={byte:02X}")),
            }
            length += width;
        }
        encoded.push_str("\r\n");
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(subject: &str, text: &str) -> Message {
        Message {
            from: Mailbox::parse("Our, money <money@example.com>").unwrap(),
            to: EmailAddress::parse("robin@example.com").unwrap(),
            subject: subject.to_owned(),
            text: text.to_owned(),
            id: "0a0b".to_owned(),
            date: "Tue, 17 Nov 2026 16:00:00 +0000".to_owned(),
        }
    }

    #[test]
    fn nothing_in_a_message_adds_a_header_or_ends_it() {
        for evil in
            ["Hi\r\nBcc: eve@example.com", "Hi\n\nbody", "\r\n.\r\n", "=?utf-8?B?SGk=?=", "ü\u{0}"]
        {
            let written =
                Message { id: evil.to_owned(), date: evil.to_owned(), ..message(evil, evil) }
                    .write();
            let (head, body) = written.split_once("\r\n\r\n").unwrap();
            let names: Vec<&str> = head
                .split("\r\n")
                .filter(|it| !it.starts_with(' '))
                .map(|it| it.split_once(": ").unwrap().0)
                .collect();
            let expected = [
                "From",
                "To",
                "Subject",
                "Date",
                "Message-ID",
                "MIME-Version",
                "Content-Type",
                "Content-Transfer-Encoding",
                "Auto-Submitted",
            ];
            assert_eq!(names, expected, "{evil:?}");
            for line in head.split("\r\n").chain(body.split("\r\n")) {
                assert!(
                    line.len() <= 100 && line.bytes().all(|it| it == b' ' || it.is_ascii_graphic()),
                    "{line:?}"
                );
            }
        }
    }

    #[test]
    fn long_lines_and_other_letters_are_encoded() {
        let written = quoted_printable(&format!("{}\nÄ = 1 \n.", "x".repeat(100)));
        assert_eq!(
            written,
            format!("{}=\r\n{}\r\n=C3=84 =3D 1=20\r\n.\r\n", "x".repeat(75), "x".repeat(25))
        );
        assert_eq!(header_text("Reset your password"), "Reset your password");
        assert_eq!(header_text("Äpfel"), "=?utf-8?B?w4RwZmVs?=");
        assert!(header_text(&"ä".repeat(100)).split("\r\n ").all(|it| it.len() <= 75));
    }
}
