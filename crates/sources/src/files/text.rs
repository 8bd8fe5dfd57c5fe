//! Decodes the text of a file, whatever its encoding.

use std::borrow::Cow;

use memchr::memchr;

/// The characters of Windows-1252 at 0x80 to 0x9F, where Latin-1 has controls; the five undefined ones stay controls.
const WINDOWS: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
];

/// How many bytes are examined to recognize UTF-16 without a byte order mark.
const SAMPLE: usize = 1_024;

/// Decodes by the byte order mark if there is one; else as UTF-16 if every other byte is zero, as UTF-8 if valid, and as
/// Windows-1252 if not. The header is ignored: banks write `USASCII` over anything, and valid UTF-8 is hardly ever
/// another encoding. Other zero bytes are left out.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => single_bytes(rest),
        [0xFF, 0xFE, rest @ ..] => double_bytes(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => double_bytes(rest, u16::from_be_bytes),
        _ => match zero_bytes(bytes) {
            (even, odd) if odd > 4 * even && odd > SAMPLE.min(bytes.len()) / 4 => {
                double_bytes(bytes, u16::from_le_bytes)
            }
            (even, odd) if even > 4 * odd && even > SAMPLE.min(bytes.len()) / 4 => {
                double_bytes(bytes, u16::from_be_bytes)
            }
            _ => single_bytes(bytes),
        },
    }
}

/// The number of zero bytes at even and at odd positions, at the beginning of the file.
fn zero_bytes(bytes: &[u8]) -> (usize, usize) {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let count = |first: usize| sample.iter().skip(first).step_by(2).filter(|it| **it == 0).count();
    (count(0), count(1))
}

fn single_bytes(bytes: &[u8]) -> Cow<'_, str> {
    // DOS programs mark the end of a text with this byte.
    let bytes = bytes.strip_suffix(&[0x1A]).unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // The file is cut within its last character.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()])
        }
        Err(_) => Cow::Owned(bytes.iter().map(|byte| windows(*byte)).collect()),
    };
    match memchr(0, text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace('\0', "")),
        None => text,
    }
}

fn windows(byte: u8) -> char {
    match byte {
        0x80..=0x9F => WINDOWS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn double_bytes(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'static, str> {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let read = |it: Result<char, _>| it.unwrap_or(char::REPLACEMENT_CHARACTER);
    Cow::Owned(char::decode_utf16(units).map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn a_text_is_the_same_however_it_was_saved() {
        let text = "Café Zoë – 12,50 €";
        let windows = b"Caf\xE9 Zo\xEB \x96 12,50 \x80";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [&b"\xEF\xBB\xBF"[..], text.as_bytes()].concat(),
            windows.to_vec(),
            [&b"\xFF\xFE"[..], &little].concat(),
            [&b"\xFE\xFF"[..], &big].concat(),
            little,
            big,
            b"Caf\0\xE9 Zo\xEB \0\x96 12,50 \x80".to_vec(),
            [text.as_bytes(), b"\0\0\x1A"].concat(),
        ] {
            assert_eq!(decode(&bytes), text);
        }
    }

    #[test]
    fn invalid_bytes_are_still_decoded() {
        assert_eq!(decode(b"\xFF\xFE\x00\xD8\x41"), "\u{FFFD}");
        assert_eq!(decode(b"\x81\xFF"), "\u{81}\u{FF}");
        assert_eq!(decode("Zoë €".as_bytes().split_last().map_or(&[][..], |it| it.1)), "Zoë ");
        assert_eq!(decode(b""), "");
    }
}
