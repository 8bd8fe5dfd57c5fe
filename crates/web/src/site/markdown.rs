//! Renders Markdown written by the proposer of an action, without links, images or HTML.

use maud::{Markup, PreEscaped, Render as _};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Renders paragraphs, lists, quotes, emphasis and code. A link shows its address as text, an image its alternative
/// text. Headings become bold text, so that they cannot be mistaken for headings of the page.
pub(crate) fn render(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() * 2);
    let mut links = Vec::new();
    for event in Parser::new_ext(text, Options::empty()) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => links.push(dest_url.into_string()),
            Event::End(TagEnd::Link) => {
                let to = links.pop().unwrap_or_default();
                out.push_str(" (");
                escape(&mut out, &to);
                out.push(')');
            }
            Event::Start(tag) => out.push_str(opened(&tag)),
            Event::End(tag) => out.push_str(closed(tag)),
            Event::Code(code) => {
                out.push_str("<code>");
                escape(&mut out, &code);
                out.push_str("</code>");
            }
            Event::SoftBreak => out.push(' '),
            Event::HardBreak => out.push_str("<br>"),
            // HTML is shown as text.
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                escape(&mut out, &text);
            }
            _ => {}
        }
    }
    PreEscaped(out)
}

fn opened(tag: &Tag<'_>) -> &'static str {
    match tag {
        Tag::Paragraph => "<p>",
        Tag::Heading { .. } => "<p><strong>",
        Tag::BlockQuote(_) => "<blockquote>",
        Tag::CodeBlock(_) => "<pre tabindex=\"0\"><code>",
        Tag::List(None) => "<ul>",
        Tag::List(Some(_)) => "<ol>",
        Tag::Item => "<li>",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<strong>",
        _ => "",
    }
}

fn closed(tag: TagEnd) -> &'static str {
    match tag {
        TagEnd::Paragraph => "</p>",
        TagEnd::Heading(_) => "</strong></p>",
        TagEnd::BlockQuote(_) => "</blockquote>",
        TagEnd::CodeBlock => "</code></pre>",
        TagEnd::List(false) => "</ul>",
        TagEnd::List(true) => "</ol>",
        TagEnd::Item => "</li>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        _ => "",
    }
}

fn escape(out: &mut String, text: &str) {
    text.render_to(out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(render(text).into_string(), expected, "{text}");
    }

    #[test]
    fn formatting_is_rendered() {
        check(
            "Prices *fell*.\n\nSo **buy**.",
            "<p>Prices <em>fell</em>.</p><p>So <strong>buy</strong>.</p>",
        );
        check("- one\n- two", "<ul><li>one</li><li>two</li></ul>");
        check("# Buy\nnow", "<p><strong>Buy</strong></p><p>now</p>");
        check("`x < y`", "<p><code>x &lt; y</code></p>");
    }

    #[test]
    fn links_images_and_html_become_text() {
        check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
        check("a <img src=x onerror=y> b", "<p>a &lt;img src=x onerror=y&gt; b</p>");
        check("![logo](https://evil.example/a.png)", "<p>logo</p>");
        check("[here](javascript:alert)", "<p>here (javascript:alert)</p>");
        check("<https://evil.example>", "<p>https://evil.example (https://evil.example)</p>");
        check("[a](<x\"b>)", "<p>a (x&quot;b)</p>");
    }

    proptest! {
        /// Every `<` in the output begins one of the allowed tags.
        #[test]
        fn only_allowed_tags_are_rendered(text in "[\\[\\]()<>!\"'`*#=/a-z:&;\\n -]{0,200}") {
            let drawn = render(&text).into_string();
            for piece in drawn.split('<').skip(1) {
                let tag = piece.split('>').next().unwrap_or_default();
                let name = tag.trim_start_matches('/');
                let ours = ["p", "strong", "em", "ul", "ol", "li", "blockquote", "code", "br",
                    "pre", "pre tabindex=\"0\""];
                prop_assert!(ours.contains(&name), "{tag:?} of {text:?}");
            }
        }
    }
}
