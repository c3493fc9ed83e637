//! The figures and tables of a page, made from the data alone.

use anyhow::Result;
use corecast::choose::{Preferences, Races, choose_all};
use corecast_bench::Role;
use corecast_bench::comparison::Report;
use corecast_bench::digest::{self, Duel, Prediction, absent, duel, kind, predictions};
use corecast_draw::plan::Drawing;
use corecast_model::{Machine, MachineFile};

use super::data::Data;
use corecast_draw::Screen;
use corecast_draw::deep;
use corecast_draw::machine::{self, nest};
use corecast_draw::matrix::{self, Grid};
use corecast_draw::plot::{self, Bar, Point, Series};
use corecast_draw::{OTHERS, OURS, REFERENCE};
use corecast_model::CostBasis;
use corecast_model::words::{bytes as bytes_text, count};
use corecast_plan::Members;
use corecast_tune::contest::Timed;

/// The most members whose trees are drawn: larger trees do not fit on a page.
const DRAWN_MEMBERS_MAX: usize = 128;

/// A section of the page.
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

/// A figure of the page.
pub(super) struct Figure {
    pub(super) part: Part,
    /// The end of its file's name, after the machine's.
    pub(super) name: String,
    /// The sentence below it.
    pub(super) caption: String,
    pub(super) svg: String,
}

/// All that a page shows.
pub(super) struct Facts<'a> {
    pub(super) data: &'a Data,
    pub(super) name: String,
    /// The rows of the machine's table.
    pub(super) machine: Vec<(&'static str, String)>,
    pub(super) figures: Vec<Figure>,
    pub(super) duels: Vec<Duel>,
    pub(super) predictions: Vec<Prediction>,
    /// A sentence for each plan that says why it would run.
    pub(super) reasons: Vec<String>,
    /// The measurement in depth, as tables for fixed-width type.
    pub(super) depth: Option<String>,
    /// Sentences on peers that did not take part, and why, each once.
    pub(super) absent: Vec<String>,
}

impl<'a> Facts<'a> {
    /// Makes the figures and tables from `data`.
    ///
    /// # Errors
    ///
    /// No plan can be made from the costs.
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
            // An HTML page must not contain an XML declaration.
            svg: svg.trim_start_matches(|c| c != '<').to_owned(),
        });
    }

    /// Adds the figures of the races.
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
                .filter(|race| {
                    kind(race) == (operation, bytes)
                        && (race.oversubscribed || race.placements != "any")
                })
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

    /// Adds the plans that the model chooses for a team of all threads.
    fn plans(&mut self, file: &MachineFile) -> Result<()> {
        if !(2..=DRAWN_MEMBERS_MAX).contains(&file.threads().len()) {
            return Ok(());
        }
        let team = Members::new(file, file.threads().to_vec())?;
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

/// A curve for each contestant, in its colour.
fn series<'r>(races: impl Iterator<Item = (f64, &'r Report)>) -> Vec<Series> {
    let (mut ours, mut peers) = (OURS.iter().cycle(), OTHERS.iter().cycle());
    let look = |curve: digest::Curve| {
        let colour = match curve.role {
            Role::Corecast => ours.next().copied(),
            Role::Floor => None,
            Role::Peer => peers.next().copied(),
        };
        let point = |(x, [y, low, high]): (f64, [f64; 3])| Point { x, y, low, high };
        Series {
            name: curve.name,
            colour: colour.unwrap_or(REFERENCE),
            bold: curve.role == Role::Corecast,
            points: curve.points.into_iter().map(point).collect(),
        }
    };
    digest::curves(races).into_iter().map(look).collect()
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
