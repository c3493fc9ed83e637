//! How strictly members wait for each other around an operation (NUMA clusters §3.2, after UPC; loose
//! and strict as in automatic tuning §3).

use super::Member;
use crate::failure::Failure;
use std::fmt;
use std::str::FromStr;

/// How much the entry or the exit of an operation guarantees. UPC calls the three `NOSYNC`, `MYSYNC` and `ALLSYNC`, with
/// `UPC_IN_` before it for the entry and `UPC_OUT_` for the exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Await {
    /// Entry: an operation may touch a member's data as soon as that member gives them. Exit: a member may leave while
    /// others are still in the operation.
    No,
    /// Entry: as [`Await::No`], because members give their data only by calling. Exit: a member leaves when its own
    /// data are complete and no other member reads them any more. All operations give this much by themselves: as they
    /// borrow their buffers, less would not be safe, so [`Await::No`] gives as much.
    My,
    /// Entry: no data of any member are touched before all members have called. Exit: no member leaves before the data
    /// of all members are complete.
    All,
}

/// Synchronisation of an operation: the nine combinations of UPC.
///
/// # Examples
///
/// ```
/// use corecast_team::{Await, Synchrony};
/// assert_eq!("all/my".parse(), Ok(Synchrony { entry: Await::All, exit: Await::My }));
/// assert_eq!(Synchrony::STRICT.to_string(), "all/all");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Synchrony {
    /// What is guaranteed before the operation.
    pub entry: Await,
    /// What is guaranteed after the operation.
    pub exit: Await,
}

impl Await {
    const ALL: [Self; 3] = [Self::No, Self::My, Self::All];

    const fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::My => "my",
            Self::All => "all",
        }
    }
}

impl Synchrony {
    /// The synchronisation that an operation has by itself: a member waits for its own data only.
    pub const LOOSE: Self = Self {
        entry: Await::My,
        exit: Await::My,
    };
    /// All members wait for all, before and after the operation.
    pub const STRICT: Self = Self {
        entry: Await::All,
        exit: Await::All,
    };

    /// The nine combinations.
    pub fn all() -> impl Iterator<Item = Self> {
        let exits = |entry| Await::ALL.into_iter().map(move |exit| Self { entry, exit });
        Await::ALL.into_iter().flat_map(exits)
    }
}

impl fmt::Display for Synchrony {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.entry.name(), self.exit.name())
    }
}

/// A name that is no synchronisation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no synchronisation: take loose, strict, or two of no, my and all, as in all/my")]
pub struct UnknownSynchrony(String);

impl FromStr for Synchrony {
    type Err = UnknownSynchrony;

    fn from_str(name: &str) -> Result<Self, UnknownSynchrony> {
        let named = [("loose", Self::LOOSE), ("strict", Self::STRICT)];
        let named = named.into_iter().find(|(known, _)| *known == name);
        let written = || Self::all().find(|sync| sync.to_string() == name);
        let found = named.map(|(_, sync)| sync).or_else(written);
        found.ok_or_else(|| UnknownSynchrony(name.to_owned()))
    }
}

impl Member {
    /// Runs `operation`, or several, with more waiting around it than it does by itself. All members
    /// give the same `sync`.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Cost
    ///
    /// A barrier for each side that awaits all.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// use corecast_team::Synchrony;
    ///
    /// let team = Team::new(plans)?;
    /// let sums = team.run(|member| {
    ///     member.synced(Synchrony::STRICT, |member| member.reduce_value(0, 1, |a, b| a + b))
    /// });
    /// assert_eq!(sums, [Ok(Some(2)), Ok(None)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn synced<R>(
        &mut self,
        sync: Synchrony,
        operation: impl FnOnce(&mut Self) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        if sync.entry == Await::All {
            self.barrier()?;
        }
        let result = operation(self)?;
        if sync.exit == Await::All {
            self.barrier()?;
        }
        Ok(result)
    }
}
