//! Detects the type of an attachment from its first bytes. Neither its name nor the browser's word counts.

base::words!(
    /// The types that are accepted. SVG and HTML are not, because they can contain scripts.
    MediaType {
        Png => "image/png",
        Jpeg => "image/jpeg",
        Webp => "image/webp",
        Heic => "image/heic",
        Pdf => "application/pdf",
    }
);
db::word_columns!(MediaType);

impl MediaType {
    /// The ending of a file's name, without a dot.
    pub fn ending(self) -> &'static str {
        match self {
            MediaType::Png => "png",
            MediaType::Jpeg => "jpg",
            MediaType::Webp => "webp",
            MediaType::Heic => "heic",
            MediaType::Pdf => "pdf",
        }
    }

    pub(super) fn detect(bytes: &[u8]) -> Option<MediaType> {
        let has = |at: usize, text: &[u8]| bytes.get(at..at + text.len()) == Some(text);
        let is_heif = || {
            let brands: [&[u8]; 5] = [b"heic", b"heix", b"heim", b"heis", b"mif1"];
            has(4, b"ftyp") && brands.iter().any(|it| has(8, it))
        };
        match () {
            () if has(0, b"\x89PNG\r\n\x1a\n") && has(12, b"IHDR") => Some(MediaType::Png),
            () if has(0, b"\xff\xd8\xff") => Some(MediaType::Jpeg),
            () if has(0, b"RIFF") && has(8, b"WEBPVP8") => Some(MediaType::Webp),
            () if has(0, b"%PDF-") => Some(MediaType::Pdf),
            () if is_heif() => Some(MediaType::Heic),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_detected_from_the_content() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", Some("image/jpeg")),
            (b"RIFF\x24\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"\0\0\0\x18ftypheic\0\0\0\0", Some("image/heic")),
            (b"%PDF-1.7\n%", Some("application/pdf")),
            (b"\0\0\0\x18ftypmp42", None),
            (b"RIFF\x24\0\0\0WAVEfmt ", None),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>", None),
            (b"<!doctype html>%PDF-1.7", None),
            (b"GIF89a", None),
            (b"PK\x03\x04", None),
            (b"\x89PNG", None),
            (b"", None),
        ] {
            let found = MediaType::detect(bytes).map(MediaType::as_str);
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
