//! A lower bound in one pass over the costs.
//!
//! Two of the bounds of [`crate::bound`], as far as one pass gives them:
//!
//! - **reach**: a member is served by the root, or by somebody else, who was not informed before the
//!   root's cheapest message arrived anywhere;
//! - **growth**: the k-th message starts no earlier than in the postal model with the least send and
//!   the least receive of all, and its receiver needs its own cheapest message from then on.

use corecast_model::{CostModel, Matrix};

/// Returns a latency that no broadcast from the root beats, or with `inward` no reduction to it.
pub(super) fn bound(costs: &CostModel, inward: bool, root: usize) -> f64 {
    let n = costs.n();
    let (send, receive) = (costs.send_matrix(), costs.receive_matrix());
    let (ways, least_send, least_receive) = if inward {
        let (s, r) = (least(receive), least(send));
        (ways_in(send, receive, root, true), s, r)
    } else {
        let (s, r) = (least(send), least(receive));
        (ways_in(send, receive, root, false), s, r)
    };
    let first = (0..n).filter(|&j| j != root).map(|j| ways.direct[j]);
    let first = first.fold(f64::INFINITY, f64::min);
    let mut reach = 0.0_f64;
    let mut each = Vec::with_capacity(n);
    for j in (0..n).filter(|&j| j != root) {
        reach = reach.max(ways.direct[j].min(first + ways.others[j]));
        each.push(ways.direct[j].min(ways.others[j]));
    }
    each.sort_unstable_by(|a, b| b.total_cmp(a));
    let starts = starts(each.len(), least_send, least_receive);
    let growth = starts.iter().zip(&each).map(|(start, way)| start + way);
    growth.fold(reach, f64::max)
}

/// Send and receive of the cheapest message to each member.
struct Ways {
    /// The cost of the message from the root.
    direct: Vec<f64>,
    /// The least cost of a message from any other member; infinite where there is none.
    others: Vec<f64>,
}

fn ways_in(send: &Matrix, receive: &Matrix, root: usize, inward: bool) -> Ways {
    let n = send.n();
    let mut direct = vec![0.0; n];
    let mut others = vec![f64::INFINITY; n];
    // The matrix is read row by row in either direction: a walk down a column is all cache misses.
    for i in 0..n {
        let (send, receive) = (send.row(i), receive.row(i));
        let whole = || send.iter().zip(receive).map(|(s, r)| s + r);
        if inward {
            // Row i holds the costs of i's messages to each parent.
            direct[i] = send[root] + receive[root];
            let but = |skip: std::ops::Range<usize>| {
                let ways = send[skip.clone()].iter().zip(&receive[skip]);
                ways.map(|(s, r)| s + r).fold(f64::INFINITY, least_of)
            };
            let (a, b) = (i.min(root), i.max(root));
            let between = if a < b { but(a + 1..b) } else { f64::INFINITY };
            others[i] = but(0..a).min(between).min(but(b + 1..n));
        } else if i == root {
            direct.iter_mut().zip(whole()).for_each(|(d, way)| *d = way);
        } else {
            // The diagonal is 0 and has to be left out.
            let own = others[i];
            let less = |(w, way): (&mut f64, f64)| *w = least_of(*w, way);
            others.iter_mut().zip(whole()).for_each(less);
            others[i] = own;
        }
    }
    Ways { direct, others }
}

/// Returns the least entry off the diagonal.
fn least(matrix: &Matrix) -> f64 {
    let rows = matrix.rows().enumerate();
    rows.fold(f64::INFINITY, |least, (i, row)| {
        let left = row[..i].iter().copied().fold(least, least_of);
        row[i + 1..].iter().copied().fold(left, least_of)
    })
}

/// Returns the lesser of two numbers, neither of which is NaN.
fn least_of(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// Returns the earliest starts of `count` messages under uniform costs. Each message allows its
/// sender and its receiver one more, and both kinds of permission come in the order of the messages.
fn starts(count: usize, send: f64, receive: f64) -> Vec<f64> {
    let mut starts = vec![0.0];
    let (mut sender, mut receiver) = (0, 0);
    while starts.len() < count {
        let again = starts[sender] + send;
        let first = starts[receiver] + send + receive;
        if again <= first {
            starts.push(again);
            sender += 1;
        } else {
            starts.push(first);
            receiver += 1;
        }
    }
    starts
}
