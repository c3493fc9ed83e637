//! Runs the races of a report: several runs of `corecast bench`.

use anyhow::Result;
use clap::Parser;
use corecast_bench::comparison::Report;

use crate::commands::bench::{self, BenchArgs};
use crate::options::Global;
use crate::{failure, interrupt};
use corecast_model::words::count;

/// Sizes of blocks of data.
const SIZES: &str = "8,64,512,4K,32K,256K,2M";
const SIZES_QUICK: &str = "8,4K,256K";

/// Operations that race with teams of different sizes, with data of one message.
const BY_RANKS: [&str; 3] = ["barrier", "broadcast", "allreduce"];

/// Ranks per hardware thread in the largest team.
const CROWD: usize = 4;

#[derive(Debug, Parser)]
struct Line {
    /// Some of its options exclude some of the command's.
    #[command(flatten)]
    _global: Global,
    #[command(flatten)]
    args: BenchArgs,
}

/// Runs all races, in their order on the page.
///
/// # Errors
///
/// `corecast bench` cannot run a race here.
pub(super) fn run(global: &Global, quick: bool, no_peers: bool) -> Result<Vec<Report>> {
    let usable = corecast_machine::discover().machine.pus.len();
    let lines = lines(usable, quick);
    let mut reports = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if interrupt::happened() {
            break;
        }
        let of = count(lines.len(), "set");
        failure::warn(&format!(
            "{} of {of} of races: bench {}",
            at + 1,
            line.join(" ")
        ));
        let words = ["bench"].into_iter().chain(line.iter().map(String::as_str));
        let words = words.chain(quick.then_some("--quick"));
        let words = words.chain(no_peers.then_some("--no-peers"));
        let Line { args, .. } = Line::try_parse_from(words)?;
        match bench::reports(global, &args) {
            Ok(found) => reports.extend(found),
            // The page shows the races before.
            Err(_) if interrupt::happened() && !reports.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(reports)
}

/// The arguments of each `corecast bench`.
fn lines(usable: usize, quick: bool) -> Vec<Vec<String>> {
    let line = |text: String| text.split(' ').map(str::to_owned).collect();
    let mut lines = Vec::new();
    if usable >= 2 {
        let sizes = if quick { SIZES_QUICK } else { SIZES };
        lines.push(line(format!("--op all --size {sizes}")));
        lines.push(line("--op barrier --unpinned".to_owned()));
    }
    for ranks in teams(usable, quick) {
        for operation in BY_RANKS {
            lines.push(line(format!("--op {operation} --ranks {ranks}")));
        }
    }
    lines
}

/// Sizes of teams besides that of all hardware threads: 2, 4, 8, …, and oversubscribed ones.
fn teams(usable: usize, quick: bool) -> Vec<usize> {
    let doubled = std::iter::successors(Some(2), |ranks| Some(2 * ranks));
    let mut teams: Vec<usize> = doubled.take_while(|&ranks| ranks < usable).collect();
    let mut crowd = 2 * usable.max(1);
    while crowd <= CROWD * usable {
        teams.push(crowd.max(2));
        crowd *= 2;
        if quick {
            break;
        }
    }
    teams.dedup();
    teams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_one_that_bench_takes() {
        for usable in [1, 2, 3, 8, 64] {
            for quick in [false, true] {
                for line in lines(usable, quick) {
                    let words = ["bench"].into_iter().chain(line.iter().map(String::as_str));
                    Line::try_parse_from(words).unwrap();
                }
            }
        }
        assert_eq!(teams(1, false), [2, 4]);
        assert_eq!(teams(2, false), [4, 8]);
        assert_eq!(teams(8, false), [2, 4, 16, 32]);
        assert_eq!(teams(6, true), [2, 4, 12]);
    }
}
