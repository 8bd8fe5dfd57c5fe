//! A form with one file: taken apart strictly, after it is certain that the form was ours.

use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use http_body_util::{BodyExt as _, Limited};

use super::cookies;
use super::form::{self, TOKEN_FIELD};
use super::trouble::Trouble;
use crate::Door;

/// More than any file we keep, so that one that is a little too large is told so on its page.
const BYTES_MAX: usize = 8 * 1_024 * 1_024;

/// The file of a form of the signed-in person, if one was chosen.
pub(crate) struct Upload {
    pub(crate) content: Option<Vec<u8>>,
}

impl FromRequest<Door> for Upload {
    type Rejection = Response;

    async fn from_request(request: Request, door: &Door) -> Result<Upload, Response> {
        let (parts, body) = request.into_parts();
        let told = parts.headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let Some(boundary) = told.and_then(boundary) else { return Err(form::unreadable()) };
        let Ok(body) = Limited::new(body, BYTES_MAX).collect().await else {
            let said = "The file is far too large. Go back and choose a smaller one.";
            let trouble = Trouble::new(StatusCode::PAYLOAD_TOO_LARGE, "Too much", said);
            return Err(trouble.into_response());
        };
        let body = body.to_bytes();
        let Some(fields) = fields(&body, boundary) else { return Err(form::unreadable()) };
        let token = fields.iter().find(|it| it.name == TOKEN_FIELD && !it.is_file);
        let token = token.and_then(|it| std::str::from_utf8(it.content).ok()).unwrap_or_default();
        if !form::is_ours(door, &parts.headers, cookies::SESSION, token) {
            return Err(form::stale());
        }
        let file = fields.iter().find(|it| it.is_file && !it.content.is_empty());
        Ok(Upload { content: file.map(|it| it.content.to_vec()) })
    }
}

struct Field<'a> {
    name: &'a str,
    is_file: bool,
    content: &'a [u8],
}

fn boundary(media_type: &str) -> Option<&str> {
    let rest = media_type.strip_prefix("multipart/form-data")?.trim_start();
    let boundary =
        rest.strip_prefix(';')?.trim_start().strip_prefix("boundary=")?.trim_matches('"');
    ((1..=70).contains(&boundary.len()) && !boundary.contains(['"', ';', ' '])).then_some(boundary)
}

/// RFC 7578 as browsers write it; what is not written so is no form.
fn fields<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Field<'a>>> {
    let first = format!("--{boundary}");
    let next = format!("\r\n--{boundary}");
    let mut rest = body.strip_prefix(first.as_bytes())?;
    let mut fields = Vec::new();
    loop {
        if rest == b"--\r\n" || rest == b"--" {
            return Some(fields);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let head = find(rest, b"\r\n\r\n")?;
        let content = &rest[head + 4..];
        let end = find(content, next.as_bytes())?;
        let (name, is_file) = named(std::str::from_utf8(&rest[..head]).ok()?)?;
        fields.push(Field { name, is_file, content: &content[..end] });
        rest = &content[end + next.len()..];
    }
}

/// The name of a field, and whether it is a file.
fn named(head: &str) -> Option<(&str, bool)> {
    let line = head.lines().find(|it| {
        it.get(..20).is_some_and(|it| it.eq_ignore_ascii_case("content-disposition:"))
    })?;
    let rest = line[20..].trim_start().strip_prefix("form-data;")?.trim_start();
    let (name, rest) = rest.strip_prefix("name=\"")?.split_once('"')?;
    Some((name, rest.trim_start_matches([';', ' ']).starts_with("filename")))
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|it| it == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "--b\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\nt1\r\n\
        --b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n\
        Content-Type: image/png\r\n\r\n\x01\r\n--\r\n--b--\r\n";

    #[test]
    fn a_form_is_taken_apart_into_its_fields() {
        let fields = fields(FORM.as_bytes(), "b").unwrap();
        let told: Vec<_> = fields.iter().map(|it| (it.name, it.is_file, it.content)).collect();
        let wanted = [("form_token", false, &b"t1"[..]), ("image", true, b"\x01\r\n--")];
        assert_eq!(told, wanted);
    }

    #[test]
    fn what_is_cut_or_bent_is_no_form() {
        let whole = FORM.len() - 2;
        for cut in 0..whole - 2 {
            assert!(fields(&FORM.as_bytes()[..cut], "b").is_none(), "{cut}");
        }
        for bent in [
            FORM.replace("form-data;", "attachment;"),
            FORM.replace("\r\n\r\n", "\n\n"),
            format!("preamble{FORM}"),
            format!("{FORM}epilogue"),
        ] {
            assert!(fields(bent.as_bytes(), "b").is_none(), "{bent}");
        }
        for media_type in
            ["", "application/x-www-form-urlencoded", "multipart/form-data", "text/html;boundary=b"]
        {
            assert_eq!(boundary(media_type), None, "{media_type}");
        }
        assert_eq!(boundary("multipart/form-data; boundary=----x1"), Some("----x1"));
        assert_eq!(boundary("multipart/form-data; boundary=\"x\""), Some("x"));
    }
}
