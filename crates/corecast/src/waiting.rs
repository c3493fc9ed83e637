//! [`Waiting`]: how a user asks for a wait strategy, in the program or by `CORECAST_WAIT`.

use std::fmt;
use std::str::FromStr;

use corecast_wire::WaitConfig;

/// The environment variable with the [`Waiting`] of all teams whose [`Builder`](crate::Builder) names
/// none.
pub const WAIT: &str = "CORECAST_WAIT";

/// How the members of a team are to wait. [`Builder::wait`](crate::Builder::wait) and `CORECAST_WAIT` take it.
///
/// # Examples
///
/// ```
/// use corecast::Waiting;
///
/// assert_eq!("park".parse(), Ok(Waiting::Park));
/// assert_eq!("50us".parse(), Ok(Waiting::Budget(50_000)));
/// let error = "50 apples".parse::<Waiting>().unwrap_err();
/// assert!(error.to_string().contains("\"50 apples\""));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waiting {
    /// Never gives the CPU away: the least latency where each rank owns its hardware thread, and
    /// the worst choice where two share one.
    Spin,
    /// Spins, waits in the CPU where it can, offers the CPU, and sleeps, each for as long as fits the machine and the
    /// number of ranks.
    Balanced,
    /// Sleeps at once: waits use no CPU time, and each one ends with a wake-up by the kernel.
    Park,
    /// Does as `Balanced`, but a wait sleeps after it has used a CPU for this many nanoseconds.
    Budget(u32),
    /// Exactly these phases.
    Exactly(WaitConfig),
}

impl Waiting {
    /// The configuration that replaces `balanced` and its name; `None` for [`Waiting::Balanced`].
    pub(crate) fn applied(self, balanced: WaitConfig) -> Option<(WaitConfig, &'static str)> {
        Some(match self {
            Self::Balanced => return None,
            Self::Spin => (WaitConfig::SPIN, "spin"),
            Self::Park => (WaitConfig::PARK, "park"),
            Self::Budget(ns) => {
                let spin_ns = balanced.spin_ns.min(ns);
                let hardware_ns = balanced.hardware_ns.min(ns - spin_ns);
                let soon_ns = balanced.soon_ns.min(ns - spin_ns - hardware_ns);
                let wait_config = WaitConfig {
                    spin_ns,
                    hardware_ns,
                    soon_ns,
                    yield_ns: ns - spin_ns - hardware_ns - soon_ns,
                    park: true,
                };
                (wait_config, "budget")
            }
            Self::Exactly(wait_config) => (wait_config, "own"),
        })
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spin => f.pad("spin"),
            Self::Balanced => f.pad("balanced"),
            Self::Park => f.pad("park"),
            Self::Budget(ns) => write!(f, "{ns}ns"),
            Self::Exactly(wait_config) => {
                write!(f, "spin {}ns, ", wait_config.spin_ns)?;
                if wait_config.hardware_ns > 0 {
                    write!(f, "wait in the CPU {}ns, ", wait_config.hardware_ns)?;
                }
                let short_spin_ns = wait_config.short_spin_ns();
                if short_spin_ns > 0 {
                    write!(f, "where that has ended waits spin {short_spin_ns}ns, ")?;
                }
                let last = match wait_config.park {
                    true => "sleep",
                    false => "begin again",
                };
                write!(f, "yield {}ns, then {last}", wait_config.yield_ns)
            }
        }
    }
}

/// The error for a text that names no way to wait.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no way to wait is called {text:?}: take spin, balanced, park, or the time that a wait may use a CPU before it sleeps, such as 20us, up to 4s"
)]
pub struct WaitingError {
    /// The text.
    pub text: String,
}

impl FromStr for Waiting {
    type Err = WaitingError;

    fn from_str(text: &str) -> Result<Self, WaitingError> {
        let error = || WaitingError {
            text: text.to_owned(),
        };
        let word = text.trim().to_ascii_lowercase();
        match word.as_str() {
            "spin" => return Ok(Self::Spin),
            "balanced" => return Ok(Self::Balanced),
            "park" => return Ok(Self::Park),
            _ => {}
        }
        let unit = word
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(word.len());
        let (number, unit) = word.split_at(unit);
        let ns: u32 = match unit {
            "" | "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return Err(error()),
        };
        let number: u32 = number.parse().map_err(|_| error())?;
        number.checked_mul(ns).map(Self::Budget).ok_or_else(error)
    }
}

/// The wait strategy that `CORECAST_WAIT` asks for; `None` if it is not set or empty.
///
/// # Errors
///
/// [`WaitingError`] for a value that names no way to wait.
pub(crate) fn of_environment() -> Result<Option<Waiting>, WaitingError> {
    match std::env::var_os(WAIT) {
        None => Ok(None),
        Some(text) if text.is_empty() => Ok(None),
        Some(text) => text.to_string_lossy().parse().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_times_are_read_back() {
        for waiting in [
            Waiting::Spin,
            Waiting::Balanced,
            Waiting::Park,
            Waiting::Budget(0),
            Waiting::Budget(4_000_000_000),
        ] {
            assert_eq!(waiting.to_string().parse(), Ok(waiting));
        }
        assert_eq!(" SPIN ".parse(), Ok(Waiting::Spin));
        assert_eq!("4s".parse(), Ok(Waiting::Budget(4_000_000_000)));
        assert_eq!("3ms".parse(), Ok(Waiting::Budget(3_000_000)));
        for wrong in [
            "",
            "5s",
            "-1",
            "1.5us",
            "us",
            "20 us",
            "for ever",
            "99999999999",
        ] {
            assert!(wrong.parse::<Waiting>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_budget_is_all_that_a_wait_uses() {
        let balanced = WaitConfig::BALANCED;
        for ns in [0, 1, balanced.spin_ns, 50_000] {
            let (wait_config, _) = Waiting::Budget(ns).applied(balanced).unwrap();
            assert_eq!(wait_config.spin_ns + wait_config.yield_ns, ns);
            assert!(wait_config.park && wait_config.spin_ns <= balanced.spin_ns);
        }
        let umwait = WaitConfig {
            spin_ns: 800,
            hardware_ns: 2_400,
            ..balanced
        };
        for (ns, phases) in [
            (500, (500, 0, 0)),
            (1_000, (800, 200, 0)),
            (9_000, (800, 2_400, 5_800)),
        ] {
            let (found, _) = Waiting::Budget(ns).applied(umwait).unwrap();
            assert_eq!((found.spin_ns, found.hardware_ns, found.yield_ns), phases);
        }
        let (oversubscribed, _) = Waiting::Budget(50_000)
            .applied(WaitConfig::OVERSUBSCRIBED)
            .unwrap();
        let soon_ns = WaitConfig::OVERSUBSCRIBED.soon_ns;
        assert_eq!(
            (
                oversubscribed.spin_ns,
                oversubscribed.soon_ns,
                oversubscribed.yield_ns
            ),
            (0, soon_ns, 50_000 - soon_ns)
        );
        assert_eq!(Waiting::Balanced.applied(balanced), None);
    }

    #[test]
    fn phases_are_told_in_their_order() {
        let exact = WaitConfig {
            soon_ns: 1_300,
            yield_ns: 50_000,
            ..WaitConfig::OVERSUBSCRIBED
        };
        assert_eq!(
            Waiting::Exactly(exact).to_string(),
            "spin 0ns, where that has ended waits spin 1300ns, yield 50000ns, then sleep"
        );
        let spins = WaitConfig {
            spin_ns: 7,
            hardware_ns: 0,
            ..exact
        };
        assert_eq!(
            Waiting::Exactly(spins).to_string(),
            "spin 7ns, yield 50000ns, then sleep"
        );
    }
}
