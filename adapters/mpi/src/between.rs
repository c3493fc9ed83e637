//! Layer 2: how operations go between hosts, as one process of a group says it for all.

use bytemuck::{Pod, Zeroable};
use corecast::Pattern;
use corecast::algorithms::parse_bytes;
use corecast::debug::{Level, say};
use corecast::model::cluster::Network;
use corecast_cluster::{ClusterOptions, PipelineSegments};
use std::sync::OnceLock;

/// The variable that names the trees between hosts.
const TREES: &str = "CORECAST_MPI_TREES";

/// The variable that says in which segments long data go.
const SEGMENTS: &str = "CORECAST_MPI_SEGMENTS";

/// Patterns of trees between hosts, by what users call them.
const PATTERNS: [(&str, Pattern); 3] = [
    ("binomial", Pattern::Binomial),
    ("flat", Pattern::Sequential),
    ("planned", Pattern::Smelt),
];

/// What was asked for of trees and segments, in words that are sent to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Between {
    /// The number in [`PATTERNS`], plus one; 0 if none was asked for.
    trees: u64,
    /// 0 if nothing was asked for, 1 for whole data, 2 for segments of a length, 3 for halves of a length at least.
    kind: u64,
    bytes: u64,
}

impl Between {
    /// What the environment of this process says. It is read once, so what is ignored in it is told once.
    pub(crate) fn here() -> Self {
        static HERE: OnceLock<Between> = OnceLock::new();
        *HERE.get_or_init(|| Self::of(|name| std::env::var(name).ok()))
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let refused = |name: &str, text: &str, known: &str| {
            say(Level::Warn, || {
                format!("MPI: {name}={text} is ignored: it is {known}")
            });
        };
        let trees = variable(TREES).map_or(0, |text| {
            match PATTERNS.iter().position(|(name, _)| *name == text) {
                Some(at) => at as u64 + 1,
                None => {
                    refused(TREES, &text, "binomial, flat or planned");
                    0
                }
            }
        });
        let asked = variable(SEGMENTS).and_then(|text| {
            let found = segments(&text);
            if found.is_none() {
                let known = "whole, a length such as 32K, or halves with the least length such as halves:8K";
                refused(SEGMENTS, &text, known);
            }
            found
        });
        let (kind, bytes) = match asked {
            None => (0, 0),
            Some(PipelineSegments::Whole) => (1, 0),
            Some(PipelineSegments::Fixed(bytes)) => (2, bytes as u64),
            Some(PipelineSegments::Dynamic(bytes)) => (3, bytes as u64),
        };
        Self { trees, kind, bytes }
    }

    /// The options of a team over `hosts`. What was not asked for is chosen by the costs of messages if these are known, and else
    /// by the literature.
    pub(crate) fn options(self, hosts: usize, known: Option<Network>) -> ClusterOptions {
        let bytes = self.bytes.max(1) as usize;
        let built_in = ClusterOptions::default();
        let asked = (self.trees as usize).checked_sub(1);
        let pattern = match (asked.and_then(|at| PATTERNS.get(at)), &known) {
            (Some((_, pattern)), _) => *pattern,
            (None, Some(network)) => corecast_cluster::pattern(hosts, network),
            (None, None) => built_in.pattern,
        };
        ClusterOptions {
            network: known.unwrap_or(built_in.network),
            pattern,
            segments: match self.kind {
                0 if known.is_some() => None,
                0 => built_in.segments,
                1 => Some(PipelineSegments::Whole),
                2 => Some(PipelineSegments::Fixed(bytes)),
                _ => Some(PipelineSegments::Dynamic(bytes)),
            },
        }
    }
}

/// What users call trees of a pattern.
pub(crate) fn name(pattern: Pattern) -> &'static str {
    let found = PATTERNS.iter().find(|(_, known)| *known == pattern);
    found.map_or("other", |(name, _)| name)
}

/// Segments by their words.
fn segments(text: &str) -> Option<PipelineSegments> {
    if text == "whole" {
        return Some(PipelineSegments::Whole);
    }
    match text.strip_prefix("halves:") {
        Some(least) => bytes(least).map(PipelineSegments::Dynamic),
        None => bytes(text).map(PipelineSegments::Fixed),
    }
}

/// A length such as `512`, `32K` or `1M`; not 0.
fn bytes(text: &str) -> Option<usize> {
    parse_bytes(text).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(trees: &str, segments: &str) -> Between {
        let words = [(TREES, trees.to_owned()), (SEGMENTS, segments.to_owned())];
        Between::of(|name| {
            let found = words
                .iter()
                .find(|(known, text)| *known == name && !text.is_empty());
            found.map(|(_, text)| text.clone())
        })
    }

    #[test]
    fn words_are_options_and_others_are_ignored() {
        let of = |trees: &str, segments: &str| {
            let options = between(trees, segments).options(4, None);
            (
                name(options.pattern),
                options.pattern,
                options.segments.unwrap(),
            )
        };
        let built_in = ClusterOptions::default();
        assert_eq!(
            of("", ""),
            ("binomial", built_in.pattern, built_in.segments.unwrap())
        );
        assert_eq!(
            of("flat", "whole"),
            ("flat", Pattern::Sequential, PipelineSegments::Whole)
        );
        assert_eq!(
            of("planned", "64K"),
            ("planned", Pattern::Smelt, PipelineSegments::Fixed(65536))
        );
        assert_eq!(of("x", "halves:8k").2, PipelineSegments::Dynamic(8192));
        for wrong in ["0", "-1", "K", "halves:", "99999999999999999999M", "8 K"] {
            assert_eq!(of("x", wrong), of("", ""), "{wrong}");
        }
    }

    /// Two networks that are far from each other, and words that come before what either would choose.
    #[test]
    fn known_costs_choose_what_was_not_asked_for() {
        let far = Network {
            latency_ns: 1e6,
            overhead_ns: 100.0,
            gap_ns: 0.0,
            byte_ns: 0.01,
        };
        let near = Network {
            latency_ns: 0.0,
            overhead_ns: 5e3,
            gap_ns: 1e4,
            byte_ns: 1.0,
        };
        let none = between("", "");
        let (of_far, of_near) = (none.options(8, Some(far)), none.options(8, Some(near)));
        assert_eq!(
            (name(of_far.pattern), name(of_near.pattern)),
            ("flat", "binomial")
        );
        assert_eq!((of_far.segments, of_near.segments), (None, None));
        assert!(of_far.network.half_bytes() > 1000 * of_near.network.half_bytes());
        let asked = between("binomial", "whole").options(8, Some(far));
        assert_eq!(asked.pattern, Pattern::Binomial);
        assert_eq!(asked.segments, Some(PipelineSegments::Whole));
    }
}
