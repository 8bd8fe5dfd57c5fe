//! A container image as an OCI layout in a tar archive, written without a container engine.

use anyhow::Result;
use serde_json::{Value, json};

use super::archive::{self, Entry};
use super::{Release, Target, hex_sha256, instant};

/// The number of the image's user and group. Another one needs a folder of its own at `/data`.
const USER: u32 = 1_000;
const SECOND_NANOS: u64 = 1_000_000_000;

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// What an image is made of.
pub(crate) struct Contents<'a> {
    pub(crate) target: &'a Target,
    pub(crate) program: &'a [u8],
    /// The certificate authorities that outgoing requests trust, in PEM.
    pub(crate) authorities: &'a [u8],
    pub(crate) license: &'a [u8],
    pub(crate) release: &'a Release<'a>,
}

/// The blobs of one architecture's image, and the descriptor of its manifest.
pub(crate) struct Image {
    blobs: Vec<Blob>,
    manifest: Value,
    /// The digests of the configuration and the layer, for the older archive format of Docker.
    config: String,
    layer: String,
    version: String,
    seconds: u64,
}

struct Blob {
    digest: String,
    content: Vec<u8>,
}

impl Image {
    pub(crate) fn new(contents: &Contents) -> Result<Image> {
        let release = contents.release;
        let tar = archive::tar(&root(contents), "", release.seconds)?;
        let layer = blob(archive::gzip(&tar, release.compression)?);
        let config = blob(json_bytes(&configuration(contents, &hex_sha256(&tar))));
        let manifest = blob(json_bytes(&json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": descriptor(CONFIG, &config),
            "layers": [descriptor(LAYER, &layer)],
        })));
        let mut described = descriptor(MANIFEST, &manifest);
        described["platform"] = json!({"architecture": contents.target.oci, "os": "linux"});
        Ok(Image {
            config: config.digest.clone(),
            layer: layer.digest.clone(),
            blobs: vec![layer, config, manifest],
            manifest: described,
            version: release.version.to_owned(),
            seconds: release.seconds,
        })
    }

    /// The image's archive, for `docker load` and `podman load`. Docker before version 25 reads `manifest.json`.
    pub(crate) fn to_archive(&self) -> Result<Vec<u8>> {
        let mut manifest = self.manifest.clone();
        manifest["annotations"] = names(&self.version);
        let docker = json!([{
            "Config": blob_path(&self.config),
            "RepoTags": [format!("evenkeel:{}", self.version)],
            "Layers": [blob_path(&self.layer)],
        }]);
        let docker = Entry::file("manifest.json", 0o644, json_bytes(&docker));
        layout(self.blobs.iter(), &manifest, vec![docker], self.seconds)
    }
}

/// One archive with the images of several architectures, for registries: `skopeo copy --all oci-archive:FILE ...`.
pub(crate) fn to_archive_of_all(images: &[Image]) -> Result<Vec<u8>> {
    let manifests: Vec<&Value> = images.iter().map(|it| &it.manifest).collect();
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
    let index = blob(json_bytes(&index));
    let mut described = descriptor(INDEX, &index);
    let (version, seconds) = images.first().map_or(("", 0), |it| (it.version.as_str(), it.seconds));
    described["annotations"] = names(version);
    let blobs = images.iter().flat_map(|it| &it.blobs).chain([&index]);
    layout(blobs, &described, Vec::new(), seconds)
}

fn layout<'a>(
    blobs: impl Iterator<Item = &'a Blob>,
    described: &Value,
    mut entries: Vec<Entry>,
    seconds: u64,
) -> Result<Vec<u8>> {
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [described]});
    entries.push(Entry::file("oci-layout", 0o644, *br#"{"imageLayoutVersion":"1.0.0"}"#));
    entries.push(Entry::file("index.json", 0o644, json_bytes(&index)));
    entries.extend(blobs.map(|it| Entry::file(&blob_path(&it.digest), 0o644, it.content.clone())));
    let mut entries = archive::with_folders(entries);
    // Two architectures share no blob, but the same blob twice would be the same file.
    entries.dedup();
    archive::tar(&entries, "", seconds)
}

/// The names under which container engines store the image.
fn names(version: &str) -> Value {
    json!({
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": format!("docker.io/library/evenkeel:{version}"),
    })
}

/// The image's files: the program, the certificate authorities, a folder for data and one for temporary files.
fn root(contents: &Contents) -> Vec<Entry> {
    archive::with_folders(vec![
        Entry::file("usr/bin/evenkeel", 0o755, contents.program),
        Entry::file("etc/ssl/certs/ca-certificates.crt", 0o644, contents.authorities),
        Entry::file("usr/share/licenses/evenkeel/LICENSE", 0o644, contents.license),
        Entry::folder("data", 0o700, USER),
        Entry::folder("tmp", 0o1777, 0),
    ])
}

fn configuration(contents: &Contents, layer_digest: &str) -> Value {
    let created = instant(contents.release.seconds);
    json!({
        "created": created,
        "architecture": contents.target.oci,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "ExposedPorts": {"4680/tcp": {}},
            "Env": [
                "PATH=/usr/bin",
                "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
                "EVENKEEL_DATA_DIR=/data",
                "EVENKEEL_LISTEN=0.0.0.0:4680",
            ],
            "Entrypoint": ["/usr/bin/evenkeel"],
            "Cmd": ["serve"],
            "Volumes": {"/data": {}},
            "WorkingDir": "/data",
            "StopSignal": "SIGTERM",
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/evenkeel", "healthy"],
                "Interval": 30 * SECOND_NANOS,
                "Timeout": 5 * SECOND_NANOS,
                "StartPeriod": 60 * SECOND_NANOS,
                "StartInterval": SECOND_NANOS,
            },
            "Labels": {
                "org.opencontainers.image.title": "Evenkeel",
                "org.opencontainers.image.description": "The open, self-hosted API over your own finances",
                "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.version": contents.release.version,
                "org.opencontainers.image.created": created,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer_digest}")]},
        "history": [{"created": created, "created_by": "cargo xtask image"}],
    })
}

fn blob(content: Vec<u8>) -> Blob {
    Blob { digest: hex_sha256(&content), content }
}

fn descriptor(media_type: &str, blob: &Blob) -> Value {
    json!({
        "mediaType": media_type,
        "digest": format!("sha256:{}", blob.digest),
        "size": blob.content.len(),
    })
}

fn blob_path(digest: &str) -> String {
    format!("blobs/sha256/{digest}")
}

fn json_bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
