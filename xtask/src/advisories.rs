//! Checks dependencies against a local copy of the RustSec advisory database, so that the check needs no network and
//! gives the same result every time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::root;

/// The environment variable with the path of a copy of https://github.com/rustsec/advisory-db.
const VARIABLE: &str = "EVENKEEL_TEST_ADVISORY_DB";
/// Advisories that do not concern us, each with the reason.
const IGNORED: &[(&str, &str)] = &[];

pub(crate) fn check() -> Result<()> {
    let Some(database) = database() else {
        println!(
            "SKIPPED: there is no advisory database on this machine. To check, run\n  git clone \
             --depth 1 https://github.com/rustsec/advisory-db ~/.cargo/advisory-db\nor set \
             {VARIABLE} to a copy."
        );
        return Ok(());
    };
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let packages = packages(&lock);
    ensure!(!packages.is_empty(), "Cargo.lock names no packages");
    let advisories = read_all(&database.join("crates"))?;
    ensure!(!advisories.is_empty(), "{} contains no advisories", database.display());
    let vulnerabilities = vulnerabilities(&packages, &advisories);
    ensure!(vulnerabilities.is_empty(), "{}", vulnerabilities.join("\n"));
    println!("{} packages, {} advisories", packages.len(), advisories.len());
    Ok(())
}

fn database() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let usual = home.map(|it| it.join("advisory-db"));
    // cargo-deny keeps its copies in another folder, one for each URL.
    let kept = usual.as_ref().and_then(|it| fs::read_dir(it.with_file_name("advisory-dbs")).ok());
    let kept = kept.into_iter().flatten().flatten().map(|it| it.path());
    named.into_iter().chain(usual).chain(kept).find(|it| it.join("crates").is_dir())
}

#[derive(Debug, PartialEq, Eq)]
struct Package {
    name: String,
    version: Version,
}

/// Three numbers, and whether it is a release. A pre-release sorts before its release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u64; 3], bool);

impl Version {
    fn parse(text: &str) -> Option<Version> {
        let text = text.trim().split('+').next().unwrap_or_default();
        let (numbers, is_release) = match text.split_once('-') {
            Some((numbers, _)) => (numbers, false),
            None => (text, true),
        };
        let mut parts = [0; 3];
        for (part, number) in parts.iter_mut().zip(numbers.split('.')) {
            *part = number.parse().ok()?;
        }
        Some(Version(parts, is_release))
    }
}

fn packages(lock: &str) -> Vec<Package> {
    let package = |block: &str| {
        let find = |key: &str| {
            let line = block.lines().find_map(|it| it.strip_prefix(&format!("{key} = \"")));
            line.map(|it| it.trim_end_matches('"').to_owned())
        };
        // Packages of this workspace have no source.
        find("source")?;
        Some(Package { name: find("name")?, version: Version::parse(&find("version")?)? })
    };
    lock.split("[[package]]").skip(1).filter_map(package).collect()
}

struct Advisory {
    id: String,
    package: String,
    title: String,
    /// Versions that are not affected. Each is a list of bounds that must all hold.
    unaffected: Vec<Vec<Bound>>,
}

/// A comparison with a version.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Bound {
    AtLeast(Version),
    Above(Version),
    Below(Version),
    AtMost(Version),
    Exactly(Version),
    /// At least this, with the first number that is not zero unchanged.
    Compatible(Version),
    /// At least this, with the first two numbers unchanged.
    Close(Version),
}

type Make = fn(Version) -> Bound;

impl Bound {
    fn parse(text: &str) -> Option<Bound> {
        let text = text.trim();
        let makers: [(&str, Make); 7] = [
            (">=", Bound::AtLeast),
            ("<=", Bound::AtMost),
            (">", Bound::Above),
            ("<", Bound::Below),
            ("=", Bound::Exactly),
            ("^", Bound::Compatible),
            ("~", Bound::Close),
        ];
        for (sign, make) in makers {
            if let Some(rest) = text.strip_prefix(sign) {
                return Version::parse(rest).map(make);
            }
        }
        Version::parse(text).map(Bound::Compatible)
    }

    fn holds(&self, it: &Version) -> bool {
        match self {
            Bound::AtLeast(bound) => it >= bound,
            Bound::Above(bound) => it > bound,
            Bound::Below(bound) => it < bound,
            Bound::AtMost(bound) => it <= bound,
            Bound::Exactly(bound) => it == bound,
            Bound::Close(bound) => it >= bound && it.0[..2] == bound.0[..2],
            Bound::Compatible(bound) => {
                let kept = bound.0.iter().position(|it| *it != 0).unwrap_or(2);
                it >= bound && it.0[..=kept] == bound.0[..=kept]
            }
        }
    }
}

fn read_all(folder: &Path) -> Result<Vec<Advisory>> {
    let mut found = Vec::new();
    for package in fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))? {
        for file in fs::read_dir(package?.path())? {
            let path = file?.path();
            let text = fs::read_to_string(&path)?;
            found.extend(parse(&text).with_context(|| format!("in {}", path.display()))?);
        }
    }
    Ok(found)
}

/// An advisory, unless it was withdrawn or is only informational, such as about an unmaintained project.
fn parse(text: &str) -> Result<Option<Advisory>> {
    let block = text.split("```").nth(1).and_then(|it| it.strip_prefix("toml"));
    let table = block.context("there is no block of TOML")?;
    let value = |key: &str| {
        let line =
            table.lines().find_map(|it| it.trim().strip_prefix(key)?.trim().strip_prefix('='));
        line.map(|it| it.trim().trim_matches('"').to_owned())
    };
    let is_informational = value("informational").is_some_and(|it| it != "unsound");
    if value("withdrawn").is_some() || is_informational {
        return Ok(None);
    }
    let mut unaffected = Vec::new();
    for key in ["patched", "unaffected"] {
        for requirement in list(table, key) {
            let bounds: Option<Vec<Bound>> = requirement.split(',').map(Bound::parse).collect();
            unaffected.push(bounds.with_context(|| format!("{key} says {requirement}"))?);
        }
    }
    let title = text.lines().find_map(|it| it.strip_prefix("# ")).unwrap_or_default();
    Ok(Some(Advisory {
        id: value("id").context("it has no id")?,
        package: value("package").context("it names no package")?,
        title: title.to_owned(),
        unaffected,
    }))
}

/// The strings of a list, which may span several lines.
fn list(table: &str, key: &str) -> Vec<String> {
    let start = table.lines().position(|it| {
        it.trim().strip_prefix(key).is_some_and(|it| it.trim_start().starts_with('='))
    });
    let Some(start) = start else { return Vec::new() };
    let rest: String = table.lines().skip(start).collect::<Vec<_>>().join("\n");
    let inner = rest.split_once('[').and_then(|(_, it)| it.split_once(']')).map_or("", |it| it.0);
    inner.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn vulnerabilities(packages: &[Package], advisories: &[Advisory]) -> Vec<String> {
    let concerns = |package: &Package, it: &Advisory| {
        it.package == package.name
            && !it
                .unaffected
                .iter()
                .any(|all| all.iter().all(|bound| bound.holds(&package.version)))
            && !IGNORED.iter().any(|(id, _)| *id == it.id)
    };
    let mut found = Vec::new();
    for package in packages {
        for it in advisories.iter().filter(|it| concerns(package, it)) {
            let [a, b, c] = package.version.0;
            found.push(format!("{} {a}.{b}.{c}: {} {}", package.name, it.id, it.title));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADVISORY: &str = "```toml\n[advisory]\nid = \"RUSTSEC-2026-0001\"\npackage = \"left\"\n\
        date = \"2026-01-01\"\n\n[versions]\npatched = [\n  \">= 1.2.3\",\n  \"^0.9.4\",\n]\n\
        unaffected = [\"< 0.3.0\"]\n```\n\n# Left leans right\n";

    fn at(version: &str) -> Vec<String> {
        let package =
            Package { name: "left".to_owned(), version: Version::parse(version).unwrap() };
        vulnerabilities(&[package], &[parse(ADVISORY).unwrap().unwrap()])
    }

    #[test]
    fn a_version_is_reported_unless_it_is_patched_or_unaffected() {
        for bad in ["0.3.0", "0.9.3", "0.10.0", "1.0.0", "1.2.2", "1.2.3-rc.1"] {
            let found = at(bad);
            assert_eq!(found.len(), 1, "{bad}");
            assert!(found[0].contains("RUSTSEC-2026-0001 Left leans right"), "{found:?}");
        }
        for unaffected in ["0.2.9", "0.9.4", "0.9.12", "1.2.3", "2.0.0", "1.2.3+build"] {
            assert!(at(unaffected).is_empty(), "{unaffected}");
        }
    }

    #[test]
    fn withdrawn_and_informational_advisories_are_ignored() {
        for line in ["withdrawn = \"2026-02-01\"", "informational = \"unmaintained\""] {
            let text = ADVISORY.replace("date = \"2026-01-01\"", line);
            assert!(parse(&text).unwrap().is_none(), "{line}");
        }
        let unsound = ADVISORY.replace("date = \"2026-01-01\"", "informational = \"unsound\"");
        assert!(parse(&unsound).unwrap().is_some());
        assert!(parse("# nothing").is_err());
        assert!(parse(&ADVISORY.replace(">= 1.2.3", "whenever")).is_err());
    }

    #[test]
    fn only_external_packages_of_the_lock_file_are_checked() {
        let lock = "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n\n\
            [[package]]\nname = \"left\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n";
        let found = packages(lock);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "left");
    }
}
