//! Which traces are recorded: the samplers that OpenTelemetry names.

use crate::context::TraceContext;

/// A share of all traces is expressed in billionths.
const WHOLE: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampler {
    /// Whether a trace that another program has begun is recorded if that program records it.
    follows_parent: bool,
    /// The share of other traces that is recorded, in billionths.
    share: u64,
}

impl Sampler {
    pub const ALWAYS: Sampler = Sampler { follows_parent: true, share: WHOLE };

    /// A sampler by the name of `OTEL_TRACES_SAMPLER`, with its argument.
    pub fn parse(name: &str, argument: Option<&str>) -> Result<Sampler, String> {
        let (rest, follows_parent) = match name.strip_prefix("parentbased_") {
            Some(rest) => (rest, true),
            None => (name, false),
        };
        let share = match rest {
            "always_on" => WHOLE,
            "always_off" => 0,
            "traceidratio" => match argument {
                None => WHOLE,
                Some(text) => billionths(text).ok_or_else(|| {
                    format!("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not {text}")
                })?,
            },
            _ => {
                return Err(format!(
                    "OTEL_TRACES_SAMPLER must be always_on, always_off, traceidratio, parentbased_always_on, \
                     parentbased_always_off or parentbased_traceidratio, not {name}"
                ));
            }
        };
        Ok(Sampler { follows_parent, share })
    }

    /// Whether a trace is recorded. Every program that uses the same share decides alike, because it decides by the id.
    pub(crate) fn samples(self, trace_id: [u8; 16], parent: Option<&TraceContext>) -> bool {
        if let (Some(parent), true) = (parent, self.follows_parent) {
            return parent.is_sampled;
        }
        let mut last = [0; 8];
        last.copy_from_slice(&trace_id[8..]);
        // The last seven bytes of an id are random.
        let number = u128::from(u64::from_be_bytes(last) & 0x00ff_ffff_ffff_ffff);
        number < (u128::from(self.share) << 56) / u128::from(WHOLE)
    }
}

/// A decimal number from 0 to 1.
fn billionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: String = format!("{fraction:0<9}").chars().take(9).collect();
    let share = whole.checked_mul(WHOLE)?.checked_add(fraction.parse().ok()?)?;
    (share <= WHOLE).then_some(share)
}

#[cfg(test)]
mod tests {
    use base::Entropy;

    use super::*;

    fn recorded(sampler: Sampler, parent: Option<&TraceContext>) -> usize {
        let entropy = Entropy::seeded(1);
        (0..10_000).filter(|_| sampler.samples(entropy.bytes(), parent)).count()
    }

    #[test]
    fn a_share_of_the_traces_is_recorded() {
        let sampler = |name, argument| Sampler::parse(name, argument).unwrap();
        assert_eq!(recorded(sampler("always_on", None), None), 10_000);
        assert_eq!(recorded(sampler("always_off", None), None), 0);
        assert_eq!(recorded(sampler("traceidratio", Some("1")), None), 10_000);
        let tenth = recorded(sampler("traceidratio", Some("0.1")), None);
        assert!((900..1_100).contains(&tenth), "{tenth}");
    }

    #[test]
    fn a_parent_decides_only_if_the_sampler_says_so() {
        let parent = |is_sampled| TraceContext { trace_id: [1; 16], span_id: [1; 8], is_sampled };
        let (yes, no) = (parent(true), parent(false));
        let follows = Sampler::parse("parentbased_always_off", None).unwrap();
        assert_eq!((recorded(follows, Some(&yes)), recorded(follows, Some(&no))), (10_000, 0));
        let ignores = Sampler::parse("always_on", None).unwrap();
        assert_eq!(recorded(ignores, Some(&no)), 10_000);
        assert_eq!(Sampler::ALWAYS, Sampler::parse("parentbased_always_on", None).unwrap());
    }

    #[test]
    fn other_names_and_shares_are_refused_with_what_is_allowed() {
        assert!(Sampler::parse("jaeger_remote", None).unwrap_err().contains("always_on"));
        for share in ["2", "-1", "1.1", "x", ".", "0,5", ""] {
            assert!(Sampler::parse("traceidratio", Some(share)).is_err(), "{share}");
        }
        assert!(Sampler::parse("traceidratio", Some(".5")).is_ok());
    }
}
