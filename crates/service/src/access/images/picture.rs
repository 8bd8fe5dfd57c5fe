//! Detects the media type and the size of a picture from its first bytes.

base::words!(MediaType {
    Png => "image/png",
    Jpeg => "image/jpeg",
    Webp => "image/webp",
});
db::word_columns!(MediaType);

/// Returns the media type, the width and the height, or `None` for an unsupported file. SVG is not supported, because it
/// can contain scripts.
pub(super) fn detect(bytes: &[u8]) -> Option<(MediaType, u32, u32)> {
    let (kind, (width, height)) = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        (MediaType::Png, png(bytes)?)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        (MediaType::Jpeg, jpeg(bytes)?)
    } else if bytes.starts_with(b"RIFF") {
        (MediaType::Webp, webp(bytes)?)
    } else {
        return None;
    };
    Some((kind, width, height))
}

/// Reads the size from the first chunk, which must be the 13-byte header.
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.get(8..16)? != b"\0\0\0\x0dIHDR" {
        return None;
    }
    Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?))
}

/// Walks over the segments to the frame header, which holds the size.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        match marker {
            // Fill bytes before a marker.
            0xff => at += 1,
            // Frames of all codings; 0xc4, 0xc8 and 0xcc are tables.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            // The data or the end came before a frame.
            0xd8..=0xda => return None,
            _ => {
                let length = big(bytes, at + 2, 2)? as usize;
                if length < 2 {
                    return None;
                }
                at += 2 + length;
            }
        }
    }
}

/// Reads the size of a lossy, lossless or extended file. The declared length must match, up to one byte of padding.
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let declared = little(bytes, 4, 4)? as usize + 8;
    if bytes.get(8..12)? != b"WEBP" || !(declared..=declared + 1).contains(&bytes.len()) {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8 " if bytes.get(23..26)? == b"\x9d\x01\x2a" => {
            Some((little(bytes, 26, 2)? & 0x3fff, little(bytes, 28, 2)? & 0x3fff))
        }
        b"VP8L" if *bytes.get(20)? == 0x2f => {
            let sides = little(bytes, 21, 4)?;
            Some(((sides & 0x3fff) + 1, (sides >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    Some(bytes.get(at..at + count)?.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    Some(bytes.get(at..at + count)?.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn riff(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
        let mut bytes = b"WEBP".to_vec();
        bytes.extend_from_slice(kind);
        bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(body);
        [b"RIFF", &(bytes.len() as u32).to_le_bytes()[..], &bytes].concat()
    }

    #[test]
    fn each_kind_tells_its_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
        assert_eq!(detect(png), Some((MediaType::Png, 640, 480)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x03t\xff\xc2\0\x0b\x08\x01\xe0\x02\x80";
        assert_eq!(detect(jpeg), Some((MediaType::Jpeg, 640, 480)));
        let lossy = riff(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01");
        assert_eq!(detect(&lossy), Some((MediaType::Webp, 640, 480)));
        let lossless = riff(b"VP8L", &[&[0x2f], &(639_u32 | 479 << 14).to_le_bytes()[..]].concat());
        assert_eq!(detect(&lossless), Some((MediaType::Webp, 640, 480)));
        let extended = riff(b"VP8X", b"\0\0\0\0\x7f\x02\0\xdf\x01\0");
        assert_eq!(detect(&extended), Some((MediaType::Webp, 640, 480)));
    }

    #[test]
    fn what_only_looks_like_a_picture_is_none() {
        for other in [
            &b""[..],
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            b"GIF89a\x01\0\x01\0",
            b"\x89PNG\r\n\x1a\n<script>alert(1)</script>",
            b"\xff\xd8\xff\xda\0\0",
            b"\xff\xd8\xff\xe0\0\0\0\0\0\0\0\0",
            b"RIFF\x04\0\0\0WAVE",
        ] {
            assert_eq!(detect(other), None, "{other:?}");
        }
        let mut longer = riff(b"VP8X", b"\0\0\0\0\x7f\x02\0\xdf\x01\0");
        longer.extend_from_slice(b"<script>");
        assert_eq!(detect(&longer), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_a_panic(start in 0..3_usize, rest: Vec<u8>) {
            let starts = [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], b"\xff\xd8\xff", b"RIFF"];
            let _ = detect(&[starts[start], &rest].concat());
        }
    }
}
