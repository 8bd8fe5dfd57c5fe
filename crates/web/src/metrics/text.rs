//! The two text formats of metrics: OpenMetrics 1.0, and the older format of Prometheus.

use std::fmt::{self, Write as _};

use base::metrics::{Distribution, MetricFamily, MetricKind, MetricValue, Unit};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    OpenMetrics,
    Prometheus,
}

impl Format {
    /// The format that the `Accept` headers of a scraper prefer. The older one, if they name none.
    pub(super) fn choose<'h>(accept: impl Iterator<Item = &'h str>) -> Format {
        let ranges = accept.flat_map(|it| it.split(',')).filter_map(range);
        let (mut open_metrics, mut prometheus) = (0, 0);
        for (format, weight) in ranges {
            match format {
                Format::OpenMetrics => open_metrics = weight.max(open_metrics),
                Format::Prometheus => prometheus = weight.max(prometheus),
            }
        }
        if open_metrics > prometheus { Format::OpenMetrics } else { Format::Prometheus }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// One range of an `Accept` header: the format that it names, and its weight in thousandths.
fn range(text: &str) -> Option<(Format, u32)> {
    let mut parts = text.split(';').map(str::trim);
    let format = match parts.next()?.to_ascii_lowercase().as_str() {
        "application/openmetrics-text" => Format::OpenMetrics,
        "text/plain" | "text/*" => Format::Prometheus,
        _ => return None,
    };
    let mut weight = 1_000;
    for (name, value) in parts.filter_map(|it| it.split_once('=')) {
        match name.trim().to_ascii_lowercase().as_str() {
            "q" => weight = thousandths(value.trim())?,
            "version" if format == Format::OpenMetrics && value.trim() != "1.0.0" => return None,
            _ => {}
        }
    }
    Some((format, weight))
}

/// A weight such as 0.75 in thousandths.
fn thousandths(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 3 {
        return None;
    }
    let whole: u32 = whole.parse().ok()?;
    let fraction: u32 = format!("{fraction:0<3}").parse().ok()?;
    whole.checked_mul(1_000)?.checked_add(fraction).filter(|it| *it <= 1_000)
}

pub(super) struct Writer {
    format: Format,
    out: String,
}

impl Writer {
    pub(super) fn new(format: Format) -> Writer {
        Writer { format, out: String::new() }
    }

    pub(super) fn finish(mut self) -> String {
        if self.format == Format::OpenMetrics {
            self.out.push_str("# EOF\n");
        }
        self.out
    }

    pub(super) fn write(&mut self, prefix: &str, family: &MetricFamily) {
        // Writing to a string cannot fail.
        let _ = self.try_write(prefix, family);
    }

    fn try_write(&mut self, prefix: &str, family: &MetricFamily) -> fmt::Result {
        let name = format!("{prefix}{}", family.name);
        let total = if family.kind == MetricKind::Counter { "_total" } else { "" };
        // OpenMetrics names the family, Prometheus the counter itself.
        let described = match self.format {
            Format::OpenMetrics => name.clone(),
            Format::Prometheus => format!("{name}{total}"),
        };
        let kind = match family.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        writeln!(self.out, "# HELP {described} {}", escaped(family.help))?;
        writeln!(self.out, "# TYPE {described} {kind}")?;
        let units = ["seconds", "bytes"].into_iter();
        let mut units = units.filter(|it| name.ends_with(&format!("_{it}")));
        if let (Format::OpenMetrics, Some(unit)) = (self.format, units.next()) {
            writeln!(self.out, "# UNIT {described} {unit}")?;
        }
        for sample in &family.samples {
            let labels: Vec<(&str, &str)> =
                sample.labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
            match &sample.value {
                MetricValue::Number(number) => {
                    self.sample(&name, total, &labels, None)?;
                    writeln!(self.out, "{number}")?;
                }
                MetricValue::Nanoseconds(nanoseconds) => {
                    self.sample(&name, total, &labels, None)?;
                    writeln!(self.out, "{}", Decimal(*nanoseconds, Unit::Seconds))?;
                }
                MetricValue::Histogram(distribution) => {
                    self.distribution(&name, &labels, distribution)?;
                }
            }
        }
        Ok(())
    }

    fn distribution(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        distribution: &Distribution,
    ) -> fmt::Result {
        let Distribution { buckets, counts, sum } = distribution;
        let mut count = 0;
        for (index, in_bucket) in counts.iter().enumerate() {
            count += in_bucket;
            let bound = buckets.bounds.get(index);
            let bound = bound.map(|it| Decimal(*it, buckets.unit).to_string());
            self.sample(name, "_bucket", labels, Some(bound.as_deref().unwrap_or("+Inf")))?;
            writeln!(self.out, "{count}")?;
        }
        self.sample(name, "_sum", labels, None)?;
        writeln!(self.out, "{}", Decimal(*sum, buckets.unit))?;
        self.sample(name, "_count", labels, None)?;
        writeln!(self.out, "{count}")
    }

    /// Writes the name and labels of a sample, and the bound of its bucket.
    fn sample(
        &mut self,
        name: &str,
        suffix: &str,
        labels: &[(&str, &str)],
        bound: Option<&str>,
    ) -> fmt::Result {
        write!(self.out, "{name}{suffix}")?;
        let bound = bound.map(|it| ("le", it));
        for (index, (name, value)) in labels.iter().copied().chain(bound).enumerate() {
            let separator = if index == 0 { '{' } else { ',' };
            write!(self.out, "{separator}{name}=\"{}\"", escaped(value).replace('"', "\\\""))?;
        }
        let end = if labels.is_empty() && bound.is_none() { " " } else { "} " };
        self.out.write_str(end)
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

/// A number of nanoseconds as seconds, or a number of things. Always with a decimal point, as OpenMetrics asks of bounds.
struct Decimal(u64, Unit);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decimal(value, Unit::Seconds) = self else { return write!(f, "{}.0", self.0) };
        let (whole, rest) = (value / 1_000_000_000, value % 1_000_000_000);
        let rest = format!("{rest:09}");
        let rest = rest.trim_end_matches('0');
        write!(f, "{whole}.{}", if rest.is_empty() { "0" } else { rest })
    }
}

#[cfg(test)]
mod tests {
    use base::metrics::{Counter, Histogram};

    use super::*;

    fn choose(accept: &str) -> Format {
        Format::choose([accept].into_iter())
    }

    #[test]
    fn the_scraper_chooses_the_format() {
        for accept in [
            "application/openmetrics-text",
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "application/vnd.google.protobuf;q=0.9, application/openmetrics-text; version=1.0.0; q=0.6, text/plain;q=0.3",
        ] {
            assert_eq!(choose(accept), Format::OpenMetrics, "{accept}");
        }
        for accept in [
            "",
            "*/*",
            "text/html,application/xhtml+xml",
            "text/plain",
            "text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.8",
            "application/openmetrics-text;version=2.0.0",
            "application/openmetrics-text;q=0",
            "application/openmetrics-text;q=many",
        ] {
            assert_eq!(choose(accept), Format::Prometheus, "{accept}");
        }
        assert_eq!(Format::choose(std::iter::empty()), Format::Prometheus);
    }

    fn written(format: Format, family: &MetricFamily) -> String {
        let mut out = Writer::new(format);
        out.write("evenkeel_", family);
        out.finish()
    }

    #[test]
    fn counters_differ_only_in_how_they_are_described() {
        let counter = Counter::default();
        counter.add(7);
        let family = MetricFamily::counter("losses", "Things \\ lost")
            .with(&[("of", "a \"quoted\"\nword")], &counter);
        assert_eq!(
            written(Format::OpenMetrics, &family),
            "# HELP evenkeel_losses Things \\\\ lost\n# TYPE evenkeel_losses counter\n\
             evenkeel_losses_total{of=\"a \\\"quoted\\\"\\nword\"} 7\n# EOF\n"
        );
        assert_eq!(
            written(Format::Prometheus, &family),
            "# HELP evenkeel_losses_total Things \\\\ lost\n# TYPE evenkeel_losses_total counter\n\
             evenkeel_losses_total{of=\"a \\\"quoted\\\"\\nword\"} 7\n"
        );
    }

    #[test]
    fn buckets_add_up_and_have_bounds_in_seconds() {
        let histogram = Histogram::short();
        histogram.observe(400_000);
        histogram.observe(2_000_000_000);
        histogram.observe(61_000_000_000);
        let family = MetricFamily::histogram("work_seconds", "Work").with(&[], &histogram);
        let text = written(Format::OpenMetrics, &family);
        for line in [
            "# UNIT evenkeel_work_seconds seconds",
            "evenkeel_work_seconds_bucket{le=\"0.0005\"} 1",
            "evenkeel_work_seconds_bucket{le=\"1.0\"} 1",
            "evenkeel_work_seconds_bucket{le=\"2.5\"} 2",
            "evenkeel_work_seconds_bucket{le=\"60.0\"} 2",
            "evenkeel_work_seconds_bucket{le=\"+Inf\"} 3",
            "evenkeel_work_seconds_sum 63.0004",
            "evenkeel_work_seconds_count 3",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
