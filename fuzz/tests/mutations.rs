//! Runs every target on the fixtures and on many random mutations of them. Without guidance this finds only what breaks
//! easily, but it needs no separate build. `cargo xtask fuzz` searches with libFuzzer.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use base::Entropy;

/// The time for mutations of each target, after all unchanged fixtures.
const TIME: Duration = Duration::from_secs(5);
/// The size of mutated files. Most problems of long files also occur in short ones, and there is time for many more of
/// those.
const BYTES_MAX: usize = 16 << 10;
const EDITS_MAX: u64 = 6;
/// Bytes with a meaning in some format, and limits of byte ranges.
const SPECIAL: &[u8] =
    b"\0\t\n\r \"',;|<>&/\\[]{}()=:.-+0189AZaz^!\x7f\x80\xbf\xc3\xe2\xef\xf4\xff";
/// Texts that replace numbers, dates and references.
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
                check_target(stringify!($name), fuzz::$name, &[$($folder),+]);
            }
        )+
    };
}

targets! {
    any: "camt", "csv", "evenkeel", "mt940", "ofx", "qif";
    camt: "camt";
    csv: "csv";
    evenkeel: "evenkeel";
    exchange_rates: "../../../fuzz/seeds/exchange_rates";
    jws: "../../../fuzz/seeds/jws";
    mt940: "mt940";
    ofx: "ofx";
    qif: "qif";
    simplefin: "../../../fuzz/seeds/simplefin";
}

#[test]
fn every_seed_of_signed_tokens_has_a_right_signature() {
    let seeds = read_fixtures("../../../fuzz/seeds/jws");
    assert_eq!(seeds.len(), 3);
    for seed in &seeds {
        let (key, token) = fuzz::key_and_token(seed).unwrap();
        let claims = key.verified::<serde_json::Value>(token).unwrap();
        assert_eq!(claims["aud"], "evenkeel", "{:?}", key.algorithm);
    }
}

fn check_target(name: &str, target: fn(&[u8]), folders: &[&str]) {
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

/// Depends on the commit, so that every change is tested with other mutations and a repeated test with the same ones.
#[expect(
    clippy::disallowed_methods,
    reason = "the seed comes from the xtask command that runs this"
)]
fn seed() -> u64 {
    std::env::var("EVENKEEL_FUZZ_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(1)
}

fn read_fixtures(folder: &str) -> Vec<Vec<u8>> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/sources/fixtures").join(folder);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    // The expected results are in the same folder.
    paths.retain(|it| it.is_file() && it.extension().is_none_or(|it| it != "expected"));
    assert!(!paths.is_empty(), "{} has no fixtures", folder.display());
    paths.iter().map(|it| fs::read(it).unwrap()).collect()
}

/// Runs the target. If it panics, saves the bytes that caused it.
fn check(name: &str, target: fn(&[u8]), bytes: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(bytes))) {
        let path = std::env::temp_dir().join(format!("evenkeel-fuzz-{name}-{}", seed()));
        fs::write(&path, bytes).unwrap();
        println!(
            "the bytes that broke {name} are in {}: fix the reader, and add them to its fixtures",
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

    /// A random range within `length` bytes, mostly short.
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
