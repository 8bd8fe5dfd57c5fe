//! The files within a zip file, as far as we write such files ourselves.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// More than an export of a lifetime unpacks to; a small file that claims more is an attack.
const UNPACKED_MAX: u64 = 512 * 1_024 * 1_024;
const ENTRIES_MAX: usize = 200;
const END: &[u8] = b"PK\x05\x06";
/// The end of the list, and the longest comment that may follow it.
const END_LENGTH: usize = 22;
const COMMENT_MAX: usize = 65_535;

/// Where a file lies within the whole.
struct Entry<'a> {
    name: &'a str,
    method: u16,
    compressed: usize,
    starts_at: usize,
}

pub(super) struct Zip<'a> {
    bytes: &'a [u8],
    entries: Vec<Entry<'a>>,
}

impl<'a> Zip<'a> {
    /// By the list at its end. None when there is none that can be followed.
    pub(super) fn open(bytes: &'a [u8]) -> Option<Zip<'a>> {
        let from = bytes.len().saturating_sub(END_LENGTH + COMMENT_MAX);
        let end = from + bytes[from..].windows(END.len()).rposition(|it| it == END)?;
        let count = usize::from(short(bytes, end + 10)?);
        let mut at = long(bytes, end + 16)?;
        let mut entries = Vec::new();
        for _ in 0..count.min(ENTRIES_MAX) {
            if bytes.get(at..at.checked_add(4)?)? != b"PK\x01\x02" {
                return None;
            }
            let lengths = [28, 30, 32].map(|it| short(bytes, at + it).map(usize::from));
            let [name, extra, comment] = lengths;
            let (name, extra, comment) = (name?, extra?, comment?);
            entries.push(Entry {
                name: std::str::from_utf8(bytes.get(at + 46..at + 46 + name)?).ok()?,
                method: short(bytes, at + 10)?,
                compressed: long(bytes, at + 20)?,
                starts_at: long(bytes, at + 42)?,
            });
            at += 46 + name + extra + comment;
        }
        Some(Zip { bytes, entries })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|it| it.name == name)
    }

    /// The content of a file; none when it is not there or cannot be unpacked.
    pub(super) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let entry = self.entries.iter().find(|it| it.name == name)?;
        let at = entry.starts_at;
        if self.bytes.get(at..at.checked_add(4)?)? != b"PK\x03\x04" {
            return None;
        }
        let skipped =
            usize::from(short(self.bytes, at + 26)?) + usize::from(short(self.bytes, at + 28)?);
        let from = at + 30 + skipped;
        let packed = self.bytes.get(from..from.checked_add(entry.compressed)?)?;
        match entry.method {
            0 => Some(packed.to_vec()),
            8 => {
                let mut out = Vec::new();
                let mut unpacked = DeflateDecoder::new(packed).take(UNPACKED_MAX + 1);
                unpacked.read_to_end(&mut out).ok()?;
                (out.len() as u64 <= UNPACKED_MAX).then_some(out)
            }
            _ => None,
        }
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(pair.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(four.try_into().ok()?)).ok()
}
