//! Traces, set by the variables of OpenTelemetry that people know from other programs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use percent_encoding::percent_decode_str;
use trace::Sampler;

const TIMEOUT_MS: u64 = 10_000;
const TIMEOUT_MS_MAX: u64 = 60_000;

/// The collector that gets the traces, the part of them that it gets, and how they are sent.
#[derive(Clone)]
pub(crate) struct Traces {
    /// The whole address of the collector.
    pub(crate) url: String,
    /// Headers of each request, which may contain a secret.
    pub(crate) headers: Vec<(String, String)>,
    /// Attributes of this process, such as `service.name`, which are sent with the traces.
    pub(crate) resource: Vec<(String, String)>,
    pub(crate) sampler: Sampler,
    pub(crate) timeout: Duration,
    /// A certificate authority to trust besides those of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

/// None if the operator names no collector, or switches traces off.
pub(super) fn parse(variables: &[(OsString, OsString)]) -> Result<Option<Traces>> {
    let find = |name: &str| {
        let found = variables.iter().find(|it| it.0 == name);
        // An empty variable counts as none.
        found.and_then(|it| it.1.to_str()).map(str::trim).filter(|it| !it.is_empty())
    };
    // The variable for traces precedes the one for everything.
    let of_traces = |rest: &str| {
        let specific = format!("OTEL_EXPORTER_OTLP_TRACES_{rest}");
        find(&specific).or_else(|| find(&format!("OTEL_EXPORTER_OTLP_{rest}")))
    };
    let url =
        match (find("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), find("OTEL_EXPORTER_OTLP_ENDPOINT")) {
            (Some(url), _) => url.to_owned(),
            (None, Some(base)) => format!("{}/v1/traces", base.trim_end_matches('/')),
            (None, None) => return Ok(None),
        };
    let is_disabled = find("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    match find("OTEL_TRACES_EXPORTER") {
        _ if is_disabled => return Ok(None),
        Some("none") => return Ok(None),
        None | Some("otlp") => {}
        Some(other) => bail!("OTEL_TRACES_EXPORTER must be otlp or none, not {other}"),
    }
    let is_url = url.starts_with("http://") || url.starts_with("https://");
    ensure!(
        is_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT must begin with http:// or https://, such as http://localhost:4318"
    );
    if let Some(protocol) = of_traces("PROTOCOL").filter(|it| *it != "http/protobuf") {
        bail!(
            "OTEL_EXPORTER_OTLP_PROTOCOL {protocol} is not supported; use http/protobuf, which collectors take on port 4318"
        );
    }
    let timeout = of_traces("TIMEOUT").map(str::parse::<u64>).transpose();
    let timeout =
        timeout.map_err(|_| anyhow!("OTEL_EXPORTER_OTLP_TIMEOUT must be milliseconds"))?;
    let sampler = match find("OTEL_TRACES_SAMPLER") {
        None => Sampler::ALWAYS,
        Some(name) => Sampler::parse(name, find("OTEL_TRACES_SAMPLER_ARG"))
            .map_err(|reason| anyhow!(reason))?,
    };
    Ok(Some(Traces {
        url,
        headers: pairs("OTEL_EXPORTER_OTLP_HEADERS", of_traces("HEADERS"))?,
        resource: resource(find("OTEL_SERVICE_NAME"), find("OTEL_RESOURCE_ATTRIBUTES"))?,
        sampler,
        timeout: Duration::from_millis(timeout.unwrap_or(TIMEOUT_MS).clamp(1, TIMEOUT_MS_MAX)),
        ca_file: of_traces("CERTIFICATE").map(PathBuf::from),
    }))
}

/// The attributes of this process: those that the operator sets, and the name and version of the program.
fn resource(name: Option<&str>, attributes: Option<&str>) -> Result<Vec<(String, String)>> {
    let mut all = pairs("OTEL_RESOURCE_ATTRIBUTES", attributes)?;
    if let Some(name) = name {
        all.retain(|it| it.0 != "service.name");
        all.push(("service.name".to_owned(), name.to_owned()));
    }
    let own = [("service.name", "evenkeel"), ("service.version", env!("CARGO_PKG_VERSION"))];
    for (name, value) in own {
        if !all.iter().any(|it| it.0 == name) {
            all.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(all)
}

/// Reads `name=value,name=value`, with values in percent-encoding.
fn pairs(variable: &str, text: Option<&str>) -> Result<Vec<(String, String)>> {
    let parts = text.unwrap_or_default().split(',').map(str::trim).filter(|it| !it.is_empty());
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let decode =
            |it: &str| percent_decode_str(it.trim()).decode_utf8().ok().map(|it| it.into_owned());
        let (name, value) = (decode(name)?, decode(value)?);
        (!name.is_empty()).then_some((name, value))
    };
    // The message does not repeat the text, which may contain a secret.
    let wrong = || anyhow!("{variable} must be name=value pairs, separated by commas");
    parts.map(|it| pair(it).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(variables: &[(&str, &str)]) -> Result<Option<Traces>> {
        let all: Vec<_> =
            variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        parse(&all)
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

    #[test]
    fn traces_are_off_unless_a_collector_is_named() {
        let off: [&[(&str, &str)]; 5] = [
            &[],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            &[("OTEL_SERVICE_NAME", "money")],
            &[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")],
            &[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")],
        ];
        for variables in off {
            assert!(parsed(variables).unwrap().is_none(), "{variables:?}");
        }
        let on = parsed(&[ENDPOINT]).unwrap().unwrap();
        assert_eq!(on.url, "http://collector:4318/v1/traces");
        assert_eq!((on.sampler, on.timeout), (Sampler::ALWAYS, Duration::from_secs(10)));
        assert!(on.resource.contains(&("service.name".to_owned(), "evenkeel".to_owned())));
    }

    #[test]
    fn the_variables_for_traces_precede_those_for_everything() {
        let found = parsed(&[
            ENDPOINT,
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example/in"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=Basic%20abc%3D, x = 1"),
            ("OTEL_SERVICE_NAME", "money"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment=home"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
            ("OTEL_TRACES_SAMPLER", "traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ]);
        let found = found.unwrap().unwrap();
        assert_eq!(found.url, "https://traces.example/in");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found.headers, [pair("authorization", "Basic abc="), pair("x", "1")]);
        let names = found.resource.iter().filter(|it| it.0 == "service.name");
        assert_eq!(names.collect::<Vec<_>>(), [&pair("service.name", "money")]);
        assert!(found.resource.contains(&pair("deployment.environment", "home")));
        assert_eq!(found.timeout, Duration::from_millis(1_500));
    }

    #[test]
    fn a_wrong_variable_is_refused_with_what_to_do() {
        for (name, value, advice) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "use http/protobuf"),
            ("OTEL_TRACES_EXPORTER", "jaeger", "otlp or none"),
            ("OTEL_TRACES_SAMPLER", "sometimes", "always_on"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4317", "begin with http"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "milliseconds"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "secret-without-name", "name=value"),
        ] {
            let error = parsed(&[ENDPOINT, (name, value)]).err().unwrap().to_string();
            assert!(error.contains(advice), "{error}");
            assert!(!error.contains("secret-without-name"), "{error}");
        }
    }
}
