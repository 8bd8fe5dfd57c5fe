//! Runs the image as a container engine would: as its user and as another one, with its environment, on a read-only root,
//! where only `/data` and `/tmp` can be written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::SETUP_CODE;
use super::sandbox::Sandbox;
use crate::dist::unpacked::UnpackedImage;
use crate::dist::{Target, pack, program, read, version};
use crate::{install, output_of};

/// Mounts the unpacked root as an engine does. A new volume for `/data` has the content and owner that the image gives it.
const MOUNT: &str = "
unpacked=/mnt/image/bundle/rootfs
mkdir /container
mkdir -p $unpacked/proc $unpacked/dev
mount --bind $unpacked /container
mount --options remount,bind,ro /container
mount -t proc proc /container/proc
mount --rbind /dev /container/dev
mount -t tmpfs -o mode=1777 tmpfs /container/tmp
mount --bind $unpacked/data /container/data
if touch /container/usr/written 2> /dev/null; then
    echo 'the root can be written' >&2
    exit 1
fi
";

/// The file with the number of the server's process.
const NUMBER: &str = "/run/container.pid";
/// A user and group with no name anywhere, as `docker run --user 99:100` would set them.
const OTHER_USER: (u64, u64) = (99, 100);
/// The time that the server gets to start.
const START_MAX: Duration = Duration::from_secs(60);

pub(super) fn check(folder: &Path, target: &Target) -> Result<()> {
    let archive = folder.join(pack::image_name(target));
    let image = UnpackedImage::new(&archive, &folder.join("image"), version(), target)?;
    image.check(target, version())?;
    if program::needs_loader(&read(&image.root.join("usr/bin/evenkeel"))?)? {
        add_libraries(&image.root)?;
    }
    let sandbox = Sandbox::start("container", folder)?;
    sandbox.shell(MOUNT)?;
    let user = &image.process["user"];
    let numbers =
        user["uid"].as_u64().zip(user["gid"].as_u64()).context("the image has no user")?;
    let own = Container { sandbox: &sandbox, image: &image, user: numbers };
    serve(folder, &own)?;
    let other = Container { user: OTHER_USER, ..own };
    refuse_foreign_data(&other)?;
    demo(folder, &other).context("the demo as another user")
}

/// The image in the sandbox, as this user.
#[derive(Clone, Copy)]
struct Container<'a> {
    sandbox: &'a Sandbox,
    image: &'a UnpackedImage,
    user: (u64, u64),
}

/// The image's own command is healthy, prints the setup code, keeps its data in `/data`, and stops when it is told to.
fn serve(folder: &Path, container: &Container) -> Result<()> {
    let image = container.image;
    let mut server = inside(container, NUMBER, &texts(&image.process["args"]))?;
    let log = folder.join("container.log");
    let output = fs::File::create(&log)?;
    let mut server = server.stdout(output.try_clone()?).stderr(output).spawn()?;
    let outcome = wait_until_healthy(container);
    outcome.with_context(|| fs::read_to_string(&log).unwrap_or_default())?;
    stop(container, &mut server)?;
    let owner = fs::metadata(image.root.join("data/evenkeel.db"))?.uid();
    ensure!(owner == 1_000, "the database belongs to {owner}");
    let printed = fs::read_to_string(&log)?;
    ensure!(printed.contains(SETUP_CODE), "the container does not print the setup code: {printed}");
    Ok(())
}

/// The data of one user is closed to another, and the program says which file it cannot read or write.
fn refuse_foreign_data(container: &Container) -> Result<()> {
    let arguments = texts(&container.image.process["args"]);
    let Err(refused) = output_of(&mut inside(container, NUMBER, &arguments)?) else {
        bail!("another user serves the data of the image's user")
    };
    let refused = format!("{refused:#}");
    ensure!(refused.contains("/data/"), "without access to the data, it says: {refused}");
    Ok(())
}

/// The link that the demo prints in a new container signs in. The user needs a folder for data that belongs to it.
fn demo(folder: &Path, container: &Container) -> Result<()> {
    let (sandbox, (user, group)) = (container.sandbox, container.user);
    sandbox.shell(&format!(
        "umount /container/data
         mount -t tmpfs -o uid={user},gid={group},mode=700 tmpfs /container/data"
    ))?;
    let mut arguments = texts(&container.image.settings["Entrypoint"]);
    arguments.push("demo".to_owned());
    let mut command = inside(container, NUMBER, &arguments)?;
    let output = fs::File::create(folder.join("demo.txt"))?;
    let mut server = command.stdout(output.try_clone()?).stderr(output).spawn()?;
    let printed = || fs::read_to_string(folder.join("demo.txt")).unwrap_or_default();
    wait_until_healthy(container).with_context(printed)?;
    let link = "grep --only-matching --max-count=1 '^  http://[^ ]*' /mnt/demo.txt";
    let link = sandbox.wait_for(link).with_context(printed)?;
    let open =
        format!("curl --silent --write-out '%{{http_code}}' --output /dev/null {}", link.trim());
    let status = sandbox.shell(&open)?;
    ensure!(status == "303", "the link {} answers {status}", link.trim());
    stop(container, &mut server)
}

fn stop(container: &Container, server: &mut Child) -> Result<()> {
    container.sandbox.shell(&format!("kill -TERM $(cat {NUMBER})"))?;
    let status = server.wait()?;
    ensure!(status.success(), "the server in the container ended with {status}");
    Ok(())
}

/// A command in the container, in the image's environment. Its number in the sandbox is written to a file.
fn inside(container: &Container, number: &str, arguments: &[String]) -> Result<Command> {
    let (process, (user, group)) = (&container.image.process, container.user);
    let mut command = container.sandbox.command("sh");
    command.args(["-euc", "echo $$ > \"$1\"; shift; exec \"$@\"", "sh", number]);
    command.args(["setpriv", "--no-new-privs", "env", "--ignore-environment"]);
    command.args(texts(&process["env"]));
    // The image's PATH does not lead to this program, so it is named in full.
    command.arg(install::on_path("unshare").context("there is no `unshare`")?);
    let folder = process["cwd"].as_str().context("the image starts in no folder")?;
    command.arg("--root=/container").arg(format!("--wd={folder}"));
    command.arg(format!("--setgid={group}")).arg(format!("--setuid={user}")).args(arguments);
    Ok(command)
}

/// Runs the image's health check until it succeeds.
#[expect(clippy::disallowed_methods, reason = "the wait is bounded by START_MAX")]
fn wait_until_healthy(container: &Container) -> Result<()> {
    let health = texts(&container.image.settings["Healthcheck"]["Test"]);
    let (how, health) = health.split_first().context("the image has no health check")?;
    ensure!(how == "CMD", "the health check is for a shell, and the image has none");
    let start = Instant::now();
    loop {
        match output_of(&mut inside(container, "/dev/null", health)?) {
            Ok(answer) if answer == b"ready\n" => return Ok(()),
            Ok(answer) => bail!("the health check prints {}", String::from_utf8_lossy(&answer)),
            Err(error) if start.elapsed() > START_MAX => {
                return Err(error.context(format!("not healthy after {START_MAX:?}")));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// The shared libraries of the gate's program, which is not static. The program that is shipped needs none.
fn add_libraries(root: &Path) -> Result<()> {
    let listed = output_of(Command::new("ldd").arg(root.join("usr/bin/evenkeel")))?;
    for library in String::from_utf8_lossy(&listed).split_whitespace() {
        if library.starts_with('/') && Path::new(library).is_file() {
            let target = root.join(library.trim_start_matches('/'));
            fs::create_dir_all(target.parent().context("a library has no folder")?)?;
            fs::copy(library, target)?;
        }
    }
    Ok(())
}

fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
