//! CLa's parameters of single lines (§2.2.1, Table 1) out of the latencies. Pure.
//!
//! | name | what is read | places |
//! | --- | --- | --- |
//! | `R_L` | a line that the core itself has cached | own |
//! | `R_R` | one that another core of the package has cached | other cores of the package |
//! | `R_Q` | one that a core of another package has cached | other packages |
//! | `R_I` | a line that no cache has, on the own NUMA node | memory of own and of threads there |
//! | `R_QI` | a line that no cache has, on another NUMA node | memory of threads elsewhere |
//!
//! The paper finds little difference between states and clusters them; so does this, but for shared lines of
//! others, which a nearer cache may have as well. The half width of a parameter reaches over all that it
//! stands for. A place that the machine does not have has no parameter.

use std::collections::BTreeMap;

use corecast_model::Machine;
use corecast_model::deep::{Access, Figure, Latency, Level, Near, State};

use crate::estimate::{median, sorted};

/// Returns the name of the parameter to which a latency belongs.
fn name(latency: &Latency, same_node: bool) -> Option<&'static str> {
    let name = match (latency.level, latency.near) {
        (Level::Memory, _) if same_node => "R_I",
        (Level::Memory, _) => "R_QI",
        (Level::Cache(1), Near::Own) => "R_L",
        // Lines that were driven further take longer, and siblings share their caches.
        (Level::Cache(2..), _) | (_, Near::Own | Near::SameCore) => return None,
        _ if latency.state == State::Shared => return None,
        (_, Near::OtherPackage) => "R_Q",
        _ => "R_R",
    };
    Some(name)
}

/// Returns the parameters that follow from the latencies.
pub(super) fn of(machine: &Machine, latencies: &[Latency]) -> BTreeMap<String, Figure> {
    let node = |os_index: u32| machine.pu(os_index).map(|pu| pu.numa_node);
    let mut groups: BTreeMap<&str, Vec<Figure>> = BTreeMap::new();
    for latency in latencies {
        if latency.access == Access::Read
            && let Some(name) = name(latency, node(latency.by) == node(latency.of))
        {
            groups.entry(name).or_default().push(latency.ns);
        }
    }
    let groups = groups.into_iter();
    groups
        .filter_map(|(name, figures)| Some((name.to_owned(), together(&figures)?)))
        .collect()
}

/// Returns the median of several figures, with an interval that reaches to the end of each; `None` without
/// figures.
///
/// # Examples
///
/// ```
/// use corecast_model::deep::Figure;
/// use corecast_probe::deep::together;
///
/// let of = |value| Figure { value, half_width: 0.5, samples: 10 };
/// let all = together(&[of(20.0), of(24.0), of(21.0)]).unwrap();
/// assert_eq!((all.value, all.half_width, all.samples), (21.0, 3.5, 30));
/// ```
#[must_use]
pub fn together(figures: &[Figure]) -> Option<Figure> {
    let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
    let value = median(&sorted(&values))?;
    let reach = figures
        .iter()
        .map(|figure| (figure.value - value).abs() + figure.half_width);
    Some(Figure {
        value,
        half_width: reach.fold(0.0, f64::max),
        samples: figures.iter().map(|figure| figure.samples).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::synthetic;

    #[test]
    fn each_place_has_its_parameter() {
        let file = synthetic("package:2 numa:1 core:2").unwrap();
        let latency = |by, of, near, level, value| Latency {
            access: Access::Read,
            state: State::Modified,
            level,
            near,
            by,
            of,
            ns: Figure {
                value,
                half_width: 1.0,
                samples: 10,
            },
        };
        let first = Level::Cache(1);
        let mut all = vec![
            latency(0, 0, Near::Own, first, 2.0),
            latency(0, 1, Near::SameCache(3), first, 34.0),
            latency(1, 0, Near::SameCache(3), first, 36.0),
            latency(0, 1, Near::SameCache(3), Level::Cache(2), 99.0),
            latency(0, 2, Near::OtherPackage, first, 94.0),
            latency(0, 1, Near::SameCache(3), Level::Memory, 70.0),
            latency(0, 2, Near::OtherPackage, Level::Memory, 107.0),
        ];
        all.push(Latency {
            state: State::Shared,
            ..latency(0, 1, Near::SameCache(3), first, 9.0)
        });
        all.push(Latency {
            access: Access::Write,
            ..latency(0, 2, Near::OtherPackage, first, 500.0)
        });
        let found = of(file.machine(), &all);
        let values: Vec<(&str, f64)> = found.iter().map(|(k, v)| (k.as_str(), v.value)).collect();
        let expected = [
            ("R_I", 70.0),
            ("R_L", 2.0),
            ("R_Q", 94.0),
            ("R_QI", 107.0),
            ("R_R", 35.0),
        ];
        assert_eq!(values, expected);
        assert_eq!(found["R_R"].half_width, 2.0);
        assert_eq!(found["R_R"].samples, 20);
        assert!(of(file.machine(), &[]).is_empty());
    }
}
