//! PgBouncer before the PostgreSQL of the tests, where it is installed.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Programs to test with, separated by colons. By default the installed one, if there is one.
const PROGRAMS: &str = "EVENKEEL_TEST_PGBOUNCER";
const USUAL_PLACES: [&str; 3] =
    ["/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"];

/// A running PgBouncer, ended on drop.
pub struct PgBouncer {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl PgBouncer {
    /// The installed programs, each with its version such as `(1, 24)`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment names the programs to test with"
    )]
    pub fn installed() -> Vec<(PathBuf, (u32, u32))> {
        let named = std::env::var(PROGRAMS).ok();
        let programs: Vec<PathBuf> = match &named {
            Some(named) => named.split(':').map(PathBuf::from).collect(),
            None => {
                let found = USUAL_PLACES.iter().map(Path::new).find(|it| it.is_file());
                found.map(Path::to_owned).into_iter().collect()
            }
        };
        programs
            .into_iter()
            .map(|it| (version(&it), it))
            .map(|(version, it)| (it, version))
            .collect()
    }

    /// Starts a program before the server of a `postgres://` URL, and returns the URL through it.
    pub async fn start(program: &Path, pool_mode: &str, url: &str) -> (PgBouncer, String) {
        let (_, rest) = url.split_once("://").unwrap();
        let (address, database) = rest.split_once('/').unwrap();
        let (user, server) = address.rsplit_once('@').unwrap();
        let (host, server_port) = server.rsplit_once(':').unwrap();
        let folder = tempfile::tempdir().unwrap();
        // PgBouncer does not run as root, and another user must be able to read its settings.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let settings = format!(
            "[databases]\n* = host={host} port={server_port} user={user}\n\
            [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
            auth_type = any\npool_mode = {pool_mode}\ndefault_pool_size = 10\nmax_client_conn = 500\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        fs::write(&file, settings).unwrap();
        let mut command = Command::new(program);
        let user_id = Command::new("id").arg("-u").output().unwrap().stdout;
        if user_id.trim_ascii() == b"0" {
            command.args(["-u", "nobody"]);
        }
        let process =
            command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let bouncer = PgBouncer { process, port, _folder: folder };
        while tokio::net::TcpStream::connect(("127.0.0.1", bouncer.port)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        (bouncer, format!("postgres://{user}@127.0.0.1:{port}/{database}"))
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn version(program: &Path) -> (u32, u32) {
    let output = Command::new(program).arg("--version").output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text.split_whitespace().nth(1).unwrap_or_else(|| panic!("no version: {text}"));
    let mut parts = number.split('.').map(|it| it.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap())
}
