//! The traits of a simulated team by which it chooses algorithms.

use corecast_collectives::preferences::TeamOutline;
use corecast_collectives::{Algorithms, Collective, Plans};

/// The team of these plans on a simulated machine: threads with a core each, whose published messages have no body.
pub(super) fn outline(plans: &Plans) -> TeamOutline<'_> {
    TeamOutline {
        long_posts: false,
        ..TeamOutline::new(plans)
    }
}

/// The name of the algorithm that a team of these plans chooses on a simulated machine if none is requested, for
/// blocks of `bytes`.
///
/// It is the choice of a team of threads with a core each, except that long broadcasts between two ranks, which go in
/// published messages with a body on hardware, are lent, because a published message has one line on a simulated
/// machine.
///
/// # Examples
///
/// ```
/// use corecast_collectives::Plans;
/// use corecast_sim::drive::{Collective, usual};
///
/// let plans = Plans::of_tree(&corecast_plan::patterns::knomial(2, 0, 2));
/// assert_eq!(usual(Collective::Broadcast, &plans, 8), "messages");
/// assert_eq!(usual(Collective::Broadcast, &plans, 64 << 10), "whole");
/// ```
pub fn usual(collective: Collective, plans: &Plans, bytes: usize) -> &'static str {
    let chosen = outline(plans).chooses(&Algorithms::default(), collective.name(), bytes);
    chosen
        .expect("a collective that has algorithms")
        .algorithm()
}
