//! What a deep measurement of a machine found: latencies by state, level and place, the parameters of CLa's
//! model, and what waiting costs. An optional section of the machine file with a version of its own.
//!
//! ```json
//! "deep": { "schema": 1, "when": "…", "tool": "…",
//!   "clock": { "counter": "rdtsc", "steady": true, "ticks_per_ns": 2.6, … },
//!   "latencies": [ { "access": "read", "state": "modified", "level": "L1", "near": "same L3 cache",
//!                    "by": 0, "of": 1, "value": 61.2, "half_width": 0.4, "samples": 64 } ],
//!   "parameters": { "R_L": { … } }, "curves": [ … ], "readers": [ … ], "quantities": [ … ],
//!   "left": [], "notes": [] }
//! ```
//!
//! Times are nanoseconds whatever the unit of the file's costs; half widths are those of 95 % intervals.
//! Parts that were asked for and are not yet measured are in `left`, so that an interrupted measurement can
//! go on.

mod check;
mod words;

pub use words::{Access, CurveKind, Level, Near, State};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the section that is written.
pub const SCHEMA: u64 = 1;

/// The name of the quantity "one yield while no other thread wants the CPU".
pub const YIELD: &str = "sched_yield";

/// The name of the quantity "waking a sleeper", from the waker's call until the sleeper runs.
pub const WAKE: &str = "futex wake, until the sleeper runs";

/// The name of the quantity "a wait in the CPU whose deadline has come": arming, one look, and the way in and out.
pub const SHORTEST_HARDWARE_WAIT: &str = "shortest wait in the CPU";

/// The name of the quantity "ending a wait in the CPU", from before the store until the thread that waits runs.
pub const HARDWARE_SEEN: &str = "wait in the CPU, until the waiter runs";

/// The name of the quantity "ending a poll", from before the store until the thread that polls runs.
pub const POLLED: &str = "polling, until the poller runs";

/// A number with its uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The median, or the fitted value.
    pub value: f64,
    /// Half width of its 95 % interval.
    pub half_width: f64,
    /// Samples behind it.
    pub samples: u64,
}

/// The time that one thread takes to read a line in a known state, or to write it until all threads see
/// that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The access that was timed.
    pub access: Access,
    /// The state that the line was in.
    pub state: State,
    /// The cache of `of` that the line was driven to, or memory.
    pub level: Level,
    /// The proximity of `of` and `by`.
    pub near: Near,
    /// Operating-system number of the hardware thread that was timed.
    pub by: u32,
    /// Operating-system number of the hardware thread in whose caches the line was, or on whose NUMA node.
    pub of: u32,
    /// The time for one line, in nanoseconds.
    #[serde(flatten)]
    pub ns: Figure,
}

/// One measured point of a [`Curve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The number of readers, pairs or lines.
    pub x: u32,
    /// The time at `x`, in nanoseconds.
    #[serde(flatten)]
    pub ns: Figure,
}

/// `base + slope·x − inverse/x` through the points of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The constant part, in nanoseconds: b or q of CLa.
    pub base: Figure,
    /// The time for each reader, pair or line, in nanoseconds: c or o of CLa.
    pub slope: Figure,
    /// The coefficient of `−1/x`: a or p of CLa, where the points need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inverse: Option<Figure>,
    /// The largest distance of a point from the curve, as a part of the point.
    pub misfit: f64,
}

impl Fit {
    /// Returns the fitted time at `x`, in nanoseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_model::deep::{Figure, Fit};
    ///
    /// let of = |value| Figure { value, ..Figure::default() };
    /// let fit = Fit { base: of(10.0), slope: of(2.0), inverse: Some(of(6.0)), misfit: 0.0 };
    /// assert_eq!(fit.at(3.0), 14.0);
    /// ```
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        let inverse = self.inverse.map_or(0.0, |inverse| inverse.value);
        self.base.value + self.slope.value * x - inverse / x
    }
}

/// Times over a number of readers, pairs or lines, and the model fitted to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The quantity that grows along `x`.
    pub kind: CurveKind,
    /// The state that the lines were in.
    pub state: State,
    /// The proximity of the farthest owner of the lines.
    pub near: Near,
    /// Measured points, by increasing `x`.
    pub points: Vec<Point>,
    /// The fitted model, where there are points enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// How soon one of several threads that poll a line sees a change of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reader {
    /// Operating-system number of the reader.
    pub by: u32,
    /// Operating-system number of the writer.
    pub of: u32,
    /// The proximity of reader and writer.
    pub near: Near,
    /// The share of the rounds in which it was first.
    pub first: f64,
    /// Its mean place among the readers, where the first has 1.
    pub place: f64,
    /// The time from before the store until it has seen the value, in nanoseconds.
    pub ns: Figure,
}

/// A single figure with a name and a unit of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// The name, such as `"pause"`.
    pub name: String,
    /// The unit: `"ns"`, `"GB/s"` or `"stores"`.
    pub unit: String,
    /// The figure.
    pub figure: Figure,
}

/// The clock of a measurement, and how steady the machine was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// The counter that was read: `"rdtsc"`, `"cntvct_el0"` or `"clock"`.
    pub counter: String,
    /// Whether the counter ticks at one rate whatever the frequency of the cores.
    pub steady: bool,
    /// Ticks in a nanosecond, measured against the system's clock.
    pub ticks_per_ns: f64,
    /// Spread of a core's own speed over the measurement: (slowest − fastest) / fastest of a fixed chain of
    /// instructions.
    pub drift: f64,
    /// The share of the measured processors' time that the host took away.
    pub steal: f64,
    /// Whether lines lay in huge pages.
    pub huge_pages: bool,
}

/// Everything that a deep measurement found; see the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deep {
    /// The version, [`SCHEMA`].
    pub schema: u64,
    /// Date and time at which the last part ended.
    pub when: String,
    /// Name and version of the measuring program.
    pub tool: String,
    /// Seconds that all parts took together.
    pub seconds: f64,
    /// Clock and circumstances.
    pub clock: Clock,
    /// Latencies of single lines.
    #[serde(default)]
    pub latencies: Vec<Latency>,
    /// CLa's parameters of single lines by name, in nanoseconds: `R_L`, `R_R`, `R_Q`, `R_I`, `R_QI`.
    #[serde(default)]
    pub parameters: BTreeMap<String, Figure>,
    /// Curves of contention, of congestion, and of transfers of several lines.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// The order in which readers see a change of a line.
    #[serde(default)]
    pub readers: Vec<Reader>,
    /// Costs of instructions and calls, and rates of copies.
    #[serde(default)]
    pub quantities: Vec<Quantity>,
    /// Names of the parts that were asked for and are not yet measured.
    #[serde(default)]
    pub left: Vec<String>,
    /// Notes for the user on the measurement, one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Deep {
    /// Returns the quantity of this name.
    #[must_use]
    pub fn quantity(&self, name: &str) -> Option<&Quantity> {
        self.quantities
            .iter()
            .find(|quantity| quantity.name == name)
    }
}

#[cfg(test)]
mod tests;
