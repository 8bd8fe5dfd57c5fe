//! The context of a span as it travels between programs: the header `traceparent` of W3C Trace Context.

use std::fmt;

/// A span that other spans, here or in another program, are part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    pub is_sampled: bool,
}

impl TraceContext {
    /// Reads a `traceparent`; none if it is malformed. Later versions may have more fields, which are ignored.
    pub fn parse(header: &str) -> Option<TraceContext> {
        let mut fields = header.trim().split('-');
        let version: [u8; 1] = hex(fields.next()?)?;
        let trace_id: [u8; 16] = hex(fields.next()?)?;
        let span_id: [u8; 8] = hex(fields.next()?)?;
        let flags: [u8; 1] = hex(fields.next()?)?;
        let has_more = fields.next().is_some();
        let is_valid = trace_id != [0; 16] && span_id != [0; 8];
        if !is_valid || version == [0xff] || version == [0] && has_more {
            return None;
        }
        Some(TraceContext { trace_id, span_id, is_sampled: flags[0] & 1 == 1 })
    }

    /// The id of the trace as logs and collectors show it.
    pub fn trace_id_text(&self) -> String {
        text_of(&self.trace_id)
    }
}

/// The `traceparent` of requests that this span sends.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace_id, span_id) = (text_of(&self.trace_id), text_of(&self.span_id));
        write!(f, "00-{trace_id}-{span_id}-{:02x}", u8::from(self.is_sampled))
    }
}

fn text_of(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Exactly so many bytes in lowercase hexadecimal digits.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    let is_hex = |it: &u8| it.is_ascii_digit() || (b'a'..=b'f').contains(it);
    if digits.len() != 2 * N || !digits.iter().all(is_hex) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, index) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(index..index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_header_is_read_and_written() {
        let context = TraceContext::parse(VALID).unwrap();
        assert!(context.is_sampled);
        assert_eq!(context.trace_id_text(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(context.to_string(), VALID);
        let unsampled = TraceContext::parse(&VALID.replace("-01", "-00")).unwrap();
        assert!(!unsampled.is_sampled);
        let later = TraceContext::parse(&format!("{}-more", VALID.replacen("00", "cc", 1)));
        assert_eq!(later.unwrap().trace_id, context.trace_id);
    }

    #[test]
    fn a_malformed_header_is_none() {
        for header in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473\u{e9}-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceContext::parse(header), None, "{header}");
        }
    }
}
