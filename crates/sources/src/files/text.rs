//! Decodes the text of a file, whatever its encoding.

use std::borrow::Cow;

use memchr::memmem;

/// The characters of Windows-1252 at 0x80 to 0x9F, where Latin-1 has controls; the five undefined ones stay controls.
const WINDOWS: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
];

/// Decodes by the byte order mark if there is one; else as UTF-16 if every other byte is zero, as UTF-8 if valid, and as
/// Windows-1252 if not. The header is ignored: banks write `USASCII` over anything, and valid UTF-8 is hardly ever
/// another encoding. Other zero bytes are left out.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => single_bytes(rest),
        [0xFF, 0xFE, rest @ ..] => double_bytes(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => double_bytes(rest, u16::from_be_bytes),
        _ => match byte_order(bytes) {
            Some(unit) => double_bytes(bytes, unit),
            None => single_bytes(bytes),
        },
    }
}

/// A name and a memo as one text, without repeating one that the other contains.
pub(super) fn joined(name: &str, memo: &str) -> String {
    if contains_words(memo, name) {
        return memo.to_owned();
    }
    if contains_words(name, memo) {
        return name.to_owned();
    }
    let mut both = String::with_capacity(name.len() + 1 + memo.len());
    both.push_str(name);
    both.push(' ');
    both.push_str(memo);
    both
}

/// Whether a text contains another as whole words, or begins with one that may be cut off within a word.
fn contains_words(text: &str, part: &str) -> bool {
    const CUT_OFF_LEAST: usize = 8;
    if part.len() >= CUT_OFF_LEAST && text.starts_with(part) {
        return true;
    }
    let Some(at) = memmem::find(text.as_bytes(), part.as_bytes()) else { return false };
    let (before, after) = (&text[..at], &text[at + part.len()..]);
    !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
}

type UnitFn = fn([u8; 2]) -> u16;

/// The byte order of UTF-16 without a byte order mark: nearly every second byte at its beginning is zero.
fn byte_order(bytes: &[u8]) -> Option<UnitFn> {
    let pairs = bytes[..bytes.len().min(512)].as_chunks::<2>().0;
    let zeros = |at: usize| pairs.iter().filter(|it| it[at] == 0).count();
    let is_mostly = |zeros: usize| pairs.len() >= 4 && zeros * 10 >= pairs.len() * 8;
    match (zeros(0), zeros(1)) {
        (first, second) if is_mostly(second) && first * 10 < pairs.len() => {
            Some(u16::from_le_bytes)
        }
        (first, second) if is_mostly(first) && second * 10 < pairs.len() => {
            Some(u16::from_be_bytes)
        }
        _ => None,
    }
}

/// Removes NUL characters, with which some programs pad text. A file with many of them is not text.
fn without_nul(text: Cow<'_, str>) -> Cow<'_, str> {
    let count = memchr::memchr_iter(0, text.as_bytes()).count();
    let padding = text.len() - text.trim_end_matches('\0').len();
    match count {
        0 => text,
        count if (count - padding) * 10 > text.len() - padding => text,
        _ => Cow::Owned(text.replace('\0', "")),
    }
}

fn single_bytes(bytes: &[u8]) -> Cow<'_, str> {
    // DOS programs mark the end of a text with this byte.
    let bytes = bytes.strip_suffix(&[0x1A]).unwrap_or(bytes);
    without_nul(match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // The file ends inside a character.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()])
        }
        Err(_) if is_cyrillic(bytes) => Cow::Owned(bytes.iter().map(|it| cyrillic(*it)).collect()),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| windows(*byte)).collect()),
    })
}

fn windows(byte: u8) -> char {
    match byte {
        0x80..=0x9F => WINDOWS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Whether text that is not UTF-8 is in Cyrillic letters: in Windows-1251 whole words are high bytes, while in Western
/// languages single letters are.
fn is_cyrillic(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(8_192)];
    let is_letter = |it: &u8| *it >= 0xC0;
    let all = head.iter().filter(|it| is_letter(it)).count();
    let joined = head.windows(3).filter(|it| it.iter().all(is_letter)).count();
    joined * 2 > all
}

/// The letters of Windows-1251. Its signs between the letters and the controls are hardly ever in statements.
fn cyrillic(byte: u8) -> char {
    match byte {
        0xC0..=0xFF => char::from_u32(0x410 + u32::from(byte - 0xC0)).unwrap_or('?'),
        0xA8 => 'Ё',
        0xB8 => 'ё',
        0xB9 => '№',
        0x88 => '€',
        _ => windows(byte),
    }
}

fn double_bytes(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'static, str> {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let read = |it: Result<char, _>| it.unwrap_or(char::REPLACEMENT_CHARACTER);
    Cow::Owned(char::decode_utf16(units).map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::{decode, joined};

    #[test]
    fn a_name_is_not_repeated_in_front_of_a_memo_that_has_it() {
        for (name, memo, expected) in [
            ("BAKERY", "BREAD", "BAKERY BREAD"),
            ("BAKERY", "BAKERY", "BAKERY"),
            ("BAKERY UTRECHT CENT", "BAKERY UTRECHT CENTRAAL 12", "BAKERY UTRECHT CENTRAAL 12"),
            ("CARD 1 BAKERY", "BAKERY", "CARD 1 BAKERY"),
            // Not a word of the memo.
            ("BP", "BPAY 12", "BP BPAY 12"),
            ("NET", "INTERNET 12", "NET INTERNET 12"),
        ] {
            assert_eq!(joined(name, memo), expected);
        }
    }

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
    fn utf_16_without_a_mark_and_padding_are_recognized() {
        let text = "Date,Amount\n2026-01-05,-12.50 €\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let padded = [text.as_bytes(), &[0; 300]].concat();
        let sprinkled = text.replace(',', ",\0").into_bytes();
        for bytes in [little, big, padded, sprinkled] {
            assert_eq!(decode(&bytes), text);
        }
        let binary: Vec<u8> = (0..64).flat_map(|it| [it, 0, 0, 7]).collect();
        assert!(decode(&binary).contains('\0'));
    }

    #[test]
    fn cyrillic_text_is_recognized() {
        assert_eq!(decode(b"\xC4\xE0\xF2\xE0;\xD1\xF3\xEC\xEC\xE0;\xB9 5"), "Дата;Сумма;№ 5");
        assert_eq!(decode(b"Caf\xE9 Zo\xEB M\xFCller"), "Café Zoë Müller");
    }

    #[test]
    fn invalid_bytes_are_still_decoded() {
        assert_eq!(decode(b"\xFF\xFE\x00\xD8\x41"), "\u{FFFD}");
        assert_eq!(decode(b"\x81\xFF"), "\u{81}\u{FF}");
        assert_eq!(decode("Zoë €".as_bytes().split_last().map_or(&[][..], |it| it.1)), "Zoë ");
        assert_eq!(decode(b""), "");
    }
}
