//! Encodes spans as the protobuf messages of OTLP (`ExportTraceServiceRequest`), which collectors take over HTTP.

use crate::span::{Attribute, FinishedSpan};

/// The content type of an encoded request.
pub const CONTENT_TYPE: &str = "application/x-protobuf";

/// Encodes one request with the attributes of the process and its spans.
pub fn encode(resource: &[(String, String)], spans: &[FinishedSpan]) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |resource_spans| {
        resource_spans.message(1, |message| {
            for (name, value) in resource {
                message.message(1, |it| it.text_attribute(name, value));
            }
        });
        resource_spans.message(2, |scope_spans| {
            scope_spans.message(1, |scope| {
                scope.bytes(1, b"evenkeel");
                scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
            });
            for span in spans {
                scope_spans.message(2, |message| encode_span(message, span));
            }
        });
    });
    request.0
}

fn encode_span(message: &mut Message, span: &FinishedSpan) {
    const ERROR: u64 = 2;
    message.bytes(1, &span.context.trace_id);
    message.bytes(2, &span.context.span_id);
    if let Some(parent) = &span.parent {
        message.bytes(4, parent);
    }
    message.bytes(5, span.name.as_bytes());
    message.number(6, span.kind as u64);
    message.fixed64(7, nanoseconds(span.started_at));
    message.fixed64(8, nanoseconds(span.ended_at));
    for (name, value) in &span.attributes {
        message.message(9, |it| match value {
            Attribute::Word(word) => it.text_attribute(name, word),
            Attribute::Number(number) => it.number_attribute(name, *number),
        });
    }
    if span.is_error {
        message.message(15, |status| status.number(3, ERROR));
    }
}

fn nanoseconds(microseconds: i64) -> u64 {
    u64::try_from(microseconds).unwrap_or(0).saturating_mul(1_000)
}

/// A protobuf message: fields with their number and wire type.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, wire_type: u64) {
        self.varint(field << 3 | wire_type);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.key(field, 0);
        self.varint(value);
    }

    fn fixed64(&mut self, field: u64, value: u64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    fn message(&mut self, field: u64, fill: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        fill(&mut inner);
        self.bytes(field, &inner.0);
    }

    fn text_attribute(&mut self, name: &str, value: &str) {
        self.bytes(1, name.as_bytes());
        self.message(2, |any| any.bytes(1, value.as_bytes()));
    }

    fn number_attribute(&mut self, name: &str, value: i64) {
        self.bytes(1, name.as_bytes());
        // Negative numbers are written as ten bytes, by the rules of `int64`.
        self.message(2, |any| any.number(3, value as u64));
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use crate::context::TraceContext;
    use crate::span::SpanKind;

    use super::*;

    /// The bytes were compared with those of Python's opentelemetry-proto.
    #[test]
    fn a_span_is_encoded_as_the_protocol_says() {
        let span = FinishedSpan {
            context: TraceContext { trace_id: [0xab; 16], span_id: [0xcd; 8], is_sampled: true },
            parent: Some([0xef; 8]),
            name: Cow::Borrowed("GET /accounts"),
            kind: SpanKind::Server,
            started_at: 1_000_000,
            ended_at: 1_000_250,
            attributes: vec![
                ("http.response.status_code", Attribute::Number(500)),
                ("error.type", Attribute::Word(Cow::Borrowed("500"))),
                ("n", Attribute::Number(-1)),
            ],
            is_error: true,
        };
        let resource = [("service.name".to_owned(), "evenkeel".to_owned())];
        let encoded = encode(&resource, &[span]);
        let text: String = encoded.iter().map(|it| format!("{it:02x}")).collect();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(version, "1.0.0", "the bytes below contain it");
        assert_eq!(text, EXPECTED);
    }

    const EXPECTED: &str = "0acd010a1c0a1a0a0c736572766963652e6e616d65120a0a086576656e6b65656c12ac010a110a086576656e6b65656c\
        1205312e302e301296010a10abababababababababababababababab1208cdcdcdcdcdcdcdcd2208efefefefefefefef\
        2a0d474554202f6163636f756e747330023900ca9a3b0000000041909a9e3b000000004a200a19687474702e72657370\
        6f6e73652e7374617475735f636f6465120318f4034a130a0a6572726f722e7479706512050a033530304a100a016e12\
        0b18ffffffffffffffffff017a021802";
}
