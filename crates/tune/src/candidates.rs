//! The algorithms that race: of those that the team can run, the few with the best predicted times.

use crate::predict::Predict;
use corecast_collectives::preferences::TeamOutline;
use corecast_collectives::registry::{ALL_LINES_RANKS_MAX, Need, SizeKind, Sizes};
use corecast_collectives::{Algorithms, Entry, MESH_RANKS_MAX, Plans, entry};
use corecast_model::Collective;
use serde::Serialize;

/// An algorithm that may race; `None` stands for the built-in choice, which a team runs if none is asked for.
pub type Asked = Option<&'static str>;

/// The name of the built-in choice, which a team runs if no algorithm is asked for.
pub const BUILT_IN: &str = "built-in";

/// The name of an algorithm in tables.
pub fn name(algorithm: Asked) -> &'static str {
    algorithm.unwrap_or(BUILT_IN)
}

/// An algorithm that races.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// The algorithm.
    pub algorithm: Asked,
    /// The predicted time in nanoseconds, where the model has one.
    pub predicted_ns: Option<f64>,
}

/// An algorithm that does not race, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The predicted time in nanoseconds, where the model has one.
    pub predicted_ns: Option<f64>,
    /// Why it does not race.
    pub why: String,
}

/// The algorithms that race for an operation at a size, and those that do not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CandidateSet {
    /// The built-in choice first, then the others by predicted time; those without a prediction come last.
    pub racing: Vec<Proposal>,
    /// The algorithms that do not race.
    pub left_out: Vec<LeftOut>,
}

/// A predicted time beyond this multiple of the best one is not worth a race. The simulated machine was at most 1.5
/// times off where it was compared with measurements, see docs/validation.md, and both predictions can be off.
pub(crate) const HOPELESS: f64 = 4.0;

/// Predictions whose ratio is nearer to 1 than this are of algorithms that send the same messages.
const SAME: f64 = 1e-6;

/// Blocks of more bytes than this count as long. For them the model knows cache lines but not memory, so algorithms
/// with equal predictions may differ by a fifth, and the placement of pages matters as much.
pub const SHORT_BYTES_MAX: usize = 16 << 10;

/// The names of an operation's algorithms.
pub fn algorithms(operation: Collective) -> Vec<&'static str> {
    Algorithms::names(operation.algorithms_of().name()).expect("one of Collective::WITH_ALGORITHMS")
}

/// The names of an algorithm of an operation with the next smaller and the next greater size, as far as there is one that
/// makes a difference for blocks of `bytes` in a team of `ranks`; none for algorithms without sizes. The name of a size
/// that is built in has no size.
///
/// # Examples
///
/// ```
/// use corecast_model::Collective;
/// use corecast_tune::candidates::neighbours;
///
/// let next = |name, bytes| neighbours(Collective::Broadcast, name, bytes, 8);
/// assert_eq!(next("chain", 1 << 20), ["chain:16K", "chain:64K"]);
/// assert_eq!(next("chain:64K", 1 << 20), ["chain", "chain:128K"]);
/// assert_eq!(next("chain", 32 << 10), ["chain:16K"]);
/// assert!(next("messages", 1 << 20).is_empty());
/// // Segments of the parts of all eight ranks together.
/// let of_all = neighbours(Collective::Gather, "fixed:64K", 16 << 10, 8);
/// assert_eq!(of_all, ["fixed", "fixed:128K"]);
/// ```
pub fn neighbours(
    operation: Collective,
    algorithm: &str,
    bytes: usize,
    ranks: usize,
) -> Vec<&'static str> {
    let Some((known, sizes)) = sizes(operation, algorithm) else {
        return Vec::new();
    };
    let (values, built_in) = (sizes.kind.values(), sizes.kind.built_in(ranks));
    let size = known.size_of(algorithm).unwrap_or(built_in);
    let most = size_most(sizes.kind, bytes, ranks);
    let smaller = values.iter().rposition(|&one| one < size.min(most));
    let greater = values.iter().position(|&one| one > size && size < most);
    let named = |place: usize| match values[place] == built_in {
        true => known.name,
        false => sizes.names[place],
    };
    smaller.into_iter().chain(greater).map(named).collect()
}

/// The size from which on a greater one makes no difference.
fn size_most(kind: SizeKind, bytes: usize, ranks: usize) -> usize {
    match kind {
        SizeKind::Segment(_) => bytes,
        SizeKind::SegmentOfAll(_) => bytes.saturating_mul(ranks),
        _ => ranks.saturating_sub(1),
    }
}

fn sizes(operation: Collective, algorithm: &str) -> Option<(&'static Entry, Sizes)> {
    let known = entry(operation.algorithms_of(), algorithm)?;
    Some((known, known.sizes?))
}

/// The name of an algorithm with the size that has the best time in `model`, if that is better than the one without a
/// size.
fn best_size(
    operation: Collective,
    algorithm: &str,
    bytes: usize,
    plans: &Plans,
    model: &dyn Predict,
) -> Option<(&'static str, f64)> {
    let (_, sizes) = sizes(operation, algorithm)?;
    let most = size_most(sizes.kind, bytes, plans.len());
    let useful = sizes.kind.values().iter().zip(sizes.names);
    let useful = useful.filter(|(size, _)| **size < most);
    let predict = |name| model.predict(operation, name, plans, bytes);
    let own = predict(algorithm)?;
    let times = useful.filter_map(|(_, &name)| Some((name, predict(name)?)));
    let best = times.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (best.1 < own * (1.0 - SAME)).then_some(best)
}

/// Adds a request: this algorithm for this operation, whatever the length.
///
/// # Panics
///
/// If the operation has no such algorithm.
pub fn ask(algorithms: &mut Algorithms, operation: Collective, algorithm: Asked) {
    let asked = algorithms.ask(operation.name(), &[(usize::MAX, algorithm)]);
    asked.expect("an algorithm's name");
}

/// Why a team over these plans cannot run an algorithm, or runs another one in its place; `None` if it runs it.
///
/// The registry of algorithms lists what each needs.
pub fn unable(operation: Collective, algorithm: &str, plans: &Plans) -> Option<String> {
    let n = plans.len();
    let mesh = n <= MESH_RANKS_MAX;
    let packages = plans.packages().map_or(1, |packages| {
        let mut packages = packages.to_vec();
        packages.sort_unstable();
        packages.dedup();
        packages.len()
    });
    let needs = |what: &str| Some(format!("it needs {what}, and this team has {n} ranks"));
    let missing = |need: &Need| match need {
        Need::PowerOfTwo if !n.is_power_of_two() => needs("a power of two of ranks"),
        Need::MeshOrCube if !mesh && !n.is_power_of_two() => needs("a power of two of ranks"),
        Need::LineOfEach if n > ALL_LINES_RANKS_MAX => needs("at most 16 ranks"),
        Need::Groups if plans.broadcast_groups().is_none() => {
            Some("its plan has no groups".to_owned())
        }
        Need::Packages if packages < 2 => Some("all ranks are on one package".to_owned()),
        Need::Mesh if !mesh => needs("links between all ranks, which teams of up to 64 have"),
        _ => None,
    };
    let collective = operation.algorithms_of().name().parse().ok()?;
    let known = entry(collective, algorithm)?;
    known.needs.iter().find_map(missing)
}

/// The algorithm that a team runs when it is asked for `algorithm`, which may be another one. `base` holds the other
/// requests; its request for barriers stays unless `algorithm` is one of barriers.
pub fn runs(
    setting: &TeamOutline<'_>,
    base: &Algorithms,
    operation: Collective,
    bytes: usize,
    algorithm: Asked,
) -> &'static str {
    let asked = with(base, operation, algorithm);
    let runs = setting.chooses(&asked, operation.name(), bytes);
    runs.expect("an operation's name").algorithm()
}

/// `base` with the request for one operation replaced. A request for barriers holds in all races, so `None` does not
/// replace that one.
pub(crate) fn with(base: &Algorithms, operation: Collective, algorithm: Asked) -> Algorithms {
    let mut algorithms = *base;
    if operation != Collective::Barrier || algorithm.is_some() {
        ask(&mut algorithms, operation, algorithm);
    }
    algorithms
}

/// The algorithms that race for `operation` with blocks of `bytes` in a team of this `setting` and `base`: the
/// built-in choice, the `most` − 1 others with the best times in `model`, and those without a prediction. Algorithms that
/// have sizes race with the built-in one, and of short data also with the one that is predicted to be best. Of
/// [long](SHORT_BYTES_MAX) data all race but those predicted to take four times as long as the best.
pub fn candidate_set(
    operation: Collective,
    bytes: usize,
    setting: &TeamOutline<'_>,
    base: &Algorithms,
    model: &dyn Predict,
    most: usize,
) -> CandidateSet {
    let plans = setting.plans;
    let runs = |algorithm| runs(setting, base, operation, bytes, algorithm);
    let usual = runs(None);
    let built_in = Proposal {
        algorithm: None,
        predicted_ns: model.predict(operation, usual, plans, bytes),
    };
    let mut left_out = Vec::new();
    let mut rivals: Vec<(&'static str, Option<f64>)> = Vec::new();
    for algorithm in algorithms(operation) {
        let mut leave = |predicted_ns, why: String| {
            left_out.push(LeftOut {
                algorithm,
                predicted_ns,
                why,
            });
        };
        if let Some(why) = unable(operation, algorithm, plans) {
            leave(None, why);
        } else if runs(Some(algorithm)) == usual {
            let why = match usual == algorithm {
                true => "the built-in choice runs it".to_owned(),
                false => format!("the team runs {usual} in its place, as the built-in choice does"),
            };
            leave(built_in.predicted_ns, why);
        } else {
            let predicted = model.predict(operation, algorithm, plans, bytes);
            let same = |&&(_, other): &&(_, Option<f64>)| match (predicted, other) {
                (Some(one), Some(other)) => {
                    bytes <= SHORT_BYTES_MAX && (one / other - 1.0).abs() < SAME
                }
                _ => false,
            };
            match rivals.iter().find(same) {
                Some((other, _)) => leave(predicted, format!("it does the same as {other} here")),
                None => rivals.push((algorithm, predicted)),
            }
        }
        // Of other sizes the model proposes one where it is good at that; the others race once the algorithm is known.
        if bytes <= SHORT_BYTES_MAX
            && unable(operation, algorithm, plans).is_none()
            && let Some((sized, time)) = best_size(operation, algorithm, bytes, plans, model)
            && runs(Some(sized)) == sized
        {
            rivals.push((sized, Some(time)));
        }
    }
    let times = rivals.iter().filter_map(|(_, time)| *time);
    let best = times.chain(built_in.predicted_ns).reduce(f64::min);
    rivals.sort_by(|a, b| {
        let key = |time: Option<f64>| time.unwrap_or(f64::INFINITY);
        key(a.1).total_cmp(&key(b.1))
    });
    let mut racing = vec![built_in];
    for (algorithm, predicted_ns) in rivals {
        let times = predicted_ns.zip(best).map(|(time, best)| time / best);
        let full = predicted_ns.is_some() && racing.len() >= most && bytes <= SHORT_BYTES_MAX;
        match times {
            Some(times) if full || times > HOPELESS => left_out.push(LeftOut {
                algorithm,
                predicted_ns,
                why: format!("predicted to take {times:.2} times as long as the best"),
            }),
            _ => racing.push(Proposal {
                algorithm: Some(algorithm),
                predicted_ns,
            }),
        }
    }
    CandidateSet { racing, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::Unknown;
    use corecast_plan::Pattern;

    #[test]
    fn nobody_races_against_the_same_program() {
        for n in [2, 3, 4, 17, 100] {
            let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
            let plans = Plans::of_pattern(machine.costs(), Pattern::Smelt, None).unwrap();
            for (sharing, processes) in [(1, false), (2, false), (1, true)] {
                let setting = TeamOutline {
                    sharing,
                    processes,
                    ..TeamOutline::new(&plans)
                };
                let base = Algorithms::default();
                for operation in Collective::WITH_ALGORITHMS {
                    for bytes in [0, 8, 512, 32 << 10, 4 << 20] {
                        let candidate_set =
                            candidate_set(operation, bytes, &setting, &base, &Unknown, 8);
                        let runs = |asked| runs(&setting, &base, operation, bytes, asked);
                        let others = &candidate_set.racing[1..];
                        assert!(others.iter().all(|p| runs(p.algorithm) != runs(None)));
                        let left = candidate_set.left_out.iter();
                        let mut same = left.filter(|l| l.algorithm == runs(None));
                        let why = same.next().map(|l| &l.why[..]);
                        // One that is built in with a size has no contender that runs the same.
                        let is_named = algorithms(operation).contains(&runs(None));
                        let said = is_named.then_some("the built-in choice runs it");
                        assert_eq!(why, said, "{operation}");
                    }
                }
            }
        }
    }

    #[test]
    fn reductions_by_packages_race_where_there_are_some() {
        let machine = corecast_model::synthetic("package:2 core:4").unwrap();
        let plans = || Plans::of_pattern(machine.costs(), Pattern::Smelt, None).unwrap();
        let two = plans().with_packages(vec![0, 0, 0, 0, 1, 1, 1, 1]).unwrap();
        for (plans, races) in [(two, true), (plans(), false)] {
            for bytes in [8, 64 << 10] {
                let (setting, base) = (TeamOutline::new(&plans), Algorithms::default());
                let set = candidate_set(Collective::Reduce, bytes, &setting, &base, &Unknown, 8);
                let racing = set.racing.iter();
                let found = racing.filter(|one| one.algorithm == Some("packages"));
                assert_eq!(found.count(), usize::from(races));
                let left_out = |one: &LeftOut| one.algorithm == "packages";
                assert_eq!(set.left_out.iter().any(left_out), !races);
            }
        }
    }
}
