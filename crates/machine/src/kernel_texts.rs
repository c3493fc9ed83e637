//! What the kernel's files say that stays until the machine is booted again, for programs that start later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cpulist::CpuList;
use crate::files::{self, is_constant};

/// The version of the format.
const SCHEMA: u64 = 1;

/// The kernel gives this another value at each boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The kernel's files about the parts of this machine, about thirty for each PU, as one process has read them.
///
/// A program that discovers the machine reads them all, which takes most of the time that its first team takes. Whoever has
/// them from a file that an earlier program has written saves that. They hold for as long as the machine runs and the same
/// PUs are online. The revision of the microcode is among them: one that is loaded while the machine runs is not seen.
///
/// # Examples
///
/// ```
/// use corecast_machine::KernelTexts;
///
/// let found = corecast_machine::discover();
/// let texts = KernelTexts::of_this_boot().expect("the machine has been discovered");
/// let file = serde_json::to_string(&texts)?;
/// // In another program, before its first discovery:
/// let texts: KernelTexts = serde_json::from_str(&file)?;
/// let was_first = texts.recall();
/// # assert!(!was_first, "this program has discovered the machine itself");
/// assert_eq!(corecast_machine::discover(), found);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "the kernel's files as a JSON object")]
pub struct KernelTexts {
    /// Version of the format.
    schema: u64,
    /// The boot that they hold for.
    boot: String,
    /// The PUs that were online, as `taskset` lists them.
    online: String,
    /// The text of each file, by path; `null` for one that is not there.
    texts: BTreeMap<String, Option<String>>,
}

impl KernelTexts {
    /// What this process has read, or was given by [`recall`](Self::recall); `None` before its first discovery, and where
    /// the kernel does not say which boot this is.
    pub fn of_this_boot() -> Option<Self> {
        let (online, texts) = files::kept()?;
        Some(Self {
            schema: SCHEMA,
            boot: boot()?,
            online: online.to_string(),
            texts: texts
                .iter()
                .map(|(path, text)| (path.clone(), text.clone()))
                .collect(),
        })
    }

    /// Lets the discoveries of this process take these texts in place of the files. Says whether they will: not if the
    /// process has discovered the machine already, and not if they are of another boot. Where other PUs are online they
    /// are passed over.
    pub fn recall(self) -> bool {
        if !self.is_current() {
            return false;
        }
        let Ok(online) = self.online.parse::<CpuList>() else {
            return false;
        };
        let constant = self.texts.into_iter().filter(|(path, _)| is_constant(path));
        files::keep_foreign(online, constant.collect())
    }

    /// Whether they are of this boot.
    fn is_current(&self) -> bool {
        self.schema == SCHEMA && boot().is_some_and(|now| now == self.boot)
    }
}

fn boot() -> Option<String> {
    let text = std::fs::read_to_string(BOOT_ID).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Discovery has kept its texts by then, so that nothing is taken any more.
    #[test]
    fn texts_of_another_boot_or_format_and_those_that_come_late_are_refused() {
        crate::discover();
        let texts = KernelTexts::of_this_boot().unwrap();
        assert!(texts.texts.contains_key("/proc/cpuinfo"));
        assert!(texts.texts.keys().all(|path| is_constant(path)));
        let json = serde_json::to_string(&texts).unwrap();
        assert_eq!(serde_json::from_str::<KernelTexts>(&json).unwrap(), texts);
        assert!(serde_json::from_str::<KernelTexts>("{}").is_err());
        let boot = "another".to_owned();
        let foreign = KernelTexts {
            boot,
            ..texts.clone()
        };
        let later = KernelTexts {
            schema: 2,
            ..texts.clone()
        };
        let garbage = KernelTexts {
            online: "x".to_owned(),
            ..texts.clone()
        };
        assert!(!foreign.is_current() && !later.is_current() && texts.is_current());
        for refused in [foreign, later, garbage, texts] {
            assert!(!refused.recall());
        }
    }
}
