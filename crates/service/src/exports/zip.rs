//! Writes a zip file as a stream: sizes and checksums follow each entry, so that no entry is kept in memory. Our own,
//! because the `zip` crate would serve only here: its reader loads the whole list of entries of a hostile file, whatever its
//! length, so imports cannot use it (`crates/sources/src/files`), and writing deflated entries takes little code.

use std::io::{self, Write as _};

use base::Timestamp;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use jiff::tz::TimeZone;

/// Names are UTF-8, and sizes follow the content.
const FLAGS: u16 = 1 << 11 | 1 << 3;
const VERSION: u16 = 20;
const DEFLATED: u16 = 8;

pub(super) struct ZipWriter {
    output: Vec<u8>,
    /// Bytes that were taken out of `output` already.
    taken: u64,
    open: Option<OpenEntry>,
    entries: Vec<FinishedEntry>,
    time: (u16, u16),
}

struct OpenEntry {
    name: String,
    starts_at: u64,
    crc: crc32fast::Hasher,
    length: u64,
    encoder: DeflateEncoder<Vec<u8>>,
    written: u64,
}

struct FinishedEntry {
    name: String,
    starts_at: u32,
    crc: u32,
    compressed: u32,
    length: u32,
}

impl ZipWriter {
    pub(super) fn new(made_at: Timestamp) -> ZipWriter {
        let time = dos_time(made_at);
        ZipWriter { output: Vec::new(), taken: 0, open: None, entries: Vec::new(), time }
    }

    /// Starts an entry. Names have no folders, so that unpacking stays in one folder.
    pub(super) fn start(&mut self, name: &str) -> io::Result<()> {
        self.finish_entry()?;
        let starts_at = self.taken + self.output.len() as u64;
        self.output.extend_from_slice(b"PK\x03\x04");
        self.write_u16s(&[VERSION, FLAGS, DEFLATED, self.time.0, self.time.1]);
        self.write_u32s(&[0, 0, 0]);
        self.write_u16s(&[to_u16(name.len())?, 0]);
        self.output.extend_from_slice(name.as_bytes());
        self.open = Some(OpenEntry {
            name: name.to_owned(),
            starts_at,
            crc: crc32fast::Hasher::new(),
            length: 0,
            encoder: DeflateEncoder::new(Vec::new(), Compression::fast()),
            written: 0,
        });
        Ok(())
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let open = self.open.as_mut().ok_or_else(|| io::Error::other("no entry was started"))?;
        open.crc.update(bytes);
        open.length += bytes.len() as u64;
        open.encoder.write_all(bytes)?;
        let done = open.encoder.get_mut();
        open.written += done.len() as u64;
        self.output.append(done);
        Ok(())
    }

    fn finish_entry(&mut self) -> io::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let rest = open.encoder.finish()?;
        self.output.extend_from_slice(&rest);
        let entry = FinishedEntry {
            name: open.name,
            starts_at: to_u32(open.starts_at)?,
            crc: open.crc.finalize(),
            compressed: to_u32(open.written + rest.len() as u64)?,
            length: to_u32(open.length)?,
        };
        self.output.extend_from_slice(b"PK\x07\x08");
        self.write_u32s(&[entry.crc, entry.compressed, entry.length]);
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the list of all entries, which ends the file.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.finish_entry()?;
        let starts_at = self.taken + self.output.len() as u64;
        let entries = std::mem::take(&mut self.entries);
        for entry in &entries {
            self.output.extend_from_slice(b"PK\x01\x02");
            self.write_u16s(&[VERSION, VERSION, FLAGS, DEFLATED, self.time.0, self.time.1]);
            self.write_u32s(&[entry.crc, entry.compressed, entry.length]);
            self.write_u16s(&[to_u16(entry.name.len())?, 0, 0, 0, 0]);
            self.write_u32s(&[0, entry.starts_at]);
            self.output.extend_from_slice(entry.name.as_bytes());
        }
        let length = self.taken + self.output.len() as u64 - starts_at;
        let count = to_u16(entries.len())?;
        self.output.extend_from_slice(b"PK\x05\x06");
        self.write_u16s(&[0, 0, count, count]);
        self.write_u32s(&[to_u32(length)?, to_u32(starts_at)?]);
        self.write_u16s(&[0]);
        Ok(())
    }

    /// The number of bytes that `take` would return.
    pub(super) fn buffered(&self) -> usize {
        self.output.len()
    }

    /// Takes the bytes written since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.taken += self.output.len() as u64;
        std::mem::take(&mut self.output)
    }

    fn write_u16s(&mut self, values: &[u16]) {
        values.iter().for_each(|it| self.output.extend_from_slice(&it.to_le_bytes()));
    }

    fn write_u32s(&mut self, values: &[u32]) {
        values.iter().for_each(|it| self.output.extend_from_slice(&it.to_le_bytes()));
    }
}

fn to_u16(value: usize) -> io::Result<u16> {
    u16::try_from(value).map_err(io::Error::other)
}

/// Fields of 32 bits limit a zip file to 4 GiB.
fn to_u32(value: u64) -> io::Result<u32> {
    u32::try_from(value).map_err(|_| io::Error::other("more than 4 GiB do not fit into a zip file"))
}

/// Time and date in the format's own encoding: years since 1980, and steps of two seconds.
fn dos_time(at: Timestamp) -> (u16, u16) {
    let at = at.to_zoned(TimeZone::UTC);
    let year = (at.year().max(1980) - 1980) as u16;
    let half_seconds = at.second() as u16 / 2;
    let time = (at.hour() as u16) << 11 | (at.minute() as u16) << 5 | half_seconds;
    (time, year << 9 | (at.month() as u16) << 5 | at.day() as u16)
}
