//! A simulated team, as its choices of algorithms see it.

use corecast_collectives::preferences::TeamOutline;
use corecast_collectives::{Algorithms, Collective, Plans};

/// The team of these plans on a simulated machine: threads with a core each, whose published messages have no body.
pub(super) fn outline(plans: &Plans) -> TeamOutline<'_> {
    TeamOutline {
        long_posts: false,
        ..TeamOutline::new(plans)
    }
}

/// What a team of these plans chooses on a simulated machine where nobody asks for an algorithm and a block has `bytes`.
///
/// It is the choice of a team of threads with a core each, with one exception: long broadcasts between two ranks, which
/// go in published messages with a body on hardware, are lent, because a published message has one line on a simulated machine.
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
