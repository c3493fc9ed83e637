//! `corecast topo`: shows the machine as a tree, as JSON, as CSV and as boxes.
//!
//! The CSV has one line per hardware thread under the header [`CSV_HEADER`]; `schema` grows with each change of the
//! columns or their order.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use corecast_model::Machine;
use owo_colors::OwoColorize;
use serde::Serialize;

use corecast_draw::machine::{self, Part, nest};
use corecast_draw::matrix::{self, Grid};
use corecast_model::words::count;

use crate::options::Global;
use crate::source::Source;
use crate::{output, source};
use corecast_doctor::limits;
use corecast_model::CostBasis;

/// Arguments of `corecast topo`.
#[derive(Debug, Args)]
pub(crate) struct TopoArgs {
    /// One line per hardware thread as comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Save the machine as nested boxes; - for standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,

    /// Show, or save by --csv and --svg, what messages cost instead
    #[arg(long)]
    costs: bool,
}

/// First line of the CSV.
const CSV_HEADER: &str = "schema,pu,core,numa_node,package,l1d_bytes,l2_bytes,l3_bytes";

/// Runs the command.
pub(crate) fn run(global: &Global, args: &TopoArgs) -> Result<ExitCode> {
    output::check_standard_output(&[
        ("--svg -", args.svg.as_deref() == Some("-")),
        ("--csv", args.csv),
        ("--json", global.json),
    ])?;
    let source = source::open(global.machine.as_deref())?;
    let machine = source.file.machine();
    let [send, receive] = Grid::of_costs(&source.file, source.file.threads());
    if let Some(path) = &args.svg {
        let picture = if args.costs {
            matrix::svg(
                &format!("{}: cost of one message", machine.name),
                &[&send, &receive],
            )
        } else {
            machine::svg(&boxes(&source), &facts(&source))
        };
        output::save(path, &picture)?;
        if path == "-" {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if global.json {
        output::json(&Report::of(&source))?;
    } else if args.csv {
        let text = if args.costs {
            matrix::csv(&send, &receive)
        } else {
            csv(machine)
        };
        output::print(&text)?;
    } else if args.svg.is_none() {
        let screen = output::screen();
        let mut text = String::new();
        if !args.costs {
            text.push_str(&machine::text(&boxes(&source), global.verbose == 0, screen));
            for fact in facts(&source) {
                let _ = writeln!(text, "{}", fact.style(screen.dim()));
            }
        }
        if args.costs || source.costs != CostBasis::Assumed {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = write!(
                text,
                "{gap}{}",
                matrix::text(&send, "row sends to column", screen)
            );
            let _ = write!(
                text,
                "\n{}",
                matrix::text(&receive, "column receives from row", screen)
            );
        }
        output::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The machine as nested boxes, with the memory of each NUMA node where it is known.
fn boxes(source: &Source) -> Part {
    let nodes = source.here.iter().flat_map(|here| &here.numa_nodes);
    let memory = nodes
        .filter_map(|node| Some((node.os_index, node.memory_bytes?)))
        .collect();
    nest(source.file.machine(), &memory)
}

/// Sentences on what the drawing does not show: counts, limits of the process, assumptions, costs.
fn facts(source: &Source) -> Vec<String> {
    let machine = source.file.machine();
    let counts = [
        count(machine.package_count(), "package"),
        count(machine.numa_node_count(), "NUMA node"),
        count(machine.core_count(), "core"),
        count(machine.pus.len(), "hardware thread"),
    ];
    let mut facts = vec![counts.join(", ")];
    if let Some(here) = &source.here {
        facts.extend(limits::sentences(here));
    }
    facts.extend(machine.assumptions.iter().map(|a| format!("assumed: {a}")));
    facts.extend(source.notes.iter().map(|n| format!("note: {n}")));
    facts
}

/// One line per hardware thread.
fn csv(machine: &Machine) -> String {
    let mut out = format!("{CSV_HEADER}\n");
    for pu in &machine.pus {
        let cache = |level: u8| {
            let found = machine.caches.iter().find(|c| {
                c.level == level
                    && c.kind != corecast_model::CacheKind::Instruction
                    && c.shared_by.contains(&pu.os_index)
            });
            found
                .and_then(|c| c.size_bytes)
                .map_or(String::new(), |b| b.to_string())
        };
        let _ = writeln!(
            out,
            "1,{},{},{},{},{},{},{}",
            pu.os_index,
            pu.core,
            pu.numa_os_index,
            pu.package,
            cache(1),
            cache(2),
            cache(3)
        );
    }
    out
}

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    machine: &'a Machine,
    fingerprint: String,
    packages: usize,
    numa_nodes: usize,
    cores: usize,
    hardware_threads: usize,
    limits: Option<limits::Limits>,
    costs: Costs<'a>,
    notes: &'a [String],
}

/// The costs of messages, and whether they are measured, given or assumed.
#[derive(Serialize)]
struct Costs<'a> {
    basis: CostBasis,
    unit: &'static str,
    threads: &'a [u32],
    send: Vec<&'a [f64]>,
    receive: Vec<&'a [f64]>,
}

impl Report<'_> {
    fn of(source: &Source) -> Report<'_> {
        let (machine, costs) = (source.file.machine(), source.file.costs());
        Report {
            schema: 1,
            machine,
            fingerprint: machine.fingerprint(),
            packages: machine.package_count(),
            numa_nodes: machine.numa_node_count(),
            cores: machine.core_count(),
            hardware_threads: machine.pus.len(),
            limits: source.here.as_ref().map(limits::Limits::of),
            costs: Costs {
                basis: source.costs,
                unit: costs.unit().name(),
                threads: source.file.threads(),
                send: costs.send_matrix().rows().collect(),
                receive: costs.receive_matrix().rows().collect(),
            },
            notes: &source.notes,
        }
    }
}
