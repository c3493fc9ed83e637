//! The races of a machine, or why there are none.

use std::fmt;
use std::sync::Arc;

use corecast_machine::Discovery;
use corecast_model::profile::Circumstances;
use corecast_model::{Machine, Profile, ProfileEntry};
use corecast_plan::Operation;

use crate::costs;
use crate::fit::{self, Fit, Fitting};
use crate::store::{Store, Stored};

/// The stored races of a machine, or why there are none.
#[derive(Clone, Debug, PartialEq)]
pub struct Races {
    profile: Option<Arc<Profile>>,
    source: String,
}

impl Races {
    /// No races, for a reason that explanations quote.
    pub fn none(why: impl fmt::Display) -> Self {
        Self {
            profile: None,
            source: format!("none: {why}"),
        }
    }

    /// The races of a profile; `source` says in a few words where it comes from.
    pub fn of(profile: impl Into<Arc<Profile>>, source: impl fmt::Display) -> Self {
        Self {
            source: source.to_string(),
            profile: Some(profile.into()),
        }
    }

    /// The races that `store` has of this machine. A process that may use only a part of it also
    /// gets those races of the whole machine that ran on that part.
    pub fn here(store: &Store, here: &Discovery) -> Self {
        Self::found(here, |machine| store.profile(machine).map(Arc::new))
    }

    /// [`here`](Self::here) for a team, which asks what runs, and not which races decided it.
    pub(crate) fn decided(store: &Store, here: &Discovery) -> Self {
        Self::found(here, |machine| store.choices(machine))
    }

    fn found(here: &Discovery, read: impl Fn(&Machine) -> Stored<Arc<Profile>>) -> Self {
        let mut stored = read(&here.machine);
        if stored == Stored::Absent
            && let Some(whole) = costs::whole_machine(here)
        {
            stored = read(&whole);
        }
        match stored {
            Stored::Found(path, profile) => {
                let source = format!("{}, raced {}", path.display(), profile.created);
                Self::of(profile, source)
            }
            Stored::Absent => Self::none("nothing has been raced on this machine yet"),
            Stored::Unusable(reason) => Self::none(reason),
        }
    }

    /// Where the races come from, or why there are none.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The tuning of a team that fits it now, or why there is none.
    pub(crate) fn tuning(&self, fit: &Fit<'_>, now: &Circumstances) -> Result<Fitting<'_>, String> {
        match &self.profile {
            Some(profile) => fit::fitting(&profile.tunings, fit, now),
            None => Err(self.source.trim_start_matches("none: ").to_owned()),
        }
    }

    /// The file that the races were read from, without the date of the races.
    pub(crate) fn file(&self) -> &str {
        let end = self.source.rfind(", raced ");
        end.map_or(&self.source, |end| &self.source[..end])
    }

    pub(super) fn find(&self, operation: Operation, threads: &[u32]) -> Option<&ProfileEntry> {
        self.profile.as_ref()?.find(&operation.to_string(), threads)
    }
}
