//! The database of `deploy/compose/postgres`: PostgreSQL in the sandbox, set up from the compose file as its image would do.

use anyhow::{Context as _, Result};

use super::processes::COMPOSE;
use super::sandbox::{DATABASE, Sandbox};
use crate::dist::deploy_files;
use crate::{output_of, postgres};

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

/// Starts the database on the address of the name `postgres`, and prints its version.
pub(super) fn start(sandbox: &Sandbox) -> Result<()> {
    let programs = postgres::install()?;
    let mut command = sandbox.command("sh");
    command.envs(deploy_files::environment(COMPOSE, "postgres")?);
    command.args(["-euc", START, "sh"]).arg(&programs).arg(DATABASE);
    let version = output_of(&mut command).context("the database of the compose file")?;
    println!("the processes of {COMPOSE} use {}", String::from_utf8_lossy(&version).trim());
    Ok(())
}
