//! What to plan, from any bytes.

use std::ops::ControlFlow;

use arbitrary::{Arbitrary, Result, Unstructured};
use corecast_model::{CostModel, LineCosts, Place, Unit};
use corecast_plan::{Effort, Operation, Pattern, RootChoice};

/// A team, what it does, and how.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) costs: CostModel,
    pub(crate) operation: Operation,
    pub(crate) pattern: Pattern,
    /// The root for whatever wants one.
    pub(crate) root: usize,
    /// That root, or whichever the planner takes.
    pub(crate) root_choice: RootChoice,
    /// For whatever takes random numbers.
    pub(crate) seed: u64,
    /// Changes that searches may try.
    pub(crate) moves: u64,
    /// How often a watcher looks on before it ends a search.
    pub(crate) looks: u32,
    /// For choices between the ways to call something.
    pub(crate) choice: usize,
}

/// Most members.
const MEMBERS_MAX: usize = 12;
/// Most changes that searches may try.
const MOVES_MAX: u64 = 500;

impl Case {
    /// How far searches go.
    pub(crate) fn effort(&self) -> Effort {
        Effort {
            seed: self.seed,
            moves: self.moves,
        }
    }

    /// A watcher's answer: it ends the search after some looks, or never.
    pub(crate) fn watcher(&self) -> impl FnMut() -> ControlFlow<()> + use<> {
        let mut left = self.looks;
        move || match left {
            // No limit.
            0 => ControlFlow::Continue(()),
            1 => ControlFlow::Break(()),
            _ => {
                left -= 1;
                ControlFlow::Continue(())
            }
        }
    }

    /// The root of a search; `None` where it is free.
    pub(crate) fn search_root(&self) -> Option<usize> {
        matches!(self.root_choice, RootChoice::Rank(_)).then_some(self.root)
    }
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let n = u.int_in_range(1..=MEMBERS_MAX)?;
        let operation = *u.choose(&Operation::ALL)?;
        let pattern = pattern(u)?;
        let root = u.choose_index(n)?;
        let root_choice = match u.int_in_range(0..=4)? {
            1 | 3 => RootChoice::Rank(root),
            4 => RootChoice::Smelt,
            _ => RootChoice::Auto,
        };
        let seed = u.int_in_range(0..=u64::from(u16::MAX))?;
        let costs = costs(u, n)?;
        // Absent from inputs that end here: no lines, no limits.
        let costs = match u.int_in_range(0..=2)? {
            2 => with_lines(u, costs)?,
            _ => costs,
        };
        Ok(Self {
            costs,
            operation,
            pattern,
            root,
            root_choice,
            seed,
            moves: MOVES_MAX - u.int_in_range(0..=MOVES_MAX)?,
            looks: u.int_in_range(0..=40)?,
            choice: usize::from(u.arbitrary::<u16>()?),
        })
    }
}

fn pattern(u: &mut Unstructured) -> Result<Pattern> {
    let names = Pattern::names();
    let name = *u.choose(&names)?;
    // Parameters are written as letters: a number takes the place of one, and ways to inform the place of three.
    let text = match (name.strip_suffix(":K"), name.strip_suffix(":A/B/C")) {
        (Some(family), _) => format!("{family}:{}", u.int_in_range(2..=20)?),
        (_, Some(family)) => {
            let mut way = || u.choose(&["binomial", "flat", "planned"]).copied();
            format!("{family}:{}/{}/{}", way()?, way()?, way()?)
        }
        (None, None) => name.to_owned(),
    };
    Ok(text
        .parse()
        .expect("a name with its parameter is a pattern"))
}

/// Few different costs, far apart or nearly the same, so that ties are common.
fn costs(u: &mut Unstructured, n: usize) -> Result<CostModel> {
    let numa = (0..n)
        .map(|_| u.int_in_range(0..=3))
        .collect::<Result<Vec<u32>>>()?;
    let prices = u.int_in_range(1..=8)?;
    let prices = (0..prices)
        .map(|_| price(u))
        .collect::<Result<Vec<f64>>>()?;
    // Either a price for each pair, or one for each pair of NUMA nodes and a little noise.
    let by_class: bool = u.arbitrary()?;
    let mut class = vec![0_u8; 32];
    u.fill_buffer(&mut class)?;
    let mut noise = vec![0_u8; 2 * n * n];
    u.fill_buffer(&mut noise)?;
    let cost = |i: usize, j: usize, receive: usize| {
        let noise = usize::from(noise[(receive * n + i) * n + j]);
        if by_class {
            let pair = (4 * numa[i] + numa[j]) as usize;
            let price = prices[usize::from(class[16 * receive + pair]) % prices.len()];
            let noisy = price * (1.0 + 0.0005 * (noise % 64) as f64);
            noisy.min(CostModel::COST_MAX)
        } else {
            prices[noise % prices.len()]
        }
    };
    let (send, receive) = (|i, j| cost(i, j, 0), |i, j| cost(i, j, 1));
    let model = CostModel::from_fn(Unit::Cycles, numa.clone(), send, receive);
    Ok(model.expect("prices are costs"))
}

/// Members anywhere on a machine whose shared lines cost anything.
fn with_lines(u: &mut Unstructured, costs: CostModel) -> Result<CostModel> {
    let few = [price(u)?, price(u)?, price(u)?];
    let mut one = || Ok(few[u.choose_index(few.len())?]);
    let mut list = || -> Result<[f64; 4]> { Ok([one()?, one()?, one()?, one()?]) };
    let (invalidate, transfer, base, slope) = (list()?, list()?, list()?, list()?);
    let write = one()?;
    let place = |member: usize| {
        let numa_node = costs.numa(member);
        Ok(Place {
            package: numa_node / 2,
            numa_node,
            core: 4 * numa_node + u.int_in_range(0..=3)?,
        })
    };
    let places = (0..costs.n()).map(place).collect::<Result<Vec<_>>>()?;
    let lines = LineCosts {
        write,
        invalidate,
        transfer,
        base,
        slope,
    };
    Ok(costs.with_lines(lines, places).expect("prices are costs"))
}

/// One price: zero, whole, with two decimals, tiny, huge, or the next number to another.
fn price(u: &mut Unstructured) -> Result<f64> {
    let value = f64::from(u.arbitrary::<u16>()?);
    Ok(match u.int_in_range(0..=7)? {
        0 => 0.0,
        1 => value % 8.0,
        2 => value / 100.0,
        3 => value * 1e-9,
        4 => value * 1e10,
        5 => CostModel::COST_MAX - value,
        6 => (100.0 + value % 4.0).next_up(),
        _ => value,
    })
}
