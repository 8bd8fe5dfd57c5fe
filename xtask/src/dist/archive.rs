//! Archives with the same bytes for the same content: tar, gzip, and the `ar` of Debian packages.

use std::io::Write as _;

use anyhow::{Result, ensure};
use flate2::{Crc, GzBuilder};

const BLOCK: usize = 512;
/// The operating system "unknown" of a gzip header, so that it does not depend on where it was written.
const UNKNOWN_SYSTEM: u8 = 255;

/// A file or folder of a tar archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) mode: u32,
    /// The user's and the group's number.
    pub(crate) owner: u32,
    /// None for a folder.
    pub(crate) content: Option<Vec<u8>>,
}

impl Entry {
    pub(crate) fn file(path: &str, mode: u32, content: impl Into<Vec<u8>>) -> Entry {
        Entry { path: path.to_owned(), mode, owner: 0, content: Some(content.into()) }
    }

    pub(crate) fn folder(path: &str, mode: u32, owner: u32) -> Entry {
        Entry { path: path.to_owned(), mode, owner, content: None }
    }
}

/// Adds the folders above each entry that are not listed, and sorts by path, so that the order of listing is irrelevant.
pub(crate) fn with_folders(mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut missing: Vec<Entry> = Vec::new();
    for entry in &entries {
        for (at, _) in entry.path.match_indices('/') {
            let folder = &entry.path[..at];
            if !entries.iter().chain(&missing).any(|it| it.path == folder) {
                missing.push(Entry::folder(folder, 0o755, 0));
            }
        }
    }
    entries.append(&mut missing);
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

/// A tar archive in the ustar format, in the given order. Every entry has the same time. `prefix` precedes each path.
pub(crate) fn tar(entries: &[Entry], prefix: &str, seconds: u64) -> Result<Vec<u8>> {
    let mut archive = Vec::new();
    for entry in entries {
        archive.extend_from_slice(&header(entry, prefix, seconds)?);
        if let Some(content) = &entry.content {
            archive.extend_from_slice(content);
            archive.resize(archive.len().next_multiple_of(BLOCK), 0);
        }
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    Ok(archive)
}

fn header(entry: &Entry, prefix: &str, seconds: u64) -> Result<[u8; BLOCK]> {
    let slash = if entry.content.is_none() { "/" } else { "" };
    let path = format!("{prefix}{}{slash}", entry.path);
    ensure!(path.len() <= 100, "{path} is too long for a tar archive: 100 bytes are the limit");
    let size = entry.content.as_ref().map_or(0, Vec::len);
    let mut block = [0; BLOCK];
    let mut put =
        |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, &path);
    put(100, &format!("{:07o}", entry.mode));
    put(108, &format!("{:07o}", entry.owner));
    put(116, &format!("{:07o}", entry.owner));
    put(124, &format!("{size:011o}"));
    put(136, &format!("{seconds:011o}"));
    put(148, "        ");
    put(156, if entry.content.is_some() { "0" } else { "5" });
    put(257, "ustar\x0000");
    put(329, "0000000");
    put(337, "0000000");
    // The sum of all bytes, with the sum's own place as spaces.
    let sum: u32 = block.iter().map(|it| u32::from(*it)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

/// How archives are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// As small as possible, for what is shipped.
    Best,
    /// Not at all, for large programs that are only tried: the library takes longer than the rest of the check for it.
    Stored,
}

pub(crate) fn gzip(bytes: &[u8], compression: Compression) -> Result<Vec<u8>> {
    if compression == Compression::Stored {
        return Ok(stored(bytes));
    }
    let builder = GzBuilder::new().mtime(0).operating_system(UNKNOWN_SYSTEM);
    let mut writer = builder.write(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// A gzip file of blocks that are copied as they are.
fn stored(bytes: &[u8]) -> Vec<u8> {
    const BLOCK_MAX: u16 = u16::MAX;
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, UNKNOWN_SYSTEM];
    file.reserve(bytes.len() + bytes.len() / 10_000 + 64);
    for block in bytes.chunks(usize::from(BLOCK_MAX)) {
        let length = u16::try_from(block.len()).unwrap_or(BLOCK_MAX);
        file.push(0);
        file.extend(length.to_le_bytes());
        file.extend((!length).to_le_bytes());
        file.extend_from_slice(block);
    }
    // The last block is empty.
    file.extend([1, 0, 0, 0xff, 0xff]);
    let mut sum = Crc::new();
    sum.update(bytes);
    file.extend(sum.sum().to_le_bytes());
    file.extend(sum.amount().to_le_bytes());
    file
}

/// The archive format of Debian packages.
pub(crate) fn ar(members: &[(&str, &[u8])], seconds: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let size = content.len();
        let line = format!("{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, "100644");
        archive.extend_from_slice(line.as_bytes());
        archive.extend_from_slice(content);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn entries() -> Vec<Entry> {
        with_folders(vec![
            Entry::file("usr/bin/program", 0o755, *b"content"),
            Entry::file("empty", 0o600, Vec::new()),
            Entry::folder("data", 0o700, 1_000),
            Entry::file("usr/share/block", 0o644, vec![7; BLOCK]),
        ])
    }

    #[test]
    fn folders_are_added_once_and_before_their_files() {
        let paths: Vec<String> = entries().into_iter().map(|it| it.path).collect();
        let expected =
            ["data", "empty", "usr", "usr/bin", "usr/bin/program", "usr/share", "usr/share/block"];
        assert_eq!(paths, expected);
    }

    #[test]
    fn the_systems_tar_lists_what_was_written() {
        for compression in [Compression::Best, Compression::Stored] {
            assert_lists_entries(
                &gzip(&tar(&entries(), "./", 86_400).unwrap(), compression).unwrap(),
            );
        }
    }

    fn assert_lists_entries(archive: &[u8]) {
        let mut command = Command::new("tar");
        command.args(["--list", "--gzip", "--verbose", "--numeric-owner", "--full-time", "--utc"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(archive).unwrap();
        let output = child.wait_with_output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        let lines: Vec<Vec<&str>> =
            listed.lines().map(|it| it.split_whitespace().collect()).collect();
        let time = ["1970-01-02", "00:00:00"];
        assert_eq!(lines[0], ["drwx------", "1000/1000", "0", time[0], time[1], "./data/"]);
        assert_eq!(lines[1], ["-rw-------", "0/0", "0", time[0], time[1], "./empty"]);
        assert_eq!(lines[4], ["-rwxr-xr-x", "0/0", "7", time[0], time[1], "./usr/bin/program"]);
        assert_eq!(lines[6], ["-rw-r--r--", "0/0", "512", time[0], time[1], "./usr/share/block"]);
        assert_eq!(lines.len(), 7);
    }

    #[test]
    fn the_same_content_gives_the_same_bytes() {
        let mut reversed = entries();
        reversed.reverse();
        let write = |entries: Vec<Entry>, seconds| {
            let tar = tar(&with_folders(entries), "", seconds).unwrap();
            gzip(&tar, Compression::Best).unwrap()
        };
        assert_eq!(write(entries(), 5), write(reversed, 5));
        assert_ne!(write(entries(), 5), write(entries(), 6));
    }

    #[test]
    fn a_path_that_does_not_fit_is_refused() {
        assert!(tar(&[Entry::file(&"x".repeat(101), 0o644, Vec::new())], "", 0).is_err());
    }

    #[test]
    fn members_of_ar_begin_at_even_places() {
        let archive = ar(&[("a", b"odd"), ("b", b"even")], 1);
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 4);
        assert!(archive[8 + 60 + 4..].starts_with(b"b  "));
    }
}
