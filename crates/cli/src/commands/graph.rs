//! `corecast graph`: what each rank of a collective does to which line, the path that takes longest, and its bounds.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use comfy_table::Table;
use corecast_collectives::Plans;
use corecast_draw::simulated::{graph_dot, graph_svg};
use corecast_draw::table;
use corecast_plan::{Members, Pattern};
use corecast_sim::drive::{self, Job};
use corecast_sim::symbolic::{ActTimes, Analysis, CostRules, Placement, record_job};
use corecast_tune::forecast::job;
use corecast_tune::modelled::RANKS_MAX;
use serde::Serialize;

use crate::call_report::{self, CallReport};
use crate::options::Global;
use crate::team::{self, TeamArgs};
use crate::{output, sizes, source};

/// Arguments of `corecast graph`.
#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// barrier, broadcast, reduce, allreduce, scatter, gather, allgather, alltoall, reduce_scatter or scan
    #[arg(long, value_name = "OPERATION", default_value = "broadcast")]
    op: String,

    /// What the plan's tree is built by, as for corecast plan
    #[arg(long, value_name = "PATTERN", default_value = "smelt")]
    pattern: String,

    /// An algorithm of docs/algorithms.md [default: what a team would choose by size]
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,

    /// Where the operation starts or ends: a rank, or auto for the plan's choice
    #[arg(long, value_name = "RANK", default_value = "auto")]
    root: String,

    #[command(flatten)]
    team: TeamArgs,

    /// Bytes of a block of data, such as 8, 4K or 1M: what each rank gives or gets, in an alltoall what it gives each other one
    #[arg(long, value_name = "BYTES", default_value = "8")]
    size: String,

    /// Save the graph as a picture; - for standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,

    /// Save the graph in the language of Graphviz; - for standard output
    #[arg(long, value_name = "FILE")]
    dot: Option<String>,
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    call: CallReport<'a>,
    unit: &'static str,
    t_min: f64,
    t_max: Option<f64>,
    /// The names of the lines.
    lines: Vec<&'a str>,
    acts: Vec<ActRow<'a>>,
    /// Edges E3: acts on one line that one wait is for.
    crowds: &'a [Vec<usize>],
    /// Edges E4: a wait, and a write of another stage to the line that it polls.
    polls: &'a [(usize, usize)],
    /// Indices of the acts on the critical path of T_min, and on the longest path of T_max.
    critical_path: Vec<usize>,
    longest_path: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct ActRow<'a> {
    rank: usize,
    what: String,
    /// The act before it of the same rank, edge E1.
    before: Option<usize>,
    /// The acts whose data it takes, edges E2.
    after: &'a [usize],
    /// When it begins and ends at least, and ends at most.
    start: f64,
    end: f64,
    end_at_most: f64,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &GraphArgs) -> Result<ExitCode> {
    output::check_standard_output(&[
        ("--svg -", args.svg.as_deref() == Some("-")),
        ("--dot -", args.dot.as_deref() == Some("-")),
        ("--json", global.json),
    ])?;
    for path in args.svg.iter().chain(&args.dot) {
        output::check_writable(path)?;
    }
    let collective = drive::collective(&args.op)?;
    let size = sizes::block(&args.size, collective)?;
    let pattern = args.pattern.parse::<Pattern>()?;
    let source = source::open(global.machine.as_deref())?;
    let members = Members::new(&source.file, team::members(&args.team, &source.file)?)?;
    let n = members.threads.len();
    if n > RANKS_MAX {
        bail!(
            "{n} ranks: a graph is drawn of at most {RANKS_MAX}, choose some with --subset or --threads"
        );
    }
    let root = team::rank_or_auto(&args.root, n)?;
    let plans = Plans::of_pattern(&members.costs.without_lines(), pattern, root)?;
    let plans = plans.with_packages(members.costs.numa_nodes().to_vec())?;
    let job = job(collective, args.algorithm.as_deref(), &plans, root, size)?;
    let graph = record_job(&job)?;
    let pus = members.threads.iter();
    let places = pus.filter_map(|&thread| source.file.machine().pu(thread).map(Into::into));
    let placement = Placement::of_model(&members.costs, places.collect());
    let analysis = Analysis::new(&graph, &placement, &CostRules::default());

    let drawn = Drawn {
        members: &members,
        job: &job,
        pattern,
        size,
        analysis: &analysis,
    };
    let title = drawn.title().join(", ");
    if let Some(path) = &args.svg {
        output::save(path, &graph_svg(&analysis, &title))?;
    }
    if let Some(path) = &args.dot {
        output::save(path, &graph_dot(&analysis, &title))?;
    }
    if [&args.svg, &args.dot]
        .iter()
        .any(|path| path.as_deref() == Some("-"))
    {
        return Ok(ExitCode::SUCCESS);
    }
    match global.json {
        true => output::json(&drawn.report())?,
        false => output::print(&drawn.text())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A graph, and what it is the graph of.
struct Drawn<'a> {
    members: &'a Members,
    job: &'a Job,
    pattern: Pattern,
    size: usize,
    analysis: &'a Analysis<'a>,
}

impl Drawn<'_> {
    fn report(&self) -> Report<'_> {
        let graph = self.analysis.graph();
        let team = (&self.members.machine[..], &self.members.threads[..]);
        let (least, greatest) = (self.analysis.least(), self.analysis.greatest());
        let bounds = self.analysis.bounds();
        let acts = graph.acts().iter().enumerate();
        let acts = acts.map(|(index, act)| ActRow {
            rank: act.rank,
            what: graph.label(index),
            before: act.before,
            after: &act.after,
            start: least.start[index],
            end: least.finish[index],
            end_at_most: greatest.finish[index],
        });
        Report {
            call: CallReport::new(self.job.call(), self.size, self.pattern, team),
            unit: self.members.unit(),
            t_min: bounds.t_min,
            t_max: bounds.finite_t_max(),
            lines: graph.lines().iter().map(|line| &line.name[..]).collect(),
            acts: acts.collect(),
            crowds: graph.crowds(),
            polls: graph.e4(),
            critical_path: self.analysis.critical(),
            longest_path: self.analysis.longest(),
        }
    }

    /// What was called, and the bounds of its time.
    fn title(&self) -> [String; 2] {
        let (unit, bounds) = (self.members.unit(), self.analysis.bounds());
        let on = format!(
            "{} ranks of {}",
            self.analysis.graph().ranks(),
            self.members.machine
        );
        let called = call_report::title(self.job.call(), self.size, self.pattern, &on);
        let mut times = format!("T_min {:.1} {unit}", bounds.t_min);
        if let Some(t_max) = bounds.finite_t_max() {
            let _ = write!(times, ", T_max {t_max:.1} {unit}");
        }
        [called, times]
    }

    fn text(&self) -> String {
        let graph = self.analysis.graph();
        let [order, data, shared, polls] = graph.edge_counts();
        let [called, times] = self.title();
        let mut text = format!("{called}\n\n{times}\n");
        let _ = writeln!(
            text,
            "{} acts on {} lines; edges: {order} by a rank's order (E1), {data} by data (E2), {shared} of ranks on one line \
             (E3), {polls} of polls that take a line back (E4)",
            graph.acts().len(),
            graph.lines().len(),
        );
        let analysis = self.analysis;
        for (title, path, times) in [
            (
                "critical path of T_min",
                analysis.critical(),
                analysis.least(),
            ),
            (
                "longest path of T_max",
                analysis.longest(),
                analysis.greatest(),
            ),
        ] {
            let _ = write!(text, "\n{title}\n{}\n", self.path(&path, times));
        }
        text
    }

    /// The acts of a path with their times.
    fn path(&self, path: &[usize], times: &ActTimes) -> Table {
        let (graph, unit) = (self.analysis.graph(), self.members.unit());
        let cost = format!("cost, {unit}");
        let mut table = table(["rank", "act", &cost, "begins", "ends"], [0, 2, 3, 4]);
        for &act in path {
            table.add_row([
                graph.acts()[act].rank.to_string(),
                graph.label(act),
                format!("{:.1}", times.cost[act]),
                format!("{:.1}", times.start[act]),
                format!("{:.1}", times.finish[act]),
            ]);
        }
        table
    }
}
