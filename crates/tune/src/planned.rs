//! What a planned team runs untuned, and the plans that may be better.

use corecast::Planned;
use corecast::choose::{Candidate, Choice};
use corecast_coll::BarrierPlan;
use corecast_plan::{Operation, Pattern, Shape};
use corecast_wire::Policy;

use crate::menu::{Menu, Other, Rival};

/// Plans of an operation that race besides the team's own.
const RIVALS: usize = 3;

/// Raced where ranks share hardware threads, as no model knows well what a switch of context costs: few rounds,
/// few messages, and two shapes between.
const CROWDED: [Pattern; 4] = [
    Pattern::Sequential,
    Pattern::Binary,
    Pattern::Binomial,
    Pattern::Dissemination { radix: 2 },
];

/// The menu of a team that was planned; `known` if the model's times are of this machine.
#[must_use]
pub fn menu(planned: &Planned, crowded: bool, known: bool) -> Menu {
    let [broadcast, reduce, barrier] = &planned.choices;
    let predicted = |candidate: &Candidate| (known && !crowded).then_some(candidate.latency);
    let own = |choice: &Choice| {
        let chosen = choice.chosen();
        (chosen.pattern.to_string(), predicted(chosen))
    };
    let mut rivals = Vec::new();
    for choice in [barrier, broadcast, reduce] {
        // The rank that a reduction of two ends at makes no other tree of it.
        if planned.plans.len() == 2 && choice.operation != Operation::Barrier {
            continue;
        }
        let others = choice.runners_up();
        let likely = others.iter().take(RIVALS);
        let crowd = others.iter().skip(RIVALS);
        let crowd = crowd.filter(|other| crowded && CROWDED.contains(&other.pattern));
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
    let policy = planned.options.policy.unwrap_or(Policy::BALANCED);
    Menu {
        plans: planned.plans.clone(),
        algorithms: corecast_coll::Algorithms::default(),
        crowded,
        processes: false,
        barrier,
        barrier_ns,
        tree: [own(broadcast), own(reduce)],
        rivals,
        waits: planned.waits.to_owned(),
        policies: Menu::policies(policy),
    }
}
