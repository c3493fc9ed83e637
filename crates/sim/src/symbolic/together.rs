//! Finds the transfers that happen at the same time and congest a link between packages (§2.4).
//!
//! Transfers congest a link where they have different start and end points, and where the paths before
//! them cost about the same: here, in the best case they begin less than `R_R` apart, a transfer in a
//! package. They are as many as there are different starts, or different ends if those are fewer.

use super::graph::FoundAt;
use super::least::ActTimes;
use super::price::Priced;
use std::collections::BTreeSet;

/// A transfer between packages.
struct Crossing {
    /// The act that fetches.
    act: usize,
    /// The line that is fetched, and the rank that fetches it.
    from: usize,
    to: usize,
    begin: f64,
}

/// The transfers that happen at the same time as each act.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Together {
    /// How many transfers take the same link, by the act that fetches.
    crossings: Vec<usize>,
    /// The cost of one line on a congested link, by the act that wrote the line.
    congested: Vec<Option<f64>>,
}

impl Together {
    /// How many transfers take the same link as that of this act, itself included; at least 1.
    pub(super) fn of(&self, act: usize) -> usize {
        self.crossings[act].max(1)
    }

    /// The cost of the line that this act writes, if its transfer is on a congested link.
    pub(super) fn transfer(&self, act: usize) -> Option<f64> {
        self.congested[act]
    }
}

impl Priced<'_> {
    /// Finds the transfers that coincide in the best case.
    pub(super) fn together(&self, times: &ActTimes) -> Together {
        let acts = &self.graph.acts;
        let mut together = Together {
            crossings: vec![0; acts.len()],
            congested: vec![None; acts.len()],
        };
        if !self.rules.congestion {
            return together;
        }
        let crossings = self.crossings(times);
        for one in &crossings {
            let near = self.placement.near();
            let same = |other: &&Crossing| (other.begin - one.begin).abs() < near;
            let all = crossings.iter().filter(same);
            let (from, to): (BTreeSet<_>, BTreeSet<_>) =
                all.map(|other| (other.from, other.to)).unzip();
            let count = from.len().min(to.len());
            together.crossings[one.act] = count;
            if count < 2 {
                continue;
            }
            let cost = self.placement.costs().lines[3].time(count, 1);
            for &of in &acts[one.act].after {
                let worst = together.congested[of].map_or(cost, |other| other.max(cost));
                together.congested[of] = Some(worst);
            }
        }
        together
    }

    fn crossings(&self, times: &ActTimes) -> Vec<Crossing> {
        let crossing = |(index, act): (usize, &super::graph::Act)| {
            let touch = act.load?;
            let FoundAt::With(other) = touch.found else {
                return None;
            };
            self.placement.crosses(other, act.rank).then(|| Crossing {
                act: index,
                from: touch.line,
                to: act.rank,
                begin: times.start[index],
            })
        };
        let acts = self.graph.acts.iter().enumerate();
        acts.filter_map(crossing).collect()
    }
}
