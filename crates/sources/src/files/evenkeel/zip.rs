//! Reads the entries of a zip file, unpacking within a budget of bytes. Our own, because the `zip` crate loads the
//! whole list of entries before any limit applies: a hostile file of a few MiB lists enough of them to fill the memory.

use std::cell::Cell;
use std::io::{self, Read};

use flate2::read::DeflateDecoder;

const ENTRIES_MAX: usize = 200;
const END: &[u8] = b"PK\x05\x06";
/// The length of the end record, and the longest comment after it.
const END_LENGTH: usize = 22;
const COMMENT_MAX: usize = 65_535;

/// The position of a file within the archive.
struct Entry<'a> {
    name: &'a str,
    method: u16,
    compressed: usize,
    /// The stated unpacked size, which may be wrong.
    uncompressed: usize,
    starts_at: usize,
}

pub(super) struct Zip<'a> {
    bytes: &'a [u8],
    entries: Vec<Entry<'a>>,
}

impl<'a> Zip<'a> {
    /// Opens an archive by its central directory. None if it has no usable one.
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
                uncompressed: long(bytes, at + 24)?,
                starts_at: long(bytes, at + 42)?,
            });
            at += 46 + name + extra + comment;
        }
        Some(Zip { bytes, entries })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|it| it.name == name)
    }

    /// The total stated unpacked size of these parts.
    pub(super) fn stated_bytes(&self, names: &[&str]) -> u64 {
        let named = self.entries.iter().filter(|it| names.contains(&it.name));
        named.map(|it| it.uncompressed as u64).sum()
    }

    /// The content of a part, unpacked while it is read; none if it is missing or cannot be unpacked. Bytes read
    /// count against the budget.
    pub(super) fn part<'b>(&self, name: &str, budget: &'b Budget) -> Option<Part<'a, 'b>> {
        let entry = self.entries.iter().find(|it| it.name == name)?;
        let at = entry.starts_at;
        if self.bytes.get(at..at.checked_add(4)?)? != b"PK\x03\x04" {
            return None;
        }
        let skipped =
            usize::from(short(self.bytes, at + 26)?) + usize::from(short(self.bytes, at + 28)?);
        let from = at + 30 + skipped;
        let packed = self.bytes.get(from..from.checked_add(entry.compressed)?)?;
        let content = match entry.method {
            0 => Content::Stored(packed),
            8 => Content::Deflated(Box::new(DeflateDecoder::new(packed))),
            _ => return None,
        };
        Some(Part { content, budget })
    }
}

/// How many more bytes the parts of a file may unpack to.
pub(super) struct Budget {
    left: Cell<u64>,
    is_spent: Cell<bool>,
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Budget {
        Budget { left: Cell::new(bytes), is_spent: Cell::new(false) }
    }

    /// Whether the limit was exceeded.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }

    fn spend(&self, bytes: usize) -> io::Result<()> {
        match self.left.get().checked_sub(bytes as u64) {
            Some(left) => self.left.set(left),
            None => {
                self.is_spent.set(true);
                return Err(io::Error::other("it unpacks to too much"));
            }
        }
        Ok(())
    }
}

pub(super) struct Part<'a, 'b> {
    content: Content<'a>,
    budget: &'b Budget,
}

enum Content<'a> {
    Stored(&'a [u8]),
    Deflated(Box<DeflateDecoder<&'a [u8]>>),
}

impl Read for Part<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.content {
            Content::Stored(bytes) => bytes.read(out)?,
            Content::Deflated(unpacked) => unpacked.read(out)?,
        };
        self.budget.spend(count)?;
        Ok(count)
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
