//! Layer 2: how operations go between hosts, as one process of a group says it for all.

use bytemuck::{Pod, Zeroable};
use corecast::Pattern;
use corecast::debug::{Level, say};
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

/// The trees and the segments, in words that are sent to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Between {
    /// The number in [`PATTERNS`].
    trees: u64,
    /// 0 for whole data, 1 for segments of a length, 2 for halves of a length at least.
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
            let found = PATTERNS.iter().position(|(name, _)| *name == text);
            found.unwrap_or_else(|| {
                refused(TREES, &text, "binomial, flat or planned");
                0
            })
        });
        let built_in = ClusterOptions::default().segments;
        let segments = variable(SEGMENTS).map_or(built_in, |text| {
            segments(&text).unwrap_or_else(|| {
                let known = "whole, a length such as 32K, or halves with the least length such as halves:8K";
                refused(SEGMENTS, &text, known);
                built_in
            })
        });
        let (kind, bytes) = match segments {
            PipelineSegments::Whole => (0, 0),
            PipelineSegments::Fixed(bytes) => (1, bytes as u64),
            PipelineSegments::Dynamic(bytes) => (2, bytes as u64),
        };
        Self {
            trees: trees as u64,
            kind,
            bytes,
        }
    }

    /// The options of a team over several hosts.
    pub(crate) fn options(self) -> ClusterOptions {
        let bytes = self.bytes.max(1) as usize;
        ClusterOptions {
            pattern: self.trees().1,
            segments: match self.kind {
                0 => PipelineSegments::Whole,
                1 => PipelineSegments::Fixed(bytes),
                _ => PipelineSegments::Dynamic(bytes),
            },
            ..ClusterOptions::default()
        }
    }

    /// What users call the trees.
    pub(crate) fn name(self) -> &'static str {
        self.trees().0
    }

    fn trees(self) -> (&'static str, Pattern) {
        PATTERNS[(self.trees as usize).min(PATTERNS.len() - 1)]
    }
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
    let (number, unit) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1 << 10),
        None => text
            .strip_suffix(['m', 'M'])
            .map_or((text, 1), |number| (number, 1 << 20)),
    };
    let number: usize = number.parse().ok()?;
    number.checked_mul(unit).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_options_and_others_are_ignored() {
        let of = |trees: &str, segments: &str| {
            let words = [(TREES, trees.to_owned()), (SEGMENTS, segments.to_owned())];
            let between = Between::of(|name| {
                let found = words
                    .iter()
                    .find(|(known, text)| *known == name && !text.is_empty());
                found.map(|(_, text)| text.clone())
            });
            let options = between.options();
            (between.name(), options.pattern, options.segments)
        };
        let built_in = ClusterOptions::default();
        assert_eq!(
            of("", ""),
            ("binomial", built_in.pattern, built_in.segments)
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
}
