//! Comparisons of all patterns: which there are, and the best known bound for each.

use crate::pattern::Pattern;
use crate::patterns::{LevelShape, LevelShapes};
use crate::plan::{Plan, Scope};

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
            // For machines of several hosts, see `level_patterns`.
            _ if name.starts_with("levels") => {}
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

/// Returns the patterns of three levels, which are for machines of several hosts.
///
/// # Examples
///
/// ```
/// use corecast_plan::compare;
///
/// let names = compare::level_patterns().map(|pattern| pattern.to_string());
/// assert_eq!(names[..2], ["levels", "levels:binomial/binomial/flat"]);
/// ```
#[must_use]
pub fn level_patterns() -> [Pattern; 3] {
    let planned = LevelShapes {
        cluster: LevelShape::Binomial,
        node: LevelShape::Planned,
        region: LevelShape::Planned,
    };
    [LevelShapes::BINOMIAL, LevelShapes::FLAT_INSIDE, planned].map(Pattern::Levels)
}

/// Raises the bound of every plan to the highest one that was proved for its [`Plan::scope`].
///
/// All are plans of one operation for one cost model. A bound on trees with any root also holds for
/// trees with a given root.
pub fn share_bounds(plans: &mut [&mut Plan]) {
    let known: Vec<(Scope, f64)> = plans.iter().map(|p| (p.scope, p.lower_bound)).collect();
    for plan in plans {
        let holds = |scope: &Scope| {
            let is_any_root = scope.root.is_none() || scope.root == plan.scope.root;
            scope.space == plan.scope.space && is_any_root
        };
        let known = known.iter().filter(|(scope, _)| holds(scope));
        let bound = known.map(|&(_, bound)| bound).fold(0.0, f64::max);
        **plan = plan.clone().with_lower_bound(bound);
    }
}
