//! Nobody is informed before the cheapest way in allows.

use corecast_model::CostModel;

use crate::reach::farthest;

/// The greatest distance from the root, over edges of send + receive.
pub(super) fn bound(costs: &CostModel, root: usize) -> f64 {
    let step = |v, u| costs.send(v, u) + costs.receive(v, u);
    farthest(costs.n(), root, step)
}
