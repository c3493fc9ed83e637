//! The record of waits: how long a program's ranks and threads waited, and where. A team that records gives one
//! ([`Team::record`](crate::Team::record)). The program's library for OpenMP, and the library itself where the environment
//! asks for it, write one at the end of each process, and `corecast run --explain` reads them.

use corecast_model::Collective;
use corecast_model::words::time;
use corecast_wire::objects;
use serde::{Deserialize, Serialize};
use std::ffi::c_void;
use std::fmt::{self, Write};
use std::ops::AddAssign;
use std::path::PathBuf;
use std::str::FromStr;

/// The variable that names the folder for records; each process writes `NUMBER.json` there about its threads of OpenMP,
/// and `NUMBER-teams.json` about its teams.
pub const FOLDER: &str = "CORECAST_EXPLAIN";
/// The version of [`Record`]'s form.
pub const SCHEMA: u32 = 2;

/// The folder for records, if the environment asks for them.
pub fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty());
    folder.map(PathBuf::from)
}

/// The waits of a team, or of a process. As text it is a table, the longest waits first.
///
/// # Examples
///
/// ```
/// use corecast::record::Record;
/// let text = r#"{"schema":2,"program":"/bin/solve","process":7,"seconds":1.5,"threads":2,"in_regions_ns":2000,
///     "objects":[{"path":"/bin/solve","base":4096}],
///     "waits":[{"object":0,"address":5000,"kind":"barrier","times":2,"own":2,"imbalance_ns":900,"mechanism_ns":100,
///               "longest_ns":600},
///              {"file":"src/solve.rs","line":7,"column":12,"rank":1,"kind":"allreduce","times":1,"own":1,
///               "imbalance_ns":0,"mechanism_ns":300,"longest_ns":300}]}"#;
/// let record: Record = serde_json::from_str(text)?;
/// assert_eq!(record.waits[0].sums.time_ns(), 1000);
/// assert_eq!(record.waits[1].place.to_string(), "src/solve.rs:7:12");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The program's file.
    pub program: String,
    /// The number of its process.
    pub process: u32,
    /// Seconds from the start of the process, or from its first team, to its end; for a team from when it was made.
    pub seconds: f64,
    /// The largest number of threads in one region, or of ranks of this process in one team.
    pub threads: usize,
    /// Nanoseconds in regions, of all their threads together, and of all ranks from joining until they have left. Of a
    /// process's teams the time of a thread counts once, in however many teams it is at the same time.
    pub in_regions_ns: u64,
    /// Files that contain the addresses of waits.
    pub objects: Vec<Object>,
    /// One entry for each place and kind, in no particular order.
    pub waits: Vec<Wait>,
}

/// A program or library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its file, as the loader names it.
    pub path: String,
    /// The address at which it was loaded.
    pub base: u64,
}

impl Object {
    /// The object of this process that has this address.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast::record::Object;
    ///
    /// let here = Object::of(Object::of as *const std::ffi::c_void).expect("code is in an object");
    /// assert_eq!(std::path::Path::new(&here.path), std::env::current_exe()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn of(address: *const c_void) -> Option<Self> {
        let (span, path) = objects::find(address)?;
        let path = match path.is_empty() {
            true => program(),
            false => path.to_string_lossy().into(),
        };
        Some(Self {
            path,
            base: span.low as u64,
        })
    }
}

/// The file of this program.
pub(crate) fn program() -> String {
    let program = std::env::current_exe();
    program.map_or_else(|_| "unknown".into(), |path| path.to_string_lossy().into())
}

/// All waits at one place of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The place.
    #[serde(flatten)]
    pub place: Place,
    /// The construct or operation that waited.
    pub kind: Kind,
    /// The number of waits and their times.
    #[serde(flatten)]
    pub sums: Sums,
}

/// A place of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// A call of a member of a team.
    Call {
        /// The source file, as the compiler names it.
        file: String,
        /// The line in it, from 1.
        line: u32,
        /// The column in it, from 1.
        column: u32,
        /// The rank of the member.
        rank: usize,
    },
    /// A construct of OpenMP, or a call of MPI.
    Code {
        /// Position in [`Record::objects`]; none if the address is in no file.
        object: Option<usize>,
        /// The address to which the barrier or the call returns. For the end of a region it is where the region's code begins,
        /// and for a barrier right before that end one byte behind.
        address: u64,
        /// The rank that called, of MPI: that of the process among all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rank: Option<usize>,
    },
}

impl Place {
    /// The rank that called; `None` for constructs of OpenMP.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::Call { rank, .. } => Some(*rank),
            Self::Code { rank, .. } => *rank,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call {
                file, line, column, ..
            } => write!(f, "{file}:{line}:{column}"),
            Self::Code { address, .. } => write!(f, "{address:#x}"),
        }
    }
}

/// Sums over waits. Each wait is split or not, so the time in all of them is that of the three parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Number of waits: each thread has one at each barrier, each rank one at each operation.
    pub times: u64,
    /// Number of waits at Corecast's barriers and operations.
    pub own: u64,
    /// Sum over threads of the time from the thread's arrival to the last arrival that it depends on.
    pub imbalance_ns: u64,
    /// Sum over threads of the time from that arrival until the thread leaves; at a region's end only the first thread
    /// counts.
    pub mechanism_ns: u64,
    /// Number of waits that are not split, see [`Team::record`](crate::Team::record); 0 for OpenMP.
    #[serde(default)]
    pub unsplit: u64,
    /// The time of waits that are not split.
    #[serde(default)]
    pub unsplit_ns: u64,
    /// The longest wait.
    pub longest_ns: u64,
}

impl Sums {
    /// The sums of one wait.
    pub fn of(is_own: bool, imbalance_ns: u64, mechanism_ns: u64) -> Self {
        Self {
            times: 1,
            own: u64::from(is_own),
            imbalance_ns,
            mechanism_ns,
            longest_ns: imbalance_ns + mechanism_ns,
            ..Self::default()
        }
    }

    /// The sums of one wait that is not split.
    pub fn whole(is_own: bool, ns: u64) -> Self {
        Self {
            times: 1,
            own: u64::from(is_own),
            unsplit: 1,
            unsplit_ns: ns,
            longest_ns: ns,
            ..Self::default()
        }
    }

    /// The time of all waits.
    pub fn time_ns(&self) -> u64 {
        self.imbalance_ns + self.mechanism_ns + self.unsplit_ns
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.times += other.times;
        self.own += other.own;
        self.imbalance_ns += other.imbalance_ns;
        self.mechanism_ns += other.mechanism_ns;
        self.unsplit += other.unsplit;
        self.unsplit_ns += other.unsplit_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// The construct or operation that threads waited at. In JSON it is its [`name`](Self::name).
///
/// # Examples
///
/// ```
/// use corecast::record::Kind;
///
/// assert_eq!("barrier".parse(), Ok(Kind::BARRIER));
/// assert_eq!(Kind::For.name(), "for");
/// assert_eq!(Kind::For.to_string(), "end of for");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Kind {
    /// An operation of a team that blocks. A barrier may also be one of OpenMP; with GNU OpenMP it may be the end of a
    /// static `for`, of `single` and of `scope`.
    Operation(Collective),
    /// The start of an operation in flight, which waits where too many are in flight.
    Start(Collective),
    /// A wait for operations in flight.
    Wait,
    /// The end of `for`.
    For,
    /// The end of `sections`.
    Sections,
    /// The end of `single`.
    Single,
    /// The end of a region.
    Region,
}

impl Kind {
    /// A barrier.
    pub const BARRIER: Self = Self::Operation(Collective::Barrier);

    /// The kinds that are no collectives.
    const OTHERS: [Self; 5] = [
        Self::Wait,
        Self::For,
        Self::Sections,
        Self::Single,
        Self::Region,
    ];

    /// The name, such as `allreduce`, `start-allreduce` or `region`.
    pub fn name(self) -> String {
        match self {
            Self::Operation(operation) => operation.name().to_owned(),
            Self::Start(operation) => format!("start-{operation}"),
            Self::Wait => "wait".to_owned(),
            Self::For => "for".to_owned(),
            Self::Sections => "sections".to_owned(),
            Self::Single => "single".to_owned(),
            Self::Region => "region".to_owned(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(operation) => operation.fmt(f),
            Self::Start(operation) => write!(f, "start of {operation}"),
            Self::Wait => f.write_str("wait in flight"),
            Self::Region => f.write_str("end of parallel"),
            other => write!(f, "end of {}", other.name()),
        }
    }
}

/// The text is the name of no construct or operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no construct or operation that waits: use a name such as barrier, allreduce or for"
)]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        if let Some(other) = Self::OTHERS.into_iter().find(|kind| kind.name() == name) {
            return Ok(other);
        }
        let (kind, operation): (fn(Collective) -> Self, _) = match name.strip_prefix("start-") {
            Some(operation) => (Self::Start, operation),
            None => (Self::Operation, name),
        };
        let operation = operation.parse().map(kind);
        operation.map_err(|_| UnknownKind(name.to_owned()))
    }
}

impl TryFrom<String> for Kind {
    type Error = UnknownKind;

    fn try_from(name: String) -> Result<Self, UnknownKind> {
        name.parse()
    }
}

impl From<Kind> for String {
    fn from(kind: Kind) -> Self {
        kind.name()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = [
            "where",
            "what",
            "rank",
            "calls",
            "time",
            "imbalance",
            "mechanism",
            "not split",
            "longest",
        ];
        let mut waits: Vec<&Wait> = self.waits.iter().collect();
        waits.sort_by_key(|wait| std::cmp::Reverse(wait.sums.time_ns()));
        let rows: Vec<[String; 9]> = waits.into_iter().map(row).collect();
        let mut widths = head.map(str::len);
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |f: &mut fmt::Formatter<'_>, cells: [&str; 9]| {
            let mut text = String::new();
            for (column, (cell, width)) in cells.into_iter().zip(widths).enumerate() {
                // Names begin at the left, numbers end at the right.
                match column < 2 {
                    true => write!(text, "{cell:width$}  ")?,
                    false => write!(text, "{cell:>width$}  ")?,
                }
            }
            f.write_str(text.trim_end())
        };
        line(f, head)?;
        for row in &rows {
            f.write_char('\n')?;
            line(f, row.each_ref().map(String::as_str))?;
        }
        Ok(())
    }
}

fn row(wait: &Wait) -> [String; 9] {
    let Sums {
        times,
        imbalance_ns,
        mechanism_ns,
        unsplit,
        unsplit_ns,
        longest_ns,
        ..
    } = wait.sums;
    let short = |ns: u64| time(ns as f64);
    [
        wait.place.to_string(),
        wait.kind.to_string(),
        match wait.place {
            Place::Call { rank, .. } => rank.to_string(),
            Place::Code { rank, .. } => {
                rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string())
            }
        },
        times.to_string(),
        short(wait.sums.time_ns()),
        short(imbalance_ns),
        short(mechanism_ns),
        match unsplit {
            0 => "–".to_owned(),
            calls => format!("{calls} in {}", short(unsplit_ns)),
        },
        short(longest_ns),
    ]
}

#[cfg(test)]
mod tests;
