//! Comparisons of all patterns: which there are, and the best known bound for each.

use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::plan::{Plan, RootChoice};

/// Returns every pattern; families with a radix come at a few radices of interest.
///
/// # Examples
///
/// ```
/// use corecast_plan::{Pattern, compare};
///
/// let all = compare::patterns();
/// assert!(all.contains(&Pattern::Smelt) && all.contains(&Pattern::Knomial { radix: 4 }));
/// ```
#[must_use]
pub fn patterns() -> Vec<Pattern> {
    let mut all = Vec::new();
    for name in Pattern::names() {
        match name.split_once(':') {
            None => all.extend(name.parse::<Pattern>()),
            Some(("knomial", _)) => all.extend([3, 4, 8].map(|radix| Pattern::Knomial { radix })),
            Some((family, _)) => {
                let names = [2, 3, 4, 8].map(|radix| format!("{family}:{radix}"));
                all.extend(names.iter().flat_map(|name| name.parse::<Pattern>()));
            }
        }
    }
    all
}

/// Raises the bound of every tree to the highest one that was proved for its root.
///
/// A bound on trees with any root also holds for trees with a given root, and a bound on trees with
/// groups also holds for trees without. `costs_of_lines` says whether searches looked at groups, which
/// they do where the cost model has costs of shared lines.
pub fn share_bounds(
    plans: &mut [&mut Plan],
    operation: Operation,
    root: RootChoice,
    costs_of_lines: bool,
) {
    let grouped = costs_of_lines && operation != Operation::Reduce;
    let is_freer =
        |plan: &Plan| (grouped || root == RootChoice::Auto) && plan.pattern.is_searched();
    let (mut of_all, mut of_fixed) = (0.0_f64, 0.0_f64);
    for plan in plans.iter().filter(|plan| plan.rounds().is_none()) {
        match is_freer(plan) {
            true => of_all = of_all.max(plan.lower_bound),
            false => of_fixed = of_fixed.max(plan.lower_bound),
        }
    }
    for plan in plans {
        if plan.rounds().is_none() {
            let bound = match is_freer(plan) {
                true => of_all,
                false => of_fixed.max(of_all),
            };
            **plan = plan.clone().with_lower_bound(bound);
        }
    }
}
