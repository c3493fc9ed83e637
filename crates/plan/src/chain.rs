//! The critical chain: the busy times of which the latency is made.

use crate::cost::{Busy, BusyKind, Timeline};

/// One busy time of one member, given by its place in [`Timeline::busy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The member.
    pub rank: usize,
    /// The index of the busy time in the member's list.
    pub at: usize,
}

/// Returns the busy times that follow one another without a break from 0 to the latency, in order.
///
/// The chain is followed back in time from the receive that ends last. A receive begins when its line
/// is ready or when its member is free. A send begins when its member is free, or, where several
/// members add to one line ([`crate::groups`]), when the member before has added. Only a change of
/// the chain can lower the latency. Where several receives end last, that of the lowest rank is
/// taken. A single member has an empty chain.
///
/// # Cost
///
/// Linear in the busy times of the members on the chain, times the length of the chain at most.
///
/// # Examples
///
/// ```
/// use corecast_plan::chain::critical_chain;
/// use corecast_plan::{Operation, Tree, cost};
///
/// let machine = corecast_model::synthetic("core:3 send=10 receive=30").unwrap();
/// let star = Tree::from_children(0, vec![vec![1, 2], vec![], vec![]]).unwrap();
/// let timeline = cost::timeline(machine.costs(), &star, Operation::Broadcast);
/// let chain: Vec<_> = critical_chain(&timeline).iter().map(|m| (m.rank, m.at)).collect();
/// // Rank 0 sends to 1, then to 2; rank 2 receives.
/// assert_eq!(chain, [(0, 0), (0, 1), (2, 0)]);
/// ```
#[must_use]
pub fn critical_chain(timeline: &Timeline) -> Vec<Moment> {
    let mut chain = Vec::new();
    let mut next = last(timeline);
    while let Some(moment) = next {
        chain.push(moment);
        next = before(timeline, moment);
    }
    chain.reverse();
    chain
}

/// Returns the receive that ends last.
fn last(timeline: &Timeline) -> Option<Moment> {
    let mut found: Option<(f64, Moment)> = None;
    for (rank, busy) in timeline.busy.iter().enumerate() {
        for (at, time) in busy.iter().enumerate() {
            let later = found.is_none_or(|(end, _)| time.end > end);
            if time.kind == BusyKind::Receive && later {
                found = Some((time.end, Moment { rank, at }));
            }
        }
    }
    found.map(|(_, moment)| moment)
}

/// Returns the busy time at whose end this one began; `None` for the first of a chain.
fn before(timeline: &Timeline, Moment { rank, at }: Moment) -> Option<Moment> {
    let time = timeline.busy[rank][at];
    if time.kind == BusyKind::Receive
        && let Some(sent) = sent(timeline, rank, time.peer, time.start)
        && timeline.busy[sent.rank][sent.at].end == time.start
    {
        return Some(sent);
    }
    let earlier = at.checked_sub(1).map(|at| Moment { rank, at });
    if time.kind == BusyKind::Send && time.start > 0.0 {
        let free = earlier.map(|m| timeline.busy[m.rank][m.at].end);
        if free != Some(time.start) {
            return added(timeline, time.peer, time.start).or(earlier);
        }
    }
    earlier
}

/// Returns the send to `peer` that ends at time `end`.
fn added(timeline: &Timeline, peer: usize, end: f64) -> Option<Moment> {
    (0..timeline.busy.len()).find_map(|rank| {
        let ends = |time: &Busy| {
            time.kind == BusyKind::Send && time.peer == peer && time.end == end && time.start < end
        };
        let at = timeline.busy[rank].iter().position(ends)?;
        Some(Moment { rank, at })
    })
}

/// Returns the last message from `peer` to `rank` whose send ends by the time `by`, or the line for
/// several members whose write ends at that time.
#[must_use]
pub fn sent(timeline: &Timeline, rank: usize, peer: usize, by: f64) -> Option<Moment> {
    let busy = &timeline.busy[peer];
    let sends = |time: &Busy| time.kind == BusyKind::Send;
    let to_us = |time: &Busy| sends(time) && time.peer == rank && time.end <= by;
    let at = busy.iter().rposition(to_us);
    let line = busy.iter().rposition(|time| sends(time) && time.end == by);
    let at = match at {
        Some(at) if busy[at].end == by => at,
        // A write that takes no time could be a later one that ends at the same time.
        Some(at) => line.filter(|&k| busy[k].start < by).unwrap_or(at),
        None => line?,
    };
    Some(Moment { rank: peer, at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Operation, Pattern, cost};

    #[test]
    fn the_critical_chain_has_no_break() {
        for spec in [
            "core:1",
            "core:2 send=0 receive=0",
            "package:3 core:4 pu:2",
            "package:2 core:8 send=90,200 receive=20,300",
        ] {
            let costs = corecast_model::synthetic(spec).unwrap().costs().clone();
            let mut timelines: Vec<Timeline> = Vec::new();
            for pattern in [Pattern::Smelt, Pattern::Binomial, Pattern::Chain] {
                let tree = pattern.tree(&costs, 0).unwrap();
                let all = Operation::ALL.map(|op| cost::timeline(&costs, &tree, op));
                timelines.extend(all);
            }
            let fan_in = Pattern::Chain.tree(&costs, 0).unwrap();
            let fan_out = Pattern::Sequential.tree(&costs, 0).unwrap();
            timelines.push(cost::two_trees_timeline(&costs, &fan_in, &fan_out));
            for timeline in timelines {
                let chain = critical_chain(&timeline);
                let times: Vec<_> = chain.iter().map(|m| timeline.busy[m.rank][m.at]).collect();
                assert_eq!(times.first().map_or(0.0, |t| t.start), 0.0, "{spec}");
                let end = times.last().map_or(0.0, |t| t.end);
                assert_eq!(end, timeline.latency, "{spec}");
                assert!(times.windows(2).all(|w| w[0].end == w[1].start), "{spec}");
            }
        }
    }
}
