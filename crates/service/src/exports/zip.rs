//! A zip file written from front to back, so that none of it has to be kept: sizes and checksums follow each entry.

use std::io::{self, Write as _};

use base::Timestamp;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use jiff::tz::TimeZone;

/// Text in UTF-8, and sizes behind the content.
const FLAGS: u16 = 1 << 11 | 1 << 3;
const VERSION: u16 = 20;
const DEFLATED: u16 = 8;

pub(super) struct Zip {
    output: Vec<u8>,
    /// What was taken out of `output` already.
    taken: u64,
    open: Option<Open>,
    entries: Vec<Entry>,
    time: (u16, u16),
}

struct Open {
    name: String,
    starts_at: u64,
    crc: crc32fast::Hasher,
    length: u64,
    encoder: DeflateEncoder<Vec<u8>>,
    written: u64,
}

struct Entry {
    name: String,
    starts_at: u32,
    crc: u32,
    compressed: u32,
    length: u32,
}

impl Zip {
    pub(super) fn new(made_at: Timestamp) -> Zip {
        let time = dos_time(made_at);
        Zip { output: Vec::new(), taken: 0, open: None, entries: Vec::new(), time }
    }

    /// Begins a file. Names are ours: plain, without folders, so that unpacking stays where it is.
    pub(super) fn start(&mut self, name: &str) -> io::Result<()> {
        self.end()?;
        let starts_at = self.taken + self.output.len() as u64;
        self.output.extend_from_slice(b"PK\x03\x04");
        self.shorts(&[VERSION, FLAGS, DEFLATED, self.time.0, self.time.1]);
        self.longs(&[0, 0, 0]);
        self.shorts(&[short(name.len())?, 0]);
        self.output.extend_from_slice(name.as_bytes());
        self.open = Some(Open {
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
        let open = self.open.as_mut().ok_or_else(|| io::Error::other("no file was begun"))?;
        open.crc.update(bytes);
        open.length += bytes.len() as u64;
        open.encoder.write_all(bytes)?;
        let done = open.encoder.get_mut();
        open.written += done.len() as u64;
        self.output.append(done);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let rest = open.encoder.finish()?;
        self.output.extend_from_slice(&rest);
        let entry = Entry {
            name: open.name,
            starts_at: long(open.starts_at)?,
            crc: open.crc.finalize(),
            compressed: long(open.written + rest.len() as u64)?,
            length: long(open.length)?,
        };
        self.output.extend_from_slice(b"PK\x07\x08");
        self.longs(&[entry.crc, entry.compressed, entry.length]);
        self.entries.push(entry);
        Ok(())
    }

    /// The list of all files, which ends the whole.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.end()?;
        let starts_at = self.taken + self.output.len() as u64;
        let entries = std::mem::take(&mut self.entries);
        for entry in &entries {
            self.output.extend_from_slice(b"PK\x01\x02");
            self.shorts(&[VERSION, VERSION, FLAGS, DEFLATED, self.time.0, self.time.1]);
            self.longs(&[entry.crc, entry.compressed, entry.length]);
            self.shorts(&[short(entry.name.len())?, 0, 0, 0, 0]);
            self.longs(&[0, entry.starts_at]);
            self.output.extend_from_slice(entry.name.as_bytes());
        }
        let length = self.taken + self.output.len() as u64 - starts_at;
        let count = short(entries.len())?;
        self.output.extend_from_slice(b"PK\x05\x06");
        self.shorts(&[0, 0, count, count]);
        self.longs(&[long(length)?, long(starts_at)?]);
        self.shorts(&[0]);
        Ok(())
    }

    pub(super) fn waiting(&self) -> usize {
        self.output.len()
    }

    /// What is written since the last time.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.taken += self.output.len() as u64;
        std::mem::take(&mut self.output)
    }

    fn shorts(&mut self, values: &[u16]) {
        values.iter().for_each(|it| self.output.extend_from_slice(&it.to_le_bytes()));
    }

    fn longs(&mut self, values: &[u32]) {
        values.iter().for_each(|it| self.output.extend_from_slice(&it.to_le_bytes()));
    }
}

fn short(value: usize) -> io::Result<u16> {
    u16::try_from(value).map_err(io::Error::other)
}

/// Beyond four gibibytes the plain form of the format ends.
fn long(value: u64) -> io::Result<u32> {
    u32::try_from(value).map_err(|_| io::Error::other("more than 4 GiB do not fit into a zip file"))
}

/// Two-second steps since 1980, as the format has them.
fn dos_time(at: Timestamp) -> (u16, u16) {
    let at = at.to_zoned(TimeZone::UTC);
    let year = (at.year().max(1980) - 1980) as u16;
    let half_seconds = at.second() as u16 / 2;
    let time = (at.hour() as u16) << 11 | (at.minute() as u16) << 5 | half_seconds;
    (time, year << 9 | (at.month() as u16) << 5 | at.day() as u16)
}
