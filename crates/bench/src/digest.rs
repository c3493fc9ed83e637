//! Summaries of several races: duels, curves, predictions, and absent entrants.

use corecast_model::words::{bytes as bytes_text, count};

use crate::comparison::{EntryReport, Report};
use crate::engine::Role;
use crate::stats::Ratio;

/// Corecast against the fastest peer in one race.
#[derive(Clone, Debug)]
pub struct Duel {
    /// What was raced.
    pub what: String,
    /// Corecast's fastest entry.
    pub ours: Fastest,
    /// The fastest peer.
    pub peer: Option<Fastest>,
    /// The fastest floor.
    pub floor: Option<Fastest>,
    /// How many times as long Corecast takes as that peer, and both ends of the interval.
    pub to_peer: Option<[f64; 3]>,
    /// How many times as long Corecast takes as the floor, and both ends of the interval.
    pub to_floor: Option<[f64; 3]>,
}

/// The fastest entry of a role.
#[derive(Clone, Debug)]
pub struct Fastest {
    /// Its name.
    pub name: String,
    /// Its setting.
    pub setting: String,
    /// Its median, in nanoseconds per operation.
    pub ns: f64,
}

/// The times that models predict and the time measured, in nanoseconds per operation.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// What was raced.
    pub what: String,
    /// Name of the entry.
    pub name: String,
    /// Lower bound of the symbolic model.
    pub t_min: Option<f64>,
    /// Upper bound of the symbolic model.
    pub t_max: Option<f64>,
    /// The simulated machine's time.
    pub simulated: Option<f64>,
    /// The median of the race.
    pub measured: f64,
}

/// The times of one contestant.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name, whatever its setting.
    pub name: String,
    /// Role of the contestant.
    pub role: Role,
    /// Points in order of x: the median and both ends of its interval, in nanoseconds.
    pub points: Vec<(f64, [f64; 3])>,
}

/// The operation of a race and the bytes of a block, which are 0 for barriers.
pub fn kind(race: &Report) -> (&str, usize) {
    match (&race.operation, race.bytes) {
        (Some(operation), bytes) => (operation, bytes.unwrap_or(0)),
        (None, _) => (&race.title, 0),
    }
}

/// What was raced, in words.
pub fn what(race: &Report) -> String {
    let (operation, bytes) = kind(race);
    let ranks = count(race.ranks, "rank");
    let place = match (race.oversubscribed, race.placements.as_str()) {
        (true, _) => ", sharing threads",
        (_, "any") => ", unpinned",
        _ => "",
    };
    match bytes {
        0 => format!("{operation}, {ranks}{place}"),
        _ => format!(
            "{operation} of {}, {ranks}{place}",
            bytes_text(bytes as u64)
        ),
    }
}

fn median(entry: &EntryReport) -> Option<f64> {
    Some(entry.ns_per_op.as_ref()?.median)
}

/// The fastest entry of those that `belongs` picks.
fn fastest(race: &Report, belongs: impl Fn(&EntryReport) -> bool) -> Option<&EntryReport> {
    let timed = race
        .entries
        .iter()
        .filter(|entry| belongs(entry) && median(entry).is_some());
    timed.min_by(|a, b| f64::total_cmp(&median(a).unwrap_or(0.0), &median(b).unwrap_or(0.0)))
}

/// Compares Corecast with the fastest peer and the fastest floor; `None` where Corecast was not
/// timed.
pub fn duel(race: &Report) -> Option<Duel> {
    let of = |role: Role| {
        let entry = fastest(race, |entry| entry.role == role)?;
        let fastest = Fastest {
            name: entry.name.clone(),
            setting: entry.setting.clone(),
            ns: median(entry)?,
        };
        Some((entry, fastest))
    };
    let (entry, ours) = of(Role::Corecast)?;
    let interval = |ratio: &Option<Ratio>| {
        let ratio = ratio.as_ref()?;
        Some([ratio.median, ratio.interval.low, ratio.interval.high])
    };
    Some(Duel {
        what: what(race),
        ours,
        peer: of(Role::Peer).map(|(_, fastest)| fastest),
        floor: of(Role::Floor).map(|(_, fastest)| fastest),
        to_peer: interval(&entry.ratio_to_best_peer),
        to_floor: interval(&entry.ratio_to_floor),
    })
}

/// Returns a curve for each contestant over the number given with each race, such as bytes or
/// ranks.
///
/// Corecast comes first, then the floor, then the others.
pub fn curves<'r>(races: impl Iterator<Item = (f64, &'r Report)>) -> Vec<Curve> {
    let mut all: Vec<Curve> = Vec::new();
    for (x, race) in races {
        let mut names: Vec<(Role, String)> = race.entries.iter().map(group).collect();
        names.sort_by(|a, b| (order(a.0), &a.1).cmp(&(order(b.0), &b.1)));
        names.dedup();
        for (role, name) in names {
            let Some(entry) = fastest(race, |entry| group(entry) == (role, name.clone())) else {
                continue;
            };
            let Some(found) = &entry.ns_per_op else {
                continue;
            };
            let interval = found.interval;
            let point = (x, [found.median, interval.low, interval.high]);
            match all.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(point),
                None => all.push(Curve {
                    name,
                    role,
                    points: vec![point],
                }),
            }
        }
    }
    for curve in &mut all {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all.sort_by_key(|curve| order(curve.role));
    all
}

fn order(role: Role) -> u8 {
    match role {
        Role::Corecast => 0,
        Role::Floor => 1,
        Role::Peer => 2,
    }
}

/// Role and name of the curve that an entry belongs to.
fn group(entry: &EntryReport) -> (Role, String) {
    let name = match entry.role {
        Role::Corecast if entry.setting.starts_with("processes") => "Corecast, processes",
        Role::Corecast => "Corecast, threads",
        Role::Floor => "floor",
        Role::Peer => entry.name.as_str(),
    };
    (entry.role, name.to_owned())
}

/// The predictions for those of Corecast's entries that have one and were timed.
pub fn predictions(race: &Report) -> Vec<Prediction> {
    let own = race
        .entries
        .iter()
        .filter(|entry| entry.role == Role::Corecast);
    own.filter_map(|entry| {
        let forecast = entry.forecast;
        let simulated = forecast
            .map(|times| times.simulated_ns)
            .or(entry.predicted_ns);
        simulated?;
        Some(Prediction {
            what: what(race),
            name: entry.name.clone(),
            t_min: forecast.and_then(|times| times.t_min_ns),
            t_max: forecast.and_then(|times| times.t_max_ns),
            simulated,
            measured: median(entry)?,
        })
    })
    .collect()
}

/// Entrants that were skipped or failed, with the reason, each sentence once.
pub fn absent(races: &[Report]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in races.iter().flat_map(|race| &race.entries) {
        if let Some(reason) = &entry.reason {
            let sentence = format!(
                "{}, {}: {} ({reason})",
                entry.name, entry.setting, entry.status
            );
            if !all.contains(&sentence) {
                all.push(sentence);
            }
        }
    }
    all
}
