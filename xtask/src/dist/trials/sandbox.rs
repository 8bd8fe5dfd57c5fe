//! A copy of this machine's files and a network of its own, in which packages are installed and servers use the usual ports
//! while the machine stays as it is: namespaces of the kernel, and an overlay over the root folder. Only root can make it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{install, output_of, root};

/// Programs that stand in for those that need systemd, a network or a password.
const STAND_INS: &str = "xtask/packages/stand-ins";
/// How long anything in the sandbox may take to become true, also on a machine with much else to do.
const WAIT_MAX: Duration = Duration::from_secs(180);

/// Prepares the namespaces, and keeps them until its input ends. `$1` is an empty folder, `$2` the folder of packages, `$3`
/// the folder of the programs that stand in for others. This shell is the first process of the sandbox, so that it reaps
/// processes whose parents have ended, and all processes end with it.
const HOLDER: &str = r#"
set -eu
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$1/root"
cd "$1/root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount --rbind /sys sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount --bind "$2" mnt
mkdir -p run/lock run/systemd/system
mv usr/bin/systemctl usr/bin/systemctl.real
cp --remove-destination "$3"/* usr/bin/
rm -f usr/sbin/policy-rc.d
ip link set lo up
for address in 192.0.2.1 192.0.2.7 172.30.47.11 172.30.47.12 172.30.47.13; do ip address add "$address/32" dev lo; done
printf '127.0.0.1 localhost\n192.0.2.1 money.example.net\n172.30.47.11 evenkeel\n172.30.47.12 evenkeel\n172.30.47.13 postgres\n' > etc/hosts
echo ready
cat > /dev/null
"#;

/// The host name in the sandbox that leads to the proxy.
pub(super) const HOST: &str = "money.example.net";
/// The address that the visitor's requests come from.
pub(super) const VISITOR: &str = "192.0.2.7";
/// The addresses of the name `evenkeel`, as Docker's name server would list the processes of a service.
pub(super) const PROCESSES: [&str; 2] = ["172.30.47.11", "172.30.47.12"];
/// The address of the name `postgres`, the database of the compose file.
pub(super) const DATABASE: &str = "172.30.47.13";

pub(super) struct Sandbox {
    holder: Child,
    folder: PathBuf,
}

impl Sandbox {
    /// Whether this process may make one. If not, this says what is not tried.
    pub(super) fn is_possible(what: &str) -> Result<bool> {
        let is_possible = cfg!(target_os = "linux") && install::is_root()?;
        if !is_possible {
            println!("{what} was not tried, because only root on Linux can do that");
        }
        Ok(is_possible)
    }

    /// Starts a sandbox that sees the folder of packages as `/mnt`. The name tells sandboxes of one folder apart.
    pub(super) fn start(name: &str, packages: &Path) -> Result<Sandbox> {
        let folder = packages.join(format!("sandbox-{name}"));
        fs::create_dir_all(&folder)?;
        let mut command = Command::new("unshare");
        command.args(["--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child"]);
        command.args(["sh", "-c", HOLDER]);
        command.arg("sh").arg(&folder).arg(packages).arg(root().join(STAND_INS));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = command.spawn().context("cannot start `unshare`")?;
        let output = holder.stdout.take().context("the sandbox has no output")?;
        let sandbox = Sandbox { holder, folder };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        ensure!(line == "ready\n", "the sandbox cannot be made; its errors are above");
        Ok(sandbox)
    }

    /// A command in the sandbox, in an empty environment.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = self.enter();
        command.arg("chroot").arg(self.folder.join("root")).arg(program);
        command
    }

    fn enter(&self) -> Command {
        let id = self.holder.id();
        let mut command = Command::new("nsenter");
        command.args(["--target", &id.to_string(), "--mount", "--net", "--ipc"]);
        command.arg(format!("--pid=/proc/{id}/ns/pid_for_children"));
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin");
        command.env("HOME", "/root").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command
    }

    /// Runs a script of the shell, which stops at the first error, and returns its output.
    pub(super) fn shell(&self, script: &str) -> Result<String> {
        let mut shell = self.command("sh");
        let output = output_of(shell.args(["-euc", script]))?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// The same script again until it succeeds.
    #[expect(clippy::disallowed_methods, reason = "the wait is bounded by WAIT_MAX")]
    pub(super) fn wait_for(&self, script: &str) -> Result<String> {
        let start = Instant::now();
        loop {
            match self.shell(script) {
                Ok(output) => return Ok(output),
                Err(error) if start.elapsed() > WAIT_MAX => {
                    bail!("still failing after {WAIT_MAX:?}: {error:#}")
                }
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// A file of the sandbox, as this process sees it.
    pub(super) fn read(&self, path: &str) -> Result<String> {
        self.shell(&format!("cat {path}"))
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
