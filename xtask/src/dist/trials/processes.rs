//! Two processes on one PostgreSQL behind the Caddy of `deploy/compose/postgres`, with the secrets and settings of its compose
//! file. Docker cannot run here, so the sandbox's list of hosts names the containers, as Docker's name server would.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Child;

use anyhow::{Context as _, Result, ensure};

use super::database::{self, COMPOSE};
use super::sandbox::{PROCESSES, Sandbox};
use super::visitor::{CADDY_AUTHORITY, Visitor};
use crate::dist::{Target, deploy_files, pack};
use crate::{output_of, root};

const CADDYFILE: &str = "deploy/compose/postgres/Caddyfile";
/// The secrets that the compose file's command makes.
const SECRETS: [&str; 3] = ["installation-key", "password", "database-url"];
/// Pages that are opened one after another while a process is down.
const PAGES: usize = 20;

pub(super) fn check(folder: &Path, target: &Target) -> Result<()> {
    let sandbox = Sandbox::start("processes", folder)?;
    fs::copy(root().join(CADDYFILE), folder.join("compose-Caddyfile"))?;
    make_secrets(&sandbox).context("the service `secrets` of the compose file")?;
    database::start(&sandbox, folder)?;
    let settings = deploy_files::environment(COMPOSE, "evenkeel")?;
    sandbox.shell(&format!(
        "tar --extract --gzip --file /mnt/{name}.tar.gz --directory /opt
         ln -s /opt/{name}/evenkeel /usr/bin/evenkeel
         mkdir -p /etc/caddy
         cp /mnt/compose-Caddyfile /etc/caddy/Caddyfile",
        name = pack::archive_stem(target)
    ))?;
    serve(&sandbox, folder, &settings).with_context(|| database::last_lines(&sandbox))
}

/// Visits the pages while processes stop, are killed and start.
fn serve(sandbox: &Sandbox, folder: &Path, settings: &[(String, String)]) -> Result<()> {
    let start = |index: usize| Process::start(sandbox, folder, index, settings);
    let (mut first, second) = (start(0)?, start(1)?);
    let caddy = "XDG_DATA_HOME=/var/lib XDG_CONFIG_HOME=/var/lib setsid caddy run --adapter caddyfile \
                 --config /etc/caddy/Caddyfile > /var/log/caddy.journal 2>&1 < /dev/null &";
    sandbox.shell(caddy)?;
    let visitor = Visitor::new(sandbox, "localhost", CADDY_AUTHORITY);
    visitor.wait_for_page()?;
    // Forms are sent while both processes run: older versions of Caddy do not try a request with a body again.
    visitor.set_up(&first.setup_code()?)?;
    visitor.sign_in()?;
    for _ in 0..PAGES {
        visitor.sees_overview().context("with both processes")?;
    }
    first.signal("TERM")?;
    for _ in 0..PAGES {
        visitor.sees_overview().context("while the first process stops")?;
    }
    let status = first.child.wait()?;
    ensure!(status.success(), "the first process ended with {status}");
    let mut third = start(0)?;
    second.signal("KILL")?;
    for _ in 0..PAGES {
        visitor.sees_overview().context("after the second process was killed")?;
    }
    third.signal("TERM")?;
    ensure!(third.child.wait()?.success(), "the process does not end well");
    Ok(())
}

/// Each `docker compose up` runs the command, as root without capabilities. Later ones change no secret, because the
/// database and the stored data need the first ones.
pub(super) fn make_secrets(sandbox: &Sandbox) -> Result<()> {
    let words = deploy_files::command(COMPOSE, "secrets")?;
    sandbox.shell("mkdir /secrets")?;
    let make = || -> Result<String> {
        let mut command = sandbox.command("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]).args(&words);
        output_of(&mut command)?;
        sandbox.shell("cd /secrets; stat --format='%n %a' *; cat *")
    };
    let first = make()?;
    for name in SECRETS {
        ensure!(first.contains(&format!("{name} 444\n")), "there is no {name}: {first}");
    }
    for start in ["second", "third"] {
        let later = make().with_context(|| format!("the {start} start"))?;
        ensure!(later == first, "the {start} start changes the secrets");
    }
    Ok(())
}

/// A process of the service, as the user and with the restrictions of its container.
struct Process<'a> {
    sandbox: &'a Sandbox,
    child: Child,
    number_file: String,
    log: PathBuf,
}

impl<'a> Process<'a> {
    fn start(
        sandbox: &'a Sandbox,
        folder: &Path,
        index: usize,
        settings: &[(String, String)],
    ) -> Result<Process<'a>> {
        let listen = format!("{}:4680", PROCESSES[index]);
        let number_file = format!("/run/process-{index}.pid");
        let log = folder.join(format!("process-{index}.log"));
        let mut command = sandbox.command("sh");
        let data = format!("/data-{index}");
        sandbox
            .shell(&format!("install --directory --mode=700 --owner=1000 --group=1000 {data}"))?;
        command.args([
            "-euc",
            "echo $$ > \"$1\"; shift; exec \"$@\"",
            "sh",
            &number_file,
            "setpriv",
        ]);
        command.args(["--reuid=1000", "--regid=1000", "--clear-groups", "--no-new-privs"]);
        command.args(["--bounding-set=-all", "--inh-caps=-all", "evenkeel", "serve"]);
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        command.env("EVENKEEL_DATA_DIR", data).env("EVENKEEL_LISTEN", &listen);
        let output = File::create(&log)?;
        let child = command.stdout(output.try_clone()?).stderr(output).spawn()?;
        let process = Process { sandbox, child, number_file, log };
        let healthy = format!("evenkeel healthy --listen {listen}");
        sandbox.wait_for(&healthy).with_context(|| process.printed())?;
        Ok(process)
    }

    fn printed(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn setup_code(&self) -> Result<String> {
        super::setup_code_in(&self.printed())
    }

    fn signal(&self, name: &str) -> Result<()> {
        let script = format!("kill -{name} $(cat {})", self.number_file);
        self.sandbox.shell(&script).map(|_| ())
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // The sandbox ends the process itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
