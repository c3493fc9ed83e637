//! What teams read of a profile: the choices without the races that decided them, which are nine tenths of the file.
//!
//! They lie in a file of their own, which names the file that they were made from: where somebody has put another profile in
//! its place, that is read.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use corecast_model::profile::machine_key;
use corecast_model::{Machine, Profile};

use super::save::keep;
use super::version::Version;
use super::{Store, StoreError, Stored, profile_of};

impl Store {
    fn choices_path(&self, machine: &Machine) -> Option<PathBuf> {
        self.path("choices", machine)
    }

    /// Keeps the choices of the profile that was written as version `of`.
    pub(super) fn save_choices(
        &self,
        of: &Version,
        machine: &Machine,
        profile: &Profile,
    ) -> Result<(), StoreError> {
        let of = serde_json::to_string(of).expect("numbers");
        let text = format!("{of}\n{}", profile.without_races().to_json());
        keep(self.choices_path(machine), &text).map(drop)
    }

    /// The [`profile`](Self::profile) at its path without its races where they can be left out. A program reads it once, and
    /// again when the profile has changed: each of its teams asks.
    pub(crate) fn choices(&self, machine: &Machine) -> Stored<Arc<Profile>> {
        static LAST: Mutex<Option<(PathBuf, Version, Arc<Profile>)>> = Mutex::new(None);
        let Some(path) = self.profile_path(machine) else {
            return Stored::Absent;
        };
        let version = Version::of(&path);
        // Not waited for: in a forked child nobody may be left to give it back.
        let last = || LAST.try_lock().ok();
        if let Some(version) = &version
            && let Some(last) = last()
            && let Some((at, of, profile)) = &*last
            && (at, of) == (&path, version)
            && profile.machine_key == machine_key(machine)
        {
            return Stored::Found(path, Arc::clone(profile));
        }
        let kept = version
            .as_ref()
            .and_then(|of| self.kept_choices(machine, of));
        let found = match kept {
            Some(choices) => Stored::Found(path.clone(), Arc::new(choices)),
            None => self.profile(machine).map(Arc::new),
        };
        if let (Stored::Found(_, profile), Some(version)) = (&found, version)
            && let Some(mut last) = last()
        {
            *last = Some((path, version, Arc::clone(profile)));
        }
        found
    }

    /// The choices that were made from version `of` of the profile. What cannot be read is passed over, as the profile can.
    fn kept_choices(&self, machine: &Machine, of: &Version) -> Option<Profile> {
        let text = std::fs::read_to_string(self.choices_path(machine)?).ok()?;
        let (made_from, choices) = text.split_once('\n')?;
        let is_current = serde_json::from_str::<Version>(made_from).ok()? == *of;
        is_current.then(|| profile_of(machine, choices).ok())?
    }
}
