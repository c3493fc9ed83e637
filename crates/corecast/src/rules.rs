//! The rules by which a team chooses the algorithm of an operation at each length.
//!
//! ```text
//! asked for by the program ──► by CORECAST_ALGO ──► tuned for this team, or one like it ──► built-in choice
//! ```
//!
//! This order holds for each operation and each range of lengths by itself: where one source names no
//! algorithm, the next one decides.

#[cfg(test)]
mod tests;

use corecast_collectives::preferences::{NamedRange, UnknownOperation};
use corecast_collectives::{Algorithms, preferences as algorithms};
use corecast_machine::Discovery;
use corecast_model::Collective;
use corecast_model::profile::{Circumstances, TunedRange, Tuning};
use corecast_team::KernelCopies;
use serde::Serialize;

use crate::choose::Races;
use crate::error::Error;

pub use crate::fit::Fit;
use crate::fit::Fitting;

/// The environment variable that asks for algorithms.
pub const CORECAST_ALGO: &str = "CORECAST_ALGO";

/// The source that asked for an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskedBy {
    /// The program, by [`Builder::algorithms`](crate::Builder::algorithms).
    Program,
    /// The environment, by [`CORECAST_ALGO`].
    Environment,
    /// A stored tuning that fits this team, see [`Rules::source`].
    Profile,
    /// No source: Corecast chooses by length and links.
    BuiltIn,
}

/// The rule of an operation at one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule<'a> {
    /// The algorithm's name; `None` for the built-in choice.
    pub algorithm: Option<&'static str>,
    /// The source that asked for it.
    pub by: AskedBy,
    /// The range of the tuning that holds this length, if one fits the team, even where it did not
    /// decide.
    pub tuned: Option<&'a TunedRange>,
}

/// The algorithms of a team by length, and where they come from.
///
/// # Examples
///
/// ```
/// use corecast::rules::{AskedBy, Rules};
///
/// let mut asked = corecast::Algorithms::default();
/// asked.ask("allreduce", &[(4096, Some("doubling"))])?;
/// let rules = Rules::new(asked, "allreduce=ring;scan=chain".parse()?)?;
/// let rule = rules.at("allreduce", 4096)?;
/// assert_eq!((rule.algorithm, rule.by), (Some("doubling"), AskedBy::Program));
/// let rule = rules.at("allreduce", 4097)?;
/// assert_eq!((rule.algorithm, rule.by), (Some("ring"), AskedBy::Environment));
/// assert_eq!(rules.at("gather", 8)?.by, AskedBy::BuiltIn);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    program: Algorithms,
    environment: Algorithms,
    profile: Algorithms,
    tuning: Option<Tuning>,
    source: String,
    all: Algorithms,
}

/// The algorithms that [`CORECAST_ALGO`] asks for; none if it is not set.
///
/// # Errors
///
/// [`Error::Environment`], which quotes the part that cannot be read.
pub fn environment() -> Result<Algorithms, Error> {
    let Some(value) = std::env::var_os(CORECAST_ALGO) else {
        return Ok(Algorithms::default());
    };
    let value = value.to_string_lossy();
    value.parse().map_err(|reason| Error::Environment {
        variable: CORECAST_ALGO,
        value: value.clone().into_owned(),
        reason,
    })
}

/// The circumstances that a tuning must match beside its team: microcode, cpuset, and the edition of the
/// algorithms.
pub fn circumstances(here: &Discovery) -> Circumstances {
    Circumstances {
        microcode: here.microcode.clone(),
        cpuset: here.usable.to_string(),
        edition: algorithms::edition(),
    }
}

impl Rules {
    /// The rules that the program and the environment ask for, without a tuning.
    ///
    /// # Errors
    ///
    /// [`Error::Ranges`], where both together have too many ranges of lengths.
    pub fn new(program: Algorithms, environment: Algorithms) -> Result<Self, Error> {
        let both = program.or(&environment);
        let all = both.map_err(|(operation, error)| Error::Ranges { operation, error })?;
        Ok(Self {
            program,
            environment,
            profile: Algorithms::default(),
            tuning: None,
            source: "none: nothing was looked for".to_owned(),
            all,
        })
    }

    /// Lets a team choose by this n½ of its machine, [`half_bytes`](crate::costs::half_bytes), where no algorithm is asked for.
    #[must_use]
    pub fn with_half_bytes(mut self, half_bytes: Option<usize>) -> Self {
        self.all.half_bytes = half_bytes;
        self
    }

    /// Adds the tuning that `races` have for a team, or for one like it: of the same kind of ranks, which share PUs as well or
    /// do not either, and up to four times as many or as few. Of a similar team only operations with data are taken.
    #[must_use]
    pub fn with_tuning(mut self, races: &Races, fit: &Fit<'_>, now: &Circumstances) -> Self {
        match races.tuning(fit, now) {
            Ok(fitting) => {
                let (tuning, raced_by) = match fitting {
                    Fitting::Exact(tuning) => (tuning.clone(), String::new()),
                    Fitting::Near(tuning) => {
                        let team = Fit::of_tuning(tuning).to_string();
                        let raced_by = format!(" by {team} the nearest that was tuned");
                        (for_similar(tuning.clone()), raced_by)
                    }
                };
                let started = match tuning.synchronisation == fit.start {
                    true => String::new(),
                    false => format!(", {} as nothing else was tuned", tuning.synchronisation),
                };
                let (file, created) = (races.file(), &tuning.created);
                self.source = format!("{file}, tuned {created}{raced_by}{started}");
                match named(&tuning) {
                    Ok(profile) => self.apply(profile, tuning),
                    Err(reason) => {
                        self.source = format!("none: {} cannot be used: {reason}", races.file());
                    }
                }
            }
            Err(reason) => self.source = format!("none: {reason}"),
        }
        self
    }

    fn apply(&mut self, mut profile: Algorithms, tuning: Tuning) {
        loop {
            match self.all.or(&profile) {
                Ok(all) => {
                    self.all = all;
                    break;
                }
                Err((operation, _)) => {
                    self.source += &format!(
                        "; not for {operation}, of which too many ranges are asked for already"
                    );
                    let asked = profile.ask(operation, &[]);
                    asked.expect("an operation of this table");
                }
            }
        }
        self.profile = profile;
        self.tuning = Some(tuning);
    }

    /// The algorithms of all sources together, as a team is made with them.
    pub fn algorithms(&self) -> &Algorithms {
        &self.all
    }

    /// The tuning that fits the team.
    pub fn tuning(&self) -> Option<&Tuning> {
        self.tuning.as_ref()
    }

    /// From which length on the kernel copies data between processes by the tuning; `None` where that was not raced.
    pub fn kernel_copies(&self) -> Option<KernelCopies> {
        let bytes = usize::try_from(self.tuning()?.kernel_copies_from?);
        Some(bytes.map_or(KernelCopies::Never, KernelCopies::of_bytes))
    }

    /// Where the tuning comes from, or why there is none.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The rule for an operation whose blocks have `bytes`.
    ///
    /// # Errors
    ///
    /// [`UnknownOperation`].
    pub fn at(&self, operation: &str, bytes: usize) -> Result<Rule<'_>, UnknownOperation> {
        let tuned = self.tuning.as_ref().and_then(|t| t.operation(operation));
        let tuned = tuned.map(|tuned| tuned.at(bytes as u64));
        let by = |asked: &Algorithms, by| Ok(asked.asked(operation, bytes)?.map(|name| (name, by)));
        let found = by(&self.program, AskedBy::Program)?
            .or(by(&self.environment, AskedBy::Environment)?)
            .or(by(&self.profile, AskedBy::Profile)?);
        let nobody = match tuned {
            // The race found nothing faster than the built-in choice.
            Some(range) if range.algorithm.is_none() => AskedBy::Profile,
            _ => AskedBy::BuiltIn,
        };
        Ok(Rule {
            algorithm: found.map(|found| found.0),
            by: found.map_or(nobody, |found| found.1),
            tuned,
        })
    }

    /// One sentence for each source that asks for algorithms.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let asked = [
            ("the program", &self.program),
            (CORECAST_ALGO, &self.environment),
            ("the tuning", &self.profile),
        ];
        let asked = asked.into_iter().filter(|(_, asked)| !asked.is_empty());
        asked
            .map(|(by, asked)| format!("{asked} (asked for by {by})"))
            .collect()
    }
}

/// How far data go whole, or with those of others, in a team of `ranks`, of which up to `sharing` share a hardware thread, and why,
/// in a sentence; `None` for two ranks, where the length of messages decides.
///
/// # Examples
///
/// ```
/// let mut asked = corecast::Algorithms::default();
/// asked.half_bytes = Some(2048);
/// let said = corecast::rules::rounds(&asked, 4, 1).unwrap();
/// assert!(said.contains("below 8192 bytes") && said.contains("n½ of 2048 bytes, as the probe measured"));
/// let shared = corecast::rules::rounds(&asked, 8, 4).unwrap();
/// assert!(shared.contains("allreductions pass all data along trees up to 28672 bytes, and allgathers of blocks below 3949 bytes"));
/// let few = corecast::rules::rounds(&asked, 4, 2).unwrap();
/// assert!(few.contains("allreductions give all data to all ranks below 4778 bytes and pass all data along trees up to 12288"));
/// ```
pub fn rounds(asked: &Algorithms, ranks: usize, sharing: usize) -> Option<String> {
    let limits = asked.limits(ranks, sharing);
    if ranks <= 2 {
        return None;
    }
    let half = asked.half_bytes_or_assumed(sharing);
    let half = match asked.half_bytes {
        Some(_) => format!("{half} bytes, as the probe measured"),
        None => format!("{half} bytes, which was not measured here (see corecast probe)"),
    };
    let how = match limits.concurrent {
        true => format!(
            "exchange all data in every round below {} bytes, and blocks travel with those of others below {}",
            limits.whole, limits.together
        ),
        false => {
            let trees = format!("pass all data along trees up to {} bytes", limits.whole);
            let whole = match limits.direct {
                0 => trees,
                bytes => format!("give all data to all ranks below {bytes} bytes and {trees}"),
            };
            match limits.gathered {
                0 => whole,
                bytes => format!(
                    "{whole}, and allgathers of blocks below {bytes} bytes gather and broadcast them"
                ),
            }
        }
    };
    Some(format!(
        "where nothing is asked for, allreductions {how}, by an n½ of {half}"
    ))
}

/// How long data are cut in a team of `ranks` whose threads share hardware threads, up to `sharing` each, and why, in a sentence;
/// `None` where none do, or where lending `copies` the data, as all pipeline segments have one length there.
///
/// # Examples
///
/// ```
/// let mut asked = corecast::Algorithms::default();
/// asked.half_bytes = Some(8192);
/// let said = corecast::rules::segments(&asked, 128, 2, false).unwrap();
/// assert!(said.contains("broadcasts and reductions of 1 MiB go in segments of 82897 bytes"), "{said}");
/// let crowd = corecast::rules::segments(&asked, 8, 4, false).unwrap();
/// assert!(crowd.contains("broadcasts and reductions go whole"), "{crowd}");
/// assert_eq!(corecast::rules::segments(&asked, 8, 1, false), None);
/// ```
pub fn segments(asked: &Algorithms, ranks: usize, sharing: usize, copies: bool) -> Option<String> {
    const LONG: usize = 1 << 20;
    let model = asked.segments(sharing, copies)?;
    let half = asked.half_bytes_or_assumed(sharing);
    let of = |best| match best {
        Some(bytes) => format!("of 1 MiB go in segments of {bytes} bytes"),
        None => "go whole".to_owned(),
    };
    let [tree, chain] = [model.of_tree(LONG, ranks), model.of_chain(LONG, ranks)].map(of);
    Some(format!(
        "where nothing is asked for, broadcasts and reductions {tree}, and scans {chain}: √(length · k · n½ / (levels / k − 1)) \
         with an n½ of {half} bytes and up to k = {sharing} ranks on a hardware thread, or whole where the levels are no more \
         than k"
    ))
}

/// The tuning for a team that is only similar: how ranks wait depends on how many there are, and which barrier is best on
/// the tree that was raced as well.
fn for_similar(mut tuning: Tuning) -> Tuning {
    tuning.waits = None;
    tuning
        .operations
        .retain(|one| one.operation != Collective::Barrier.name());
    tuning
}

fn named_range(range: &TunedRange) -> NamedRange<'_> {
    let end = range.up_to_bytes.and_then(|end| usize::try_from(end).ok());
    (end.unwrap_or(usize::MAX), range.algorithm.as_deref())
}

/// The algorithms of a tuning; an error where it names an unknown one.
fn named(tuning: &Tuning) -> Result<Algorithms, algorithms::SelectionError> {
    let mut asked = Algorithms::default();
    for operation in &tuning.operations {
        let ranges: Vec<_> = operation.ranges.iter().map(named_range).collect();
        asked.ask(&operation.operation, &ranges)?;
    }
    Ok(asked)
}
