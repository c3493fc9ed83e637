//! How strictly members wait for each other around an operation (NUMA clusters §3.2, after UPC; loose
//! and strict as in automatic tuning §3).

use super::Member;
use super::overlap::{Overlap, Ticket};
use crate::failure::Failure;
use std::fmt;
use std::str::FromStr;

/// How much the entry or the exit of an operation guarantees. UPC calls the three `NOSYNC`, `MYSYNC` and `ALLSYNC`, with
/// `UPC_IN_` before it for the entry and `UPC_OUT_` for the exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Await {
    /// Entry: the operation waits for nobody, and moves whatever data have been given. Exit: a member leaves at once.
    /// Others may read or write its data afterwards, until it waits: this takes an operation in flight
    /// ([`Overlap::synced`]), as a call that blocks borrows its buffers no longer than it runs. There it gives as much
    /// as [`Await::My`].
    No,
    /// Entry: no data of a member are touched before that member has called. Members give their buffers by calling, so
    /// this costs nothing, and [`Await::No`] gives as much. Exit: a member leaves when its own data are complete and no
    /// other member reads them any more. All calls that block give this much by themselves.
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
    /// give the same `sync`. Waiting less, which takes operations in flight, is [`Overlap::synced`].
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

impl<'scope, 'env> Overlap<'scope, 'env> {
    /// Lets `start` start operations in flight, with the waiting of `sync` around them. All members give the same
    /// `sync`.
    ///
    /// After [`Await::No`] this returns as soon as they are started, whether or not other members have come: their
    /// buffers are lent until [`Member::overlap`] returns, and have their results when the request or the end of the
    /// overlap has been waited for. After [`Await::My`] the member's own part of them is
    /// done, after [`Await::All`] that of every member.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Cost
    ///
    /// A barrier in flight for each side that awaits all. With `depth` operations in flight already, starting one more
    /// waits for the oldest.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// use corecast_team::{Await, Synchrony};
    ///
    /// let leaves_at_once = Synchrony { entry: Await::No, exit: Await::No };
    /// let team = Team::new(plans)?;
    /// team.run(|member| {
    ///     let mut data = vec![member.rank() as u64; 10_000];
    ///     member
    ///         .overlap(|flight| {
    ///             let request = flight.synced(leaves_at_once, |flight| flight.broadcast(1, &mut data))?;
    ///             // Rank 1 may be here before rank 0 has called.
    ///             request.wait()
    ///         })
    ///         .unwrap()
    ///         .unwrap();
    ///     assert_eq!(data, [1; 10_000]);
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn synced<'o, R>(
        &'o self,
        sync: Synchrony,
        start: impl FnOnce(&'o Self) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let entered = self.enter(sync.entry)?;
        let result = start(self)?;
        self.leave(entered, sync.exit)?;
        Ok(result)
    }

    /// The waiting of [`synced`](Self::synced) before operations, for bindings whose errors are others.
    #[doc(hidden)]
    #[track_caller]
    pub fn enter(&self, entry: Await) -> Result<Ticket, Failure> {
        if entry == Await::All {
            self.barrier()?.wait()?;
        }
        Ok(self.last_started())
    }

    /// The waiting of [`synced`](Self::synced) after the operations that were started since `entered`.
    #[doc(hidden)]
    #[track_caller]
    pub fn leave(&self, entered: Ticket, exit: Await) -> Result<(), Failure> {
        if exit != Await::No {
            self.wait_since(entered)?;
        }
        if exit == Await::All {
            self.barrier()?.wait()?;
        }
        Ok(())
    }
}
