//! The bound by growth: informed members multiply no faster than in the postal model.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::idle::Idle;
use crate::pace::Pace;

/// Returns the bound. Let every message take the least send s and the least receive r of all. Then
/// the k-th message (by start) starts no earlier than a time u_k that depends on s, r and k alone
/// (Karp et al., *Optimal broadcast and summation in the LogP model*). A message to member j takes
/// at least w_j = min_i send(i, j) + receive(i, j) from its start. Every pairing of messages with
/// receivers reaches at least the greatest `u_k + w_j` of the pairing that gives the early messages
/// to the members with the greatest w: swapping any two of another pairing does not raise its
/// maximum.
///
/// Without a root, the member with the greatest w is left out: this gives the least bound, which
/// therefore holds for every root.
pub(super) fn bound(
    costs: &CostModel,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    let n = costs.n();
    let mut least_send = f64::INFINITY;
    let mut least_receive = f64::INFINITY;
    let mut way_in = vec![f64::INFINITY; n];
    for i in 0..n {
        pace.spend(2 * n as u64)?;
        // Row by row: in a large matrix a walk down a column is all cache misses.
        let (send, receive) = (costs.send_matrix().row(i), costs.receive_matrix().row(i));
        for j in (0..n).filter(|&j| j != i && Some(j) != root) {
            least_send = least_send.min(send[j]);
            least_receive = least_receive.min(receive[j]);
            way_in[j] = way_in[j].min(send[j] + receive[j]);
        }
    }
    if let Some(root) = root {
        way_in[root] = f64::INFINITY;
    }
    way_in.sort_by(|a, b| b.total_cmp(a));
    let starts = starts(n - 1, least_send, least_receive).into_iter();
    let ends = starts.zip(way_in.into_iter().skip(1)).map(|(u, w)| u + w);
    ControlFlow::Continue(ends.fold(0.0, f64::max))
}

/// The earliest starts of `count` messages under uniform costs.
fn starts(count: usize, send: f64, receive: f64) -> Vec<f64> {
    // The times at which informed members are ready to start their next message.
    let mut ready = Idle::only(0);
    (0..count)
        .map_while(|_| {
            let (start, _) = ready.take()?;
            // All members are alike, so that their number does not matter.
            ready.add(start + send, 0);
            ready.add(start + send + receive, 0);
            Some(start)
        })
        .collect()
}
