//! What kind of picture bytes are, and how large it says it is; by its first bytes, never by its name.

base::words!(MediaType {
    Png => "image/png",
    Jpeg => "image/jpeg",
    Webp => "image/webp",
});

/// The kind, the width and the height; nothing where it is no picture that we take. A drawing (SVG) is none: it may
/// hold scripts.
pub(super) fn look_at(bytes: &[u8]) -> Option<(MediaType, u32, u32)> {
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

/// The first chunk must be the header, of thirteen bytes.
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.get(8..16)? != b"\0\0\0\x0dIHDR" {
        return None;
    }
    Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?))
}

/// Segments follow each other, each with its length, up to the frame that tells the size.
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

/// Lossy, lossless or extended; the length of the whole must be told right, give or take a byte of padding.
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let told = little(bytes, 4, 4)? as usize + 8;
    if bytes.get(8..12)? != b"WEBP" || !(told..=told + 1).contains(&bytes.len()) {
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
        assert_eq!(look_at(png), Some((MediaType::Png, 640, 480)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x03t\xff\xc2\0\x0b\x08\x01\xe0\x02\x80";
        assert_eq!(look_at(jpeg), Some((MediaType::Jpeg, 640, 480)));
        let lossy = riff(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01");
        assert_eq!(look_at(&lossy), Some((MediaType::Webp, 640, 480)));
        let lossless = riff(b"VP8L", &[&[0x2f], &(639_u32 | 479 << 14).to_le_bytes()[..]].concat());
        assert_eq!(look_at(&lossless), Some((MediaType::Webp, 640, 480)));
        let extended = riff(b"VP8X", b"\0\0\0\0\x7f\x02\0\xdf\x01\0");
        assert_eq!(look_at(&extended), Some((MediaType::Webp, 640, 480)));
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
            assert_eq!(look_at(other), None, "{other:?}");
        }
        let mut longer = riff(b"VP8X", b"\0\0\0\0\x7f\x02\0\xdf\x01\0");
        longer.extend_from_slice(b"<script>");
        assert_eq!(look_at(&longer), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_a_panic(start in 0..3_usize, rest: Vec<u8>) {
            let starts = [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], b"\xff\xd8\xff", b"RIFF"];
            let _ = look_at(&[starts[start], &rest].concat());
        }
    }
}
