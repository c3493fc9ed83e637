//! The CPU time that control groups grant, in processors.
//!
//! A container with a quota sees all PUs of its host. More busy threads than the quota pays for
//! are stopped, all at once, for the rest of each period (100 ms by default): a spinning barrier
//! then takes milliseconds. Hence the quota caps how many threads a team may take by default.

use crate::cgroup::{self, ControlGroup, Version};
use crate::files::Files;

/// The smallest CPU quota of any control group that the process is in.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// Processors' worth of time: 1.5 means 150 ms of CPU time in each 100 ms.
    pub cpus: f64,
    /// The file that says so, with what it says, for people.
    pub source: String,
}

impl Quota {
    /// Returns how many threads the quota pays for, rounded up, at least 1.
    ///
    /// ```
    /// let quota = corecast_machine::Quota { cpus: 1.5, source: "cpu.max".into() };
    /// assert_eq!(quota.threads(), 2);
    /// ```
    pub fn threads(&self) -> usize {
        // A float cast saturates, and turns NaN into 0.
        (self.cpus.ceil() as usize).max(1)
    }
}

/// The smallest quota over all hierarchies and all ancestors.
pub(crate) fn quota(files: &mut Files) -> Option<Quota> {
    let groups = cgroup::groups(files, "cpu");
    let mut smallest: Option<Quota> = None;
    for group in &groups {
        for directory in group.directories() {
            let Some(quota) = quota_in(files, group, &directory) else {
                continue;
            };
            if smallest
                .as_ref()
                .is_none_or(|other| quota.cpus < other.cpus)
            {
                smallest = Some(quota);
            }
        }
    }
    smallest
}

fn quota_in(files: &mut Files, group: &ControlGroup, directory: &str) -> Option<Quota> {
    let (path, text) = match group.version {
        Version::V2 => {
            let path = format!("{directory}/cpu.max");
            let text = files.text(&path)?;
            (path, text)
        }
        Version::V1 => {
            let path = format!("{directory}/cpu.cfs_quota_us");
            let quota = files.text(&path)?;
            let period = files.text(&format!("{directory}/cpu.cfs_period_us"));
            (
                path,
                format!("{quota} {}", period.as_deref().unwrap_or_default()),
            )
        }
    };
    let text = text.trim_end();
    match parse(text) {
        Some(Limit::None) => None,
        Some(Limit::Cpus(cpus)) => Some(Quota {
            cpus,
            source: format!("{path}: {text}"),
        }),
        None => {
            files.assume(format!("{path} reads {text:?}: assumed no quota there"));
            None
        }
    }
}

enum Limit {
    None,
    Cpus(f64),
}

/// `QUOTA [PERIOD]` in microseconds; `max` (version 2) or a negative quota (version 1) is none.
fn parse(text: &str) -> Option<Limit> {
    /// The kernel's default, in force where no period is shown.
    const PERIOD_US_DEFAULT: i64 = 100_000;
    let mut fields = text.split_whitespace();
    let quota = fields.next()?;
    let period = match fields.next() {
        Some(period) => period.parse().ok()?,
        None => PERIOD_US_DEFAULT,
    };
    if fields.next().is_some() || period <= 0 {
        return None;
    }
    match quota {
        "max" => Some(Limit::None),
        quota => match quota.parse::<i64>().ok()? {
            0 => None,
            none if none < 0 => Some(Limit::None),
            quota => Some(Limit::Cpus(quota as f64 / period as f64)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parsed_and_garbage_is_not() {
        let cpus = |text| match parse(text) {
            Some(Limit::Cpus(cpus)) => cpus,
            Some(Limit::None) => f64::INFINITY,
            None => f64::NAN,
        };
        assert_eq!(cpus("150000 100000"), 1.5);
        assert_eq!(cpus("50000"), 0.5);
        assert_eq!(cpus("max 100000"), f64::INFINITY);
        assert_eq!(cpus("max"), f64::INFINITY);
        assert_eq!(cpus("-1 100000"), f64::INFINITY);
        for garbage in [
            "",
            "x",
            "100000 0",
            "100000 -1",
            "0 100000",
            "1 2 3",
            "max x",
            "1e5",
        ] {
            assert!(cpus(garbage).is_nan(), "{garbage:?}");
        }
    }

    #[test]
    fn threads_round_up_and_stay_sane() {
        let threads = |cpus| {
            Quota {
                cpus,
                source: String::new(),
            }
            .threads()
        };
        assert_eq!([0.01, 1.0, 1.01, 64.0].map(threads), [1, 1, 2, 64]);
        assert_eq!(threads(f64::NAN), 1);
        assert!(threads(f64::INFINITY) > 1);
    }
}
