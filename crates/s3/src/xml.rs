//! The small XML documents of S3. Documents with a DOCTYPE are refused, so entities other than the five predefined ones
//! and numbered characters do not exist.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

/// Documents of S3 are at most five tags deep.
const DEEPEST: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    text: String,
    children: Vec<Element>,
}

impl Element {
    pub(crate) fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |it| it.name == name)
    }

    /// The text of the first child of this name.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.children.iter().find(|it| it.name == name).map(|it| it.text.trim())
    }
}

/// The document's root; none if it is malformed. Its size is limited by the length of the body.
pub(crate) fn parse(body: &[u8]) -> Option<Element> {
    let text = std::str::from_utf8(body).ok()?;
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) if open.len() < DEEPEST => {
                open.push(named(tag.local_name().as_ref()))
            }
            Event::Empty(tag) => {
                let element = named(tag.local_name().as_ref());
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => return Some(element),
                }
            }
            Event::End(_) => {
                let element = open.pop()?;
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => return Some(element),
                }
            }
            Event::Text(text) => add(&mut open, &text),
            Event::CData(text) => add(&mut open, &text),
            Event::GeneralRef(reference) => add(&mut open, &resolve(&reference)?),
            Event::Start(_) | Event::DocType(_) | Event::Eof => return None,
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
        }
    }
}

fn named(name: &str) -> Element {
    Element { name: name.to_owned(), ..Element::default() }
}

fn add(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn resolve(reference: &BytesRef<'_>) -> Option<String> {
    if let Some(character) = reference.resolve_char_ref().ok()? {
        return Some(character.to_string());
    }
    resolve_predefined_entity(reference).map(str::to_owned)
}

/// Escapes text for a document that is sent.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_with_its_entities() {
        let parsed = parse(
            b"<?xml version=\"1.0\"?>\n<s3:List xmlns:s3=\"x\"><Key>a&amp;b&#x41;<![CDATA[<]]></Key><Empty/></s3:List>",
        );
        let parsed = parsed.unwrap();
        assert_eq!((parsed.name.as_str(), parsed.text_of("Key")), ("List", Some("a&bA<")));
        assert_eq!(parsed.text_of("Empty"), Some(""));
    }

    #[test]
    fn hostile_documents_are_refused() {
        let deep = "<a>".repeat(100_000);
        let bomb = "<!DOCTYPE a [<!ENTITY b \"xxxxxxxx\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>";
        for bad in
            ["", "no", "<a>", "<a></b>", "<a>&c;</a>", "<a>&#0;&#xffffffff;</a>", &deep, bomb]
        {
            assert!(parse(bad.as_bytes()).is_none(), "{}", &bad[..bad.len().min(60)]);
        }
        assert!(parse(b"<a>\xff</a>").is_none());
    }
}
