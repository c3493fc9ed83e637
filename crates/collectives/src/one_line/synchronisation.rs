//! Many ranks tell one, and one tells many: over one line, or over a line for each.

use corecast_wire::cache_lines::{CacheLines, LineId, LineSet};

/// Whether ranks share one line or have one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One line for all.
    SameLine,
    /// A line for each.
    DifferentLines,
}

/// The lines between one rank and many.
#[derive(Clone, Debug)]
struct Between {
    one: usize,
    sharing: Sharing,
    many: u64,
    /// The line that all share, or that of each of the many in their order.
    lines: Vec<LineId>,
    /// By rank, for each of the many.
    own: Vec<Option<LineId>>,
}

impl Between {
    /// `shared` makes the line for all, `line` that of a rank.
    fn new(
        set: &mut LineSet,
        (one, many, sharing): (usize, &[usize], Sharing),
        shared: impl FnOnce(&mut LineSet) -> LineId,
        line: impl Fn(&mut LineSet, usize) -> LineId,
    ) -> Self {
        assert!(!many.is_empty(), "rank {one} is alone: give it others");
        assert!(!many.contains(&one), "rank {one} does not notify itself");
        let lines = match sharing {
            Sharing::SameLine => vec![shared(set)],
            Sharing::DifferentLines => many.iter().map(|&rank| line(set, rank)).collect(),
        };
        let mut own = vec![None; set.ranks()];
        for (place, &rank) in many.iter().enumerate() {
            own[rank] = lines.get(place).or(lines.first()).copied();
        }
        Self {
            one,
            sharing,
            many: many.len() as u64,
            lines,
            own,
        }
    }
}

/// Many ranks notify one (Figure 4).
///
/// Nothing holds a rank up that notifies. So on the same line no rank may begin a round before the one that is notified
/// has told it, by other lines, that the round before is over: the sum would not say who has come.
///
/// # Examples
///
/// See [`FlatBarrier`].
#[derive(Clone, Debug)]
pub struct ManyToOne(Between);

impl ManyToOne {
    /// Ranks `many` notify rank `one`; lines are looked at in this order.
    ///
    /// # Panics
    ///
    /// If `many` is empty or has rank `one`, or a rank is outside of the set.
    pub fn new(lines: &mut LineSet, one: usize, many: &[usize], sharing: Sharing) -> Self {
        Self(Between::new(
            lines,
            (one, many, sharing),
            |set| set.counter("come", many, one),
            |set, rank| set.flag(format!("come {rank}"), rank, one),
        ))
    }

    /// This rank's part. The one returns when all of the many have called it in this round.
    ///
    /// # Errors
    ///
    /// The error of a wait.
    ///
    /// # Cost
    ///
    /// Equations 6 to 13, in Table 5: in the best case R_I + n·R_R in one package.
    #[inline]
    pub fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error> {
        let (rank, between) = (lines.rank(), &self.0);
        if rank == between.one {
            let value = match between.sharing {
                Sharing::SameLine => round * between.many,
                Sharing::DifferentLines => round,
            };
            return between
                .lines
                .iter()
                .try_for_each(|&line| lines.wait(line, value));
        }
        match (between.sharing, between.own[rank]) {
            (Sharing::SameLine, Some(line)) => lines.add(line, 1),
            (Sharing::DifferentLines, Some(line)) => lines.write(line, round),
            (_, None) => {}
        }
        Ok(())
    }
}

/// One rank notifies many (Figure 8).
///
/// # Examples
///
/// See [`FlatBarrier`].
#[derive(Clone, Debug)]
pub struct OneToMany(Between);

impl OneToMany {
    /// Rank `one` notifies ranks `many`, in this order.
    ///
    /// # Panics
    ///
    /// If `many` is empty or has rank `one`, or a rank is outside of the set.
    pub fn new(lines: &mut LineSet, one: usize, many: &[usize], sharing: Sharing) -> Self {
        Self(Between::new(
            lines,
            (one, many, sharing),
            |set| set.broadcast("go", one, many),
            |set, rank| set.flag(format!("go {rank}"), one, rank),
        ))
    }

    /// This rank's part. Each of the many returns when the one has called it in this round.
    ///
    /// # Errors
    ///
    /// The error of a wait.
    ///
    /// # Cost
    ///
    /// Equations 14 to 25, in Table 6: in the best case R_I + R_R on the same line, n·R_I + R_R on different lines, in one
    /// package of Sandy Bridge.
    #[inline]
    pub fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error> {
        let (rank, between) = (lines.rank(), &self.0);
        if rank == between.one {
            for &line in &between.lines {
                lines.write(line, round);
            }
        } else if let Some(line) = between.own[rank] {
            lines.wait(line, round)?;
        }
        Ok(())
    }
}

/// A barrier: all others notify rank 0, then rank 0 notifies them.
///
/// # Examples
///
/// Both synchronisations over the same line, on the paper's Sandy Bridge: Equation 6 and then Equation 14.
///
/// ```
/// use corecast_collectives::one_line::{FlatBarrier, Sharing};
/// use corecast_wire::cache_lines::LineSet;
///
/// let mut lines = LineSet::new(4);
/// let barrier = FlatBarrier::new(&mut lines, Sharing::SameLine, Sharing::SameLine);
/// assert_eq!(lines.lines().len(), 2);
/// # let _ = barrier;
/// ```
#[derive(Clone, Debug)]
pub struct FlatBarrier(Option<(ManyToOne, OneToMany)>);

impl FlatBarrier {
    /// A barrier of all ranks of the set.
    ///
    /// # Panics
    ///
    /// If the set has no ranks.
    pub fn new(lines: &mut LineSet, fan_in: Sharing, fan_out: Sharing) -> Self {
        assert!(lines.ranks() > 0, "a barrier has ranks");
        let others: Vec<usize> = (1..lines.ranks()).collect();
        if others.is_empty() {
            return Self(None);
        }
        Self(Some((
            ManyToOne::new(lines, 0, &others, fan_in),
            OneToMany::new(lines, 0, &others, fan_out),
        )))
    }

    /// This rank's part: returns when all ranks have called it in this round.
    ///
    /// # Errors
    ///
    /// The error of a wait.
    ///
    /// # Cost
    ///
    /// Those of [`ManyToOne`] and [`OneToMany`].
    #[inline]
    pub fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error> {
        let Some((fan_in, fan_out)) = &self.0 else {
            return Ok(());
        };
        fan_in.run(lines, round)?;
        fan_out.run(lines, round)
    }
}
