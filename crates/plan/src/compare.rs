//! All patterns beside each other: which ones, and what each one's bound is.

use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::plan::{Plan, RootChoice};

/// Every pattern, families with a radix at some radices of interest.
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

/// Gives every tree the highest bound that was proved for its root.
///
/// What no tree with any root beats, no tree with a given one does either; and what no tree with groups
/// beats, no other one does. `costs_of_lines` says whether searches looked at groups, which they do where
/// the costs say what a shared line costs.
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
