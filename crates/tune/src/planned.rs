//! The search space of a planned team: what it runs untuned, and the plans that may be better.

use corecast::Planned;
use corecast::choose::{Candidate, Choice};
use corecast_collectives::BarrierPlan;
use corecast_plan::{Operation, Pattern, Shape};
use corecast_wire::WaitConfig;

use crate::search_space::{Other, Rival, SearchSpace};

/// Number of plans of an operation that race besides the team's own.
const RIVALS: usize = 3;

/// Patterns that race where ranks share hardware threads. No model knows well what a switch of context costs, so
/// these range from few rounds to few messages.
const OVERSUBSCRIBED: [Pattern; 4] = [
    Pattern::Sequential,
    Pattern::Binary,
    Pattern::Binomial,
    Pattern::Dissemination { radix: 2 },
];

/// The search space of a team that was planned; `known` tells whether the model's times are of this machine.
#[must_use]
pub fn search_space(planned: &Planned, known: bool) -> SearchSpace {
    let sharing = planned.options.sharing(planned.plans.len());
    let oversubscribed = sharing > 1;
    let [broadcast, reduce, barrier] = &planned.choices;
    let predicted = |candidate: &Candidate| (known && !oversubscribed).then_some(candidate.latency);
    let own = |choice: &Choice| {
        let chosen = choice.chosen();
        (chosen.pattern.to_string(), predicted(chosen))
    };
    let mut rivals = Vec::new();
    for choice in [barrier, broadcast, reduce] {
        // All trees of two ranks are alike but for the root.
        if planned.plans.len() == 2 && choice.operation != Operation::Barrier {
            continue;
        }
        let others = choice.runners_up();
        let likely = others.iter().take(RIVALS);
        let crowd = others.iter().skip(RIVALS);
        let crowd = crowd.filter(|other| oversubscribed && OVERSUBSCRIBED.contains(&other.pattern));
        for other in likely.chain(crowd) {
            let plan = match (choice.operation, &other.shape) {
                (Operation::Barrier, shape) => BarrierPlan::of_shape(shape).map(Other::Barrier),
                (Operation::Broadcast, Shape::Tree(tree)) => Some(Other::Broadcast(tree.clone())),
                (Operation::Reduce, Shape::Tree(tree)) => Some(Other::Reduce(tree.clone())),
                _ => None,
            };
            rivals.extend(plan.map(|plan| Rival {
                name: other.pattern.to_string(),
                predicted_ns: predicted(other),
                plan,
            }));
        }
    }
    let (barrier, barrier_ns) = own(barrier);
    let wait_config = planned.options.wait_config.unwrap_or(WaitConfig::BALANCED);
    SearchSpace {
        plans: planned.plans.clone(),
        algorithms: planned.options.algorithms.unasked(),
        sharing,
        processes: false,
        barrier,
        barrier_ns,
        tree: [own(broadcast), own(reduce)],
        rivals,
        waits: planned.waits.to_owned(),
        wait_configs: SearchSpace::wait_configs(wait_config),
        transfer_paths: false,
    }
}
