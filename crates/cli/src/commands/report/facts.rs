//! What a page shows: figures and tables, from the data alone.

use anyhow::Result;
use corecast::choose::{Preferences, Races, choose_all};
use corecast_bench::Role;
use corecast_bench::comparison::{EntryReport, Report};
use corecast_draw::plan::Drawing;
use corecast_model::{Machine, MachineFile};

use super::data::Data;
use crate::planning::{Team, Timed};
use crate::source::CostBasis;
use corecast_draw::Screen;
use corecast_draw::deep;
use corecast_draw::machine::{self, nest};
use corecast_draw::matrix::{self, Grid};
use corecast_draw::plot::{self, Bar, Point, Series};
use corecast_draw::{OTHERS, OURS, REFERENCE, Rgb};
use corecast_model::words::{bytes as bytes_text, count};

/// Most members whose trees are drawn: with more, a page is no place for them.
const DRAWN_MEMBERS_MAX: usize = 128;

/// Where on the page something belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Peers,
    Sizes,
    Ranks,
    Predictions,
    Plans,
    Costs,
    Machine,
}

/// A picture.
pub(super) struct Figure {
    pub(super) part: Part,
    /// What its file is called, after the machine.
    pub(super) name: String,
    /// What it shows, in a sentence.
    pub(super) caption: String,
    pub(super) svg: String,
}

/// Corecast against the fastest peer in one race.
pub(super) struct Duel {
    pub(super) what: String,
    pub(super) ours: Fastest,
    pub(super) peer: Option<Fastest>,
    pub(super) floor: Option<Fastest>,
    /// Times as long as that peer, with the interval.
    pub(super) to_peer: Option<[f64; 3]>,
    pub(super) to_floor: Option<[f64; 3]>,
}

/// The fastest setting of somebody.
#[derive(Clone)]
pub(super) struct Fastest {
    pub(super) name: String,
    pub(super) setting: String,
    pub(super) ns: f64,
}

/// What models said, and what was measured, in nanoseconds.
pub(super) struct Prediction {
    pub(super) what: String,
    pub(super) name: String,
    pub(super) t_min: Option<f64>,
    pub(super) t_max: Option<f64>,
    pub(super) simulated: Option<f64>,
    pub(super) measured: f64,
}

/// All of it.
pub(super) struct Facts<'a> {
    pub(super) data: &'a Data,
    pub(super) name: String,
    /// The machine in rows.
    pub(super) machine: Vec<(&'static str, String)>,
    pub(super) figures: Vec<Figure>,
    pub(super) duels: Vec<Duel>,
    pub(super) predictions: Vec<Prediction>,
    /// Why each plan would run.
    pub(super) reasons: Vec<String>,
    /// The measurement in depth, as tables for fixed-width type.
    pub(super) depth: Option<String>,
    /// Whoever did not take part, and why, each sentence once.
    pub(super) absent: Vec<String>,
}

impl<'a> Facts<'a> {
    /// Those of `data`.
    ///
    /// # Errors
    ///
    /// Costs of which no plan can be made.
    pub(super) fn of(data: &'a Data) -> Result<Self> {
        let file = &data.machine;
        let machine = file.machine();
        let mut facts = Self {
            data,
            name: machine.name.clone(),
            machine: rows(machine, data.costs),
            figures: Vec::new(),
            duels: data.comparisons.iter().filter_map(duel).collect(),
            predictions: data.comparisons.iter().flat_map(predictions).collect(),
            reasons: Vec::new(),
            depth: None,
            absent: absent(&data.comparisons),
        };
        facts.races();
        facts.plans(file)?;
        facts.costs(file);
        let memory = Default::default();
        facts.add(
            Part::Machine,
            "machine",
            "packages, NUMA nodes, caches, cores and hardware threads",
            machine::svg(&nest(machine, &memory), &[]),
        );
        let depth = file.deep().filter(|deep| !deep.latencies.is_empty());
        facts.depth = depth.map(|deep| deep::text(&machine.name, deep, true, Screen::PLAIN));
        Ok(facts)
    }

    fn add(&mut self, part: Part, name: &str, caption: &str, svg: String) {
        self.figures.push(Figure {
            part,
            name: name.to_owned(),
            caption: caption.to_owned(),
            // A declaration of XML has no place inside of a page.
            svg: svg.trim_start_matches(|c| c != '<').to_owned(),
        });
    }

    /// Pictures of what was raced.
    fn races(&mut self) {
        let data = self.data;
        let bars: Vec<Bar> = self.duels.iter().filter_map(bar).collect();
        if !bars.is_empty() {
            let picture = plot::bars("times as long as the fastest peer", &bars);
            let caption = "Corecast's fastest setting in times of the fastest setting of all peers, round by \
                           round, with 95 % intervals: below 1 Corecast is faster";
            self.add(Part::Peers, "peers", caption, picture);
        }
        let mut operations: Vec<&str> = Vec::new();
        let named = data
            .comparisons
            .iter()
            .filter_map(|race| race.operation.as_deref());
        for operation in named {
            if !operations.contains(&operation) {
                operations.push(operation);
            }
        }
        for operation in operations {
            let of: Vec<&Report> = data
                .comparisons
                .iter()
                .filter(|race| race.operation.as_deref() == Some(operation))
                .collect();
            let teams: Vec<usize> = of.iter().map(|race| race.ranks).collect();
            let sizes = |ranks| of.iter().filter(move |race| race.ranks == ranks);
            let most = teams.iter().max_by_key(|&&ranks| sizes(ranks).count());
            let Some(&ranks) = most.filter(|&&ranks| sizes(ranks).count() > 1) else {
                continue;
            };
            let points = sizes(ranks).filter_map(|race| Some((race.bytes? as f64, *race)));
            let series = series(points);
            let title = format!("{operation}, {}", count(ranks, "rank"));
            let picture = plot::curves(&title, plot::Across::Bytes, &series);
            let caption = format!(
                "{operation} by bytes of a block: the median of each one's fastest setting there, the last rank's \
                 time"
            );
            self.add(Part::Sizes, &format!("size-{operation}"), &caption, picture);
        }
        for (operation, bytes) in [("barrier", 0), ("broadcast", 8), ("allreduce", 8)] {
            let of: Vec<(f64, &Report)> = data
                .comparisons
                .iter()
                .filter(|race| kind(race) == (operation, bytes) && race.placements != "any")
                .map(|race| (race.ranks as f64, race))
                .collect();
            let mut teams: Vec<usize> = of.iter().map(|(_, race)| race.ranks).collect();
            teams.sort_unstable();
            teams.dedup();
            if teams.len() < 2 {
                continue;
            }
            let series = series(of.into_iter());
            let title = match bytes {
                0 => operation.to_owned(),
                _ => format!("{operation} of {}", bytes_text(bytes as u64)),
            };
            let picture = plot::curves(&title, plot::Across::Ranks, &series);
            let caption =
                format!("{title} by ranks; with more ranks than hardware threads these share them");
            self.add(
                Part::Ranks,
                &format!("ranks-{operation}"),
                &caption,
                picture,
            );
        }
        let points: Vec<(f64, f64)> = self
            .predictions
            .iter()
            .filter_map(|one| Some((one.measured, one.simulated?)))
            .collect();
        if points.len() > 1 {
            let picture = plot::against("simulated against measured", &points);
            let caption = "each point a race: what a simulated machine with this machine's single messages takes, \
                           over what was measured; on the line they are the same";
            self.add(Part::Predictions, "predictions", caption, picture);
        }
    }

    /// The plans that the model chooses for all threads.
    fn plans(&mut self, file: &MachineFile) -> Result<()> {
        if !(2..=DRAWN_MEMBERS_MAX).contains(&file.threads().len()) {
            return Ok(());
        }
        let team = Team::new(file, file.threads().to_vec())?;
        let races = Races::none("a report shows what the model says");
        for choice in choose_all(&team.costs, &team.threads, &Preferences::default(), &races)? {
            let timed = Timed::of_choice(&team, &choice, choice.chosen())?;
            let plan = &timed.plan;
            let proved = match plan.proved_optimal {
                true => "proved optimal".to_owned(),
                false => format!("at most {:.0} % above the optimum", 100.0 * plan.gap),
            };
            self.reasons.push(format!(
                "{}: {}, predicted {:.0} {}, {proved}; {}",
                plan.operation,
                plan.pattern,
                plan.latency,
                team.costs.unit(),
                choice.reason
            ));
            if let Some(drawing) = Drawing::of_plan(&team.costs, plan) {
                let title = format!(
                    "{} of {} members, {}",
                    plan.operation,
                    team.threads.len(),
                    plan.pattern
                );
                let drawing = drawing
                    .with_threads(&team.threads)
                    .with_numa(&team.numa)
                    .with_title(title);
                let caption = format!(
                    "{}: time runs downwards; the number on an edge is its place in the sender's order",
                    plan.operation
                );
                self.add(
                    Part::Plans,
                    &format!("plan-{}", plan.operation),
                    &caption,
                    drawing.svg(),
                );
            }
        }
        Ok(())
    }

    fn costs(&mut self, file: &MachineFile) {
        let [send, receive] = Grid::of_costs(file, file.threads());
        let title = format!("{}: cost of one message", self.name);
        let svg = matrix::svg(&title, &[&send, &receive]);
        let caption = "what a sender, and what a receiver, is busy with one message, by pairs of hardware threads";
        self.add(Part::Costs, "costs", caption, svg);
    }
}

/// What a race was about; barriers carry nothing.
fn kind(race: &Report) -> (&str, usize) {
    match (&race.operation, race.bytes) {
        (Some(operation), bytes) => (operation, bytes.unwrap_or(0)),
        (None, _) => (&race.title, 0),
    }
}

/// The same for people.
fn what(race: &Report) -> String {
    let (operation, bytes) = kind(race);
    let ranks = count(race.ranks, "rank");
    let place = match (race.oversubscribed, race.placements.as_str()) {
        (_, "any") => ", unpinned",
        (true, _) => ", sharing threads",
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

fn duel(race: &Report) -> Option<Duel> {
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
    let interval = |ratio: &Option<corecast_bench::stats::Ratio>| {
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

fn bar(duel: &Duel) -> Option<Bar> {
    let [value, low, high] = duel.to_peer?;
    let peer = duel.peer.as_ref()?;
    Some(Bar {
        label: duel.what.clone(),
        value,
        low,
        high,
        note: peer.name.clone(),
    })
}

/// A curve for each who took part, over what `points` say.
fn series<'r>(points: impl Iterator<Item = (f64, &'r Report)>) -> Vec<Series> {
    let mut all: Vec<(Role, String, Vec<Point>)> = Vec::new();
    for (x, race) in points {
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
            let point = Point {
                x,
                y: found.median,
                low: found.interval.low,
                high: found.interval.high,
            };
            match all.iter_mut().find(|(_, known, _)| *known == name) {
                Some((_, _, points)) => points.push(point),
                None => all.push((role, name, vec![point])),
            }
        }
    }
    all.sort_by_key(|(role, ..)| order(*role));
    let mut used = [0; 3];
    let look = |(role, name, mut points): (Role, String, Vec<Point>)| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let colours: &[Rgb] = match role {
            Role::Corecast => &OURS,
            Role::Floor => &[REFERENCE],
            Role::Peer => &OTHERS,
        };
        let used = &mut used[usize::from(order(role))];
        let colour = colours[*used % colours.len()];
        *used += 1;
        Series {
            name,
            colour,
            bold: role == Role::Corecast,
            points,
        }
    };
    all.into_iter().map(look).collect()
}

fn order(role: Role) -> u8 {
    match role {
        Role::Corecast => 0,
        Role::Floor => 1,
        Role::Peer => 2,
    }
}

/// Settings of the same go together.
fn group(entry: &EntryReport) -> (Role, String) {
    let name = match entry.role {
        Role::Corecast if entry.setting.starts_with("processes") => "Corecast, processes",
        Role::Corecast => "Corecast, threads",
        Role::Floor => "floor",
        Role::Peer => entry.name.as_str(),
    };
    (entry.role, name.to_owned())
}

fn predictions(race: &Report) -> Vec<Prediction> {
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

fn rows(machine: &Machine, costs: CostBasis) -> Vec<(&'static str, String)> {
    let number = |of: fn(&corecast_model::Pu) -> u32| {
        let mut all: Vec<u32> = machine.pus.iter().map(of).collect();
        all.sort_unstable();
        all.dedup();
        all.len().to_string()
    };
    let mut rows = vec![
        (
            "processor",
            machine.cpu.clone().unwrap_or_else(|| "unknown".to_owned()),
        ),
        ("packages", number(|pu| pu.package)),
        ("NUMA nodes", number(|pu| pu.numa_node)),
        ("cores", number(|pu| pu.core)),
        ("hardware threads", machine.pus.len().to_string()),
    ];
    let basis = match costs {
        CostBasis::Measured => "measured on this machine",
        CostBasis::Given => "given with the machine",
        CostBasis::Assumed => "another machine's, for want of better",
    };
    rows.push(("costs", basis.to_owned()));
    rows.extend(
        machine
            .assumptions
            .iter()
            .map(|one| ("assumed", one.clone())),
    );
    rows
}

/// Whoever was skipped or failed, with the reason.
fn absent(races: &[Report]) -> Vec<String> {
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
