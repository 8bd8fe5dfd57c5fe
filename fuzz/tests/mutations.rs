//! Gives every target the fixtures and many mutations of them. Nothing guides the mutations, so this finds only what
//! breaks easily, but it needs no build of its own; `cargo xtask fuzz` searches with libFuzzer.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use base::Entropy;

/// How long each target is given mutations, after every fixture as it is.
const TIME: Duration = Duration::from_secs(5);
/// Most of what is wrong with a long file is wrong with a short one, of which there is time for many more.
const BYTES_MAX: usize = 16 << 10;
const EDITS_MAX: u64 = 6;
/// Bytes that formats give a meaning, and the ends of the ranges of others.
const SPECIAL: &[u8] =
    b"\0\t\n\r \"',;|<>&/\\[]{}()=:.-+0189AZaz^!\x7f\x80\xbf\xc3\xe2\xef\xf4\xff";
/// Texts where numbers, dates and references may be.
const TEXTS: [&[u8]; 10] = [
    b"-",
    b"0.000000001",
    b"99999999999999999999",
    b"-9223372036854775808",
    b"1e400",
    b"00000000",
    b"9999-12-31",
    b"&#x110000;",
    b"\xef\xbb\xbf",
    b"\r\n\r\n",
];

macro_rules! targets {
    ($($name:ident: $($folder:literal),+;)+) => {
        $(
            #[test]
            fn $name() {
                keeps_its_laws(stringify!($name), fuzz::$name, &[$($folder),+]);
            }
        )+
    };
}

targets! {
    any: "camt", "csv", "evenkeel", "mt940", "ofx", "qif";
    camt: "camt";
    csv: "csv";
    evenkeel: "evenkeel";
    mt940: "mt940";
    ofx: "ofx";
    qif: "qif";
    simplefin: "../../../fuzz/seeds/simplefin";
}

fn keeps_its_laws(name: &str, target: fn(&[u8]), folders: &[&str]) {
    let fixtures: Vec<Vec<u8>> = folders.iter().flat_map(|it| read_fixtures(it)).collect();
    for fixture in &fixtures {
        check(name, target, fixture);
    }
    let random = Random(Entropy::seeded(seed()));
    let (start, mut count) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        let mut bytes = random.pick(&fixtures).clone();
        for _ in 0..=random.below(EDITS_MAX) {
            edit(&mut bytes, &fixtures, &random);
        }
        check(name, target, &bytes);
        count += 1;
    }
    println!("{name}: {count} mutations");
}

/// Another one for each commit, so that every change meets other mutations; the same one when a commit is tested again.
#[expect(clippy::disallowed_methods, reason = "the seed comes from the chore that runs this")]
fn seed() -> u64 {
    std::env::var("EVENKEEL_FUZZ_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(1)
}

fn read_fixtures(folder: &str) -> Vec<Vec<u8>> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/sources/fixtures").join(folder);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    // Expectations lie beside the fixtures.
    paths.retain(|it| it.is_file() && it.extension().is_none_or(|it| it != "expected"));
    assert!(!paths.is_empty(), "{} has no fixtures", folder.display());
    paths.iter().map(|it| fs::read(it).unwrap()).collect()
}

/// Runs the target; when it panics, keeps the bytes that made it.
fn check(name: &str, target: fn(&[u8]), bytes: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(bytes))) {
        let path = std::env::temp_dir().join(format!("evenkeel-fuzz-{name}-{}", seed()));
        fs::write(&path, bytes).unwrap();
        println!(
            "the bytes that broke {name} are in {}: mend the reader, add them to its fixtures",
            path.display()
        );
        resume_unwind(panic);
    }
}

struct Random(Entropy);

impl Random {
    fn below(&self, end: u64) -> u64 {
        u64::from_le_bytes(self.0.bytes()) % end.max(1)
    }

    fn index(&self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    fn pick<'a, T>(&self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// A part of so many bytes: mostly short.
    fn range(&self, length: usize) -> std::ops::Range<usize> {
        let start = self.index(length + 1);
        let longest = if self.below(4) == 0 { length } else { 16 };
        start..(start + self.index(longest + 1)).min(length)
    }
}

fn edit(bytes: &mut Vec<u8>, fixtures: &[Vec<u8>], random: &Random) {
    bytes.truncate(BYTES_MAX);
    let at = random.index(bytes.len() + 1);
    match random.below(9) {
        0 => drop(bytes.drain(random.range(bytes.len()))),
        1 => bytes.truncate(at),
        2 => bytes.insert(at, *random.pick(SPECIAL)),
        3 => drop(bytes.splice(at..at, random.pick(&TEXTS).iter().copied())),
        4 => drop(bytes.splice(random.range(bytes.len()), random.pick(&TEXTS).iter().copied())),
        5 => {
            let part = bytes[random.range(bytes.len())].to_vec();
            drop(bytes.splice(at..at, part));
        }
        6 => {
            let other = random.pick(fixtures);
            drop(bytes.splice(at..at, other[random.range(other.len())].iter().copied()));
        }
        7 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        _ if at < bytes.len() => bytes[at] = *random.pick(SPECIAL),
        _ => {}
    }
}
