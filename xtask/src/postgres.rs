//! A temporary PostgreSQL: found or installed, started in a temporary folder, and deleted when this process ends.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::{install, output_of};

pub(crate) const POSTGRES_VARIABLE: &str = "EVENKEEL_TEST_POSTGRES";

const SETTINGS: &str = "
listen_addresses = '127.0.0.1'
max_connections = 300
";
/// Settings without disk syncs, because no data outlives the run.
const NO_SYNC: &str = "
fsync = off
synchronous_commit = off
full_page_writes = off
";
/// Settings for a folder in memory, where space is limited: they keep the write-ahead log short.
const IN_MEMORY: &str = "
wal_level = minimal
max_wal_senders = 0
max_wal_size = 256MB
";
/// Each test has its own database for a few seconds, so nothing is worth cleaning up in the background.
const FOR_TESTS: &str = "
autovacuum = off
";
/// The free memory that a folder in memory needs.
const MEMORY_KIB_MIN: u64 = 3 << 20;

/// Waits until the pipe from this process closes, however the process ends, and then cleans up. It ignores Ctrl-C,
/// which reaches the whole process group.
const CLEANUP: &str = r#"
trap '' INT TERM HUP
cat
"$1" stop --pgdata "$2/data" --mode immediate --silent
rm -rf "$2"
"#;

pub(crate) struct Cluster {
    port: u16,
    cleanup: Child,
}

impl Cluster {
    pub(crate) fn start() -> Result<Cluster> {
        Cluster::start_with(NO_SYNC, std::env::temp_dir())
    }

    /// A cluster with its files in memory if there is enough, because tests create and drop a thousand databases.
    pub(crate) fn start_for_tests() -> Result<Cluster> {
        match memory_folder() {
            Some(folder) => {
                Cluster::start_with(&format!("{NO_SYNC}{FOR_TESTS}{IN_MEMORY}"), folder)
            }
            None => Cluster::start_with(&format!("{NO_SYNC}{FOR_TESTS}"), std::env::temp_dir()),
        }
    }

    /// A cluster for the storm, which crashes PostgreSQL: a commit that was acknowledged outlives the processes of
    /// PostgreSQL, but not the machine.
    pub(crate) fn start_for_storm() -> Result<Cluster> {
        const SETTINGS: &str = "\nfsync = off\nautovacuum = off\n";
        let parent = memory_folder().unwrap_or_else(std::env::temp_dir);
        Cluster::start_in(SETTINGS, parent.join(format!("{}-storm", folder_name())))
    }

    /// A cluster that syncs commits to disk, like one in production.
    pub(crate) fn start_durable() -> Result<Cluster> {
        Cluster::start_with("", std::env::temp_dir())
    }

    /// One of several clusters of this process, by its name.
    pub(crate) fn start_node(name: &str, more: &str) -> Result<Cluster> {
        let settings = format!("{NO_SYNC}{FOR_TESTS}{more}");
        let parent = memory_folder().unwrap_or_else(std::env::temp_dir);
        Cluster::start_in(&settings, parent.join(format!("{}-{name}", folder_name())))
    }

    fn start_with(more: &str, parent: PathBuf) -> Result<Cluster> {
        Cluster::start_in(more, parent.join(folder_name()))
    }

    fn start_in(more: &str, folder: PathBuf) -> Result<Cluster> {
        let programs = install()?;
        let owner = owner()?;
        make_folder(&folder, owner)?;

        // The cleanup process starts first, so that nothing is left behind from here on.
        let mut cleanup = as_owner(Path::new("sh"), owner, &folder);
        cleanup.args(["-c", CLEANUP, "caretaker"]).arg(programs.join("pg_ctl")).arg(&folder);
        cleanup.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut cluster = Cluster { port: 0, cleanup: cleanup.spawn()? };

        let mut initdb = as_owner(&programs.join("initdb"), owner, &folder);
        initdb.args(["--auth=trust", "--username=evenkeel", "--encoding=UTF8", "--locale=C"]);
        output_of(initdb.args(["--no-sync", "--pgdata"]).arg(folder.join("data")))?;
        let mut settings =
            OpenOptions::new().append(true).open(folder.join("data/postgresql.conf"))?;
        writeln!(settings, "{SETTINGS}{more}unix_socket_directories = '{}'", folder.display())?;

        cluster.port = serve(&programs.join("pg_ctl"), owner, &folder)?;
        Ok(cluster)
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://evenkeel@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.cleanup.stdin.take());
        if let Err(error) = self.cleanup.wait() {
            eprintln!("the temporary PostgreSQL may still be running: {error}");
        }
    }
}

fn folder_name() -> String {
    format!("evenkeel-postgres-{}", std::process::id())
}

/// A folder in memory, if this system has one with enough space, for files that need not outlive the run.
pub(crate) fn memory_folder() -> Option<PathBuf> {
    let folder = Path::new("/dev/shm");
    let output = output_of(Command::new("df").args(["-Pk"]).arg(folder)).ok()?;
    let output = String::from_utf8(output).ok()?;
    // A header line, then: device, blocks, used, available, percent, folder.
    let fields: Vec<&str> = output.lines().nth(1)?.split_whitespace().collect();
    let is_memory = *fields.first()? == "tmpfs" && fields.last() == Some(&"/dev/shm");
    let available: u64 = fields.get(3)?.parse().ok()?;
    (is_memory && available >= MEMORY_KIB_MIN).then(|| folder.to_owned())
}

pub(crate) fn in_foreground() -> Result<()> {
    let cluster = Cluster::start_for_tests()?;
    println!("{POSTGRES_VARIABLE}={}", cluster.url());
    eprintln!("PostgreSQL runs until Ctrl-C, or until the input ends");
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// Starts the server and returns its port. Another process may take a free port before PostgreSQL does, so a failed
/// start is retried on another port.
fn serve(pg_ctl: &Path, owner: Option<Owner>, folder: &Path) -> Result<u16> {
    let mut failure = None;
    for _ in 0..3 {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut start = as_owner(pg_ctl, owner, folder);
        start.args(["start", "--wait", "--silent", "--pgdata"]).arg(folder.join("data"));
        start.arg("--log").arg(folder.join("log")).arg(format!("--options=-p {port}"));
        match output_of(&mut start) {
            Ok(_) => return Ok(port),
            Err(error) => failure = Some(error),
        }
    }
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let failure = failure.context("no attempt was made")?;
    Err(failure.context(format!("PostgreSQL does not start; its log says:\n{log}")))
}

#[derive(Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
}

/// The user that the server runs as if this process is root, because PostgreSQL refuses to run as root. None otherwise.
fn owner() -> Result<Option<Owner>> {
    if !install::is_root()? {
        return Ok(None);
    }
    for name in ["postgres", "nobody"] {
        let id = |flag| output_of(Command::new("id").args([flag, name]));
        if let (Ok(user), Ok(group)) = (id("-u"), id("-g")) {
            let number = |text: Vec<u8>| String::from_utf8_lossy(&text).trim().parse::<u32>();
            return Ok(Some(Owner { user: number(user)?, group: number(group)? }));
        }
    }
    bail!("PostgreSQL cannot run as root, and there is no user postgres or nobody to run it as")
}

fn as_owner(program: &Path, owner: Option<Owner>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    // The owner may have no access to the current folder.
    command.current_dir(folder).env("LC_ALL", "C");
    if let Some(Owner { user, group }) = owner {
        command.uid(user).gid(group);
    }
    command
}

fn make_folder(folder: &Path, owner: Option<Owner>) -> Result<()> {
    let context = || format!("cannot create the folder {}", folder.display());
    DirBuilder::new().mode(0o700).create(folder).with_context(context)?;
    if let Some(Owner { user, group }) = owner {
        chown(folder, Some(user), Some(group)).with_context(context)?;
    }
    Ok(())
}

/// The folder with PostgreSQL's server programs, installed if there is none.
pub(crate) fn install() -> Result<PathBuf> {
    if let Some(programs) = find() {
        return Ok(programs);
    }
    install::postgres()?;
    find().context("PostgreSQL is installed, but its initdb is in none of the usual folders")
}

/// The folder with PostgreSQL's server programs: on the PATH, or the newest in a usual place.
fn find() -> Option<PathBuf> {
    // Some systems link only a few of the programs into the PATH; the others are where the link points.
    let linked = install::on_path("initdb").and_then(|it| fs::canonicalize(it).ok());
    let on_path = linked.and_then(|it| it.parent().map(Path::to_path_buf));
    let usual = [
        ("/usr/lib/postgresql", ""),
        ("/usr", "pgsql-"),
        ("/usr/local", "pgsql"),
        ("/usr/libexec", "postgresql"),
        ("/opt/homebrew/opt", "postgresql@"),
        ("/usr/local/opt", "postgresql@"),
        ("/Applications/Postgres.app/Contents/Versions", ""),
    ];
    let usual = usual.iter().flat_map(|(parent, prefix)| versions(Path::new(parent), prefix));
    on_path.into_iter().chain(usual).find(|folder| {
        ["initdb", "pg_ctl", "postgres"].iter().all(|program| folder.join(program).is_file())
    })
}

/// Folders for programs under `parent/<prefix><version>`, the newest version first.
fn versions(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(version) = name.to_str().and_then(|it| it.strip_prefix(prefix)) {
            let major = version.split('.').next().and_then(|it| it.parse::<u32>().ok());
            found.push((major, entry.path()));
        }
    }
    found.sort();
    // Alpine keeps the programs in the versioned folder itself.
    found.into_iter().rev().flat_map(|(_, path)| [path.join("bin"), path]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first_and_ten_is_newer_than_nine() {
        let parent = std::env::temp_dir().join(format!("evenkeel-versions-{}", std::process::id()));
        for name in ["pg-9.6", "pg-15", "pg-10", "other"] {
            fs::create_dir_all(parent.join(name).join("bin")).unwrap();
        }
        let found = versions(&parent, "pg-");
        fs::remove_dir_all(&parent).unwrap();
        let names: Vec<_> = found.iter().step_by(2).map(|it| it.strip_prefix(&parent)).collect();
        let expected = ["pg-15/bin", "pg-10/bin", "pg-9.6/bin"].map(|it| Ok(Path::new(it)));
        assert_eq!(names, expected);
    }
}
