//! An operation over time in the terminal: one lane per member, grouped by NUMA node.
//!
//! ```text
//!          0 ns    50     100     150
//! node 0
//!       0  ███2███▒1▒
//!       1  ··········─0─────
//! node 1
//!       2  ·······━━━0━━━███3██
//!       3  ····················━━2━━━━
//! ```
//!
//! Blocks are sends, lines are receives, dots mean waiting, and a lane is blank once its member is done. Marks
//! on the critical chain are heavy. The number in a bar is the rank at the other end.
//!
//! In large teams only the members on the critical chain have a lane; a line for each NUMA node
//! shows how many of its members are busy.

use std::fmt::Write as _;

use corecast_model::words::decimals;
use corecast_plan::BusyKind;
use owo_colors::{OwoColorize, Style};

use super::drawing::Drawing;
use crate::palette::{Depth, Screen};

/// Above this many members, an abbreviated timeline has lanes for some only.
const MEMBERS_WITH_A_LANE: usize = 64;
/// The least and the most cells of a lane.
const CELLS: (usize, usize) = (24, 150);

impl Drawing<'_> {
    /// The operation over time, a lane for each member; `abbreviate` allows it to leave members out.
    #[must_use]
    pub fn timeline_text(&self, abbreviate: bool, screen: Screen) -> String {
        let lanes = Lanes::new(self, abbreviate, screen);
        let mut out = lanes.axis();
        for (node, ranks) in self.nodes() {
            let name = ranks
                .first()
                .map_or_else(String::new, |&rank| self.place(rank));
            let _ = writeln!(out, "{}", name.style(screen.numa(node)));
            if lanes.some {
                lanes.crowd(&ranks, &mut out);
            }
            for rank in ranks {
                if !lanes.some || lanes.is_critical(rank) {
                    lanes.lane(rank, &mut out);
                }
            }
        }
        lanes.legend(&mut out);
        out
    }
}

/// The state that a cell of a lane shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// The member sends or receives; holds the index in its list of busy times.
    Busy(usize),
    /// The member waits.
    Waits,
    /// The member is done.
    Done,
}

/// The data that do not change while the lanes are written.
struct Lanes<'a> {
    drawing: &'a Drawing<'a>,
    /// For each busy time of each rank, whether it is on the critical chain.
    critical: Vec<Vec<bool>>,
    /// The ranks of the critical chain in order, without repeated neighbours.
    chain: Vec<usize>,
    /// Whether members are left out.
    some: bool,
    labels: Vec<String>,
    label: usize,
    cells: usize,
    /// Time that a cell stands for.
    slice: f64,
    screen: Screen,
}

impl<'a> Lanes<'a> {
    fn new(drawing: &'a Drawing<'a>, abbreviate: bool, screen: Screen) -> Self {
        let busy = &drawing.timeline.busy;
        let mut critical: Vec<Vec<bool>> = busy.iter().map(|b| vec![false; b.len()]).collect();
        let mut chain = Vec::new();
        for moment in &drawing.chain {
            critical[moment.rank][moment.at] = true;
            chain.push(moment.rank);
        }
        chain.dedup();
        let same = drawing.is_identity();
        let labels: Vec<String> = (0..busy.len())
            .map(|rank| match same {
                true => format!("rank {rank}"),
                false => format!("rank {rank} (PU {})", drawing.thread(rank)),
            })
            .collect();
        let label = labels.iter().map(String::len).max().unwrap_or(0).max(10) + 1;
        let cells = screen.columns.saturating_sub(label + 2);
        let cells = cells.clamp(CELLS.0, CELLS.1);
        Self {
            drawing,
            critical,
            chain,
            some: abbreviate && busy.len() > MEMBERS_WITH_A_LANE,
            labels,
            label,
            cells,
            slice: drawing.timeline.latency / cells as f64,
            screen,
        }
    }

    fn is_critical(&self, rank: usize) -> bool {
        self.critical[rank].contains(&true)
    }

    /// The axis: times above the cells at which they are.
    fn axis(&self) -> String {
        let latency = self.drawing.timeline.latency;
        let mut line = format!(
            "{:label$}0 {}",
            "",
            self.drawing.costs.unit(),
            label = self.label + 1
        );
        let marks = (self.cells / 15).max(1);
        for k in 1..=marks {
            let time = latency * k as f64 / marks as f64;
            let text = format!("{time:.*}", decimals(latency));
            // The last time ends where the lanes end.
            let begin = self.label + 1 + (self.cells * k / marks).saturating_sub(text.len());
            let pad = begin.saturating_sub(line.chars().count());
            if pad > 0 {
                let _ = write!(line, "{:pad$}{text}", "");
            }
        }
        line.push('\n');
        line
    }

    /// The lane of one member.
    fn lane(&self, rank: usize, out: &mut String) {
        let cells: Vec<Cell> = (0..self.cells).map(|k| self.cell(rank, k)).collect();
        let name = format!("{:>width$}", self.labels[rank], width = self.label);
        let name = name
            .style(self.screen.numa(self.drawing.numa(rank)))
            .to_string();
        let mut line = format!("{name} ");
        let mut before = Cell::Waits;
        for run in cells.chunk_by(|a, b| a == b) {
            line.push_str(&self.run(rank, before, run[0], run.len()));
            before = run[0];
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }

    /// The state that fills most of a cell.
    fn cell(&self, rank: usize, k: usize) -> Cell {
        let busy = &self.drawing.timeline.busy[rank];
        let (from, to) = (k as f64 * self.slice, (k as f64 + 1.0) * self.slice);
        let mut best = (0.0, None);
        let mut total = 0.0;
        for (at, time) in busy.iter().enumerate() {
            let overlap = time.end.min(to) - time.start.max(from);
            if overlap > 0.0 {
                total += overlap;
                if overlap > best.0 {
                    best = (overlap, Some(at));
                }
            }
        }
        match best.1 {
            Some(at) if 2.0 * total >= self.slice => Cell::Busy(at),
            _ if busy.last().is_none_or(|time| time.end < (from + to) / 2.0) => Cell::Done,
            _ => Cell::Waits,
        }
    }

    /// The text of a run of equal cells, with the peer's rank in the middle where there is room.
    fn run(&self, rank: usize, before: Cell, cell: Cell, length: usize) -> String {
        let busy = &self.drawing.timeline.busy[rank];
        let at = match cell {
            Cell::Busy(at) => at,
            Cell::Waits => return "·".repeat(length).style(self.screen.dim()).to_string(),
            Cell::Done => return " ".repeat(length),
        };
        let (kind, peer) = (busy[at].kind, busy[at].peer.to_string());
        let critical = self.critical[rank][at];
        let (body, begin) = glyphs(kind, critical);
        let mut cells = vec![body; length];
        if matches!(before, Cell::Busy(earlier) if busy[earlier].kind == kind) {
            cells[0] = begin;
        }
        let digits = peer.chars().count();
        let mut bar = cells.concat();
        if length >= digits + 2 {
            let left = (length - digits) / 2;
            bar = cells[..left].concat() + &peer + &cells[left + digits..].concat();
        }
        bar.style(self.style(kind, critical)).to_string()
    }

    fn style(&self, kind: BusyKind, critical: bool) -> Style {
        // The first two colours of the palette: blue and orange.
        let style = self.screen.numa(match kind {
            BusyKind::Send => 0,
            BusyKind::Receive => 1,
        });
        if critical && self.screen.depth != Depth::None {
            style.bold()
        } else {
            style
        }
    }

    /// Writes how many members of a NUMA node are busy, as blocks of different heights.
    fn crowd(&self, ranks: &[usize], out: &mut String) {
        const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let share = |k: usize| {
            let (from, to) = (k as f64 * self.slice, (k as f64 + 1.0) * self.slice);
            let busy = ranks.iter().flat_map(|&r| &self.drawing.timeline.busy[r]);
            let overlap = busy.map(|time| (time.end.min(to) - time.start.max(from)).max(0.0));
            overlap.sum::<f64>() / (self.slice * ranks.len() as f64)
        };
        let bars: String = (0..self.cells)
            .map(|k| LEVELS[(share(k) * 8.0 - 1e-9).ceil().clamp(0.0, 8.0) as usize])
            .collect();
        let name = format!("{} members", ranks.len());
        let _ = writeln!(
            out,
            "{name:>width$} {}",
            bars.trim_end(),
            width = self.label
        );
    }

    /// Writes the legend and the critical chain.
    fn legend(&self, out: &mut String) {
        let [send, receive] = [BusyKind::Send, BusyKind::Receive];
        let mark = |kind, critical| {
            glyphs(kind, critical)
                .0
                .repeat(2)
                .style(self.style(kind, critical))
                .to_string()
        };
        let _ = writeln!(
            out,
            "{} {} sends to, {} {} receives from, ·· waits, blank: done; heavy: critical chain",
            mark(send, true),
            mark(send, false),
            mark(receive, true),
            mark(receive, false),
        );
        if self.some {
            let _ = writeln!(
                out,
                "lanes of the critical chain alone, and how many members are busy; all with -v"
            );
        }
        let chain: Vec<String> = self.chain.iter().map(ToString::to_string).collect();
        if !chain.is_empty() {
            let _ = writeln!(out, "critical chain: {}", chain.join(" → "));
        }
    }
}

/// The character of a bar, and the one with which it begins after another bar of its kind.
fn glyphs(kind: BusyKind, critical: bool) -> (&'static str, &'static str) {
    match (kind, critical) {
        (BusyKind::Send, true) => ("█", "▐"),
        (BusyKind::Send, false) => ("▒", "░"),
        (BusyKind::Receive, true) => ("━", "╺"),
        (BusyKind::Receive, false) => ("─", "╶"),
    }
}

#[cfg(test)]
mod tests {
    use corecast_plan::{Operation, Pattern, Tree};

    use super::*;

    fn text(spec: &str, tree: &Tree, operation: Operation, columns: usize) -> String {
        let machine = corecast_model::synthetic(spec).unwrap();
        let screen = Screen {
            columns,
            depth: Depth::None,
        };
        Drawing::new(machine.costs(), tree, operation).timeline_text(true, screen)
    }

    const LEGEND: &str =
        "██ ▒▒ sends to, ━━ ── receives from, ·· waits, blank: done; heavy: critical chain";

    #[test]
    fn who_sends_receives_waits_and_is_done() {
        let tree = Tree::from_children(0, vec![vec![2, 1], vec![], vec![3], vec![]]).unwrap();
        let spec = "package:2 core:2 send=10,30 receive=20,60";
        let expected = [
            "            0 ns              60                 120",
            "node 0",
            "     rank 0 ████2█████░1▒",
            "     rank 1 ·············───0───",
            "node 1",
            "     rank 2 ··········━━━━━━━━━0━━━━━━━━━━█3█",
            "     rank 3 ·································━━━2━━━",
            LEGEND,
            "critical chain: 0 → 2 → 3\n",
        ];
        let drawn = text(spec, &tree, Operation::Broadcast, 53);
        assert_eq!(drawn, expected.join("\n"));
    }

    #[test]
    fn a_reduction_waits_at_its_parents() {
        let star = Tree::from_children(0, vec![vec![1, 2], vec![], vec![]]).unwrap();
        let expected = [
            "            0 ns                   70.0",
            "node 0",
            "     rank 0 ····━━━━━1━━━━━╺━━━━2━━━━━━",
            "     rank 1 █0██",
            "     rank 2 ▒0▒▒",
            LEGEND,
            "critical chain: 1 → 0\n",
        ];
        let drawn = text("core:3 send=10 receive=30", &star, Operation::Reduce, 40);
        assert_eq!(drawn, expected.join("\n"));
    }

    #[test]
    fn large_teams_show_the_chain_and_how_busy_the_others_are() {
        let spec = "package:4 core:25";
        let costs = corecast_model::synthetic(spec).unwrap().costs().clone();
        let tree = Pattern::Smelt.tree(&costs, 0).unwrap();
        let drawn = text(spec, &tree, Operation::Barrier, 80);
        assert!(drawn.lines().count() < 30, "{drawn}");
        assert_eq!(drawn.matches("\n 25 members ").count(), 4, "{drawn}");
        assert!(drawn.contains("all with -v"), "{drawn}");
        let wide = drawn.lines().take_while(|line| !line.contains(LEGEND));
        assert!(
            wide.map(|line| line.chars().count()).all(|n| n <= 80),
            "{drawn}"
        );
    }

    #[test]
    fn one_member_has_nothing_to_do() {
        let alone = Tree::from_children(0, vec![vec![]]).unwrap();
        let drawn = text("core:1", &alone, Operation::Broadcast, 60);
        assert!(drawn.contains("\n     rank 0\n"), "{drawn}");
        assert!(
            !drawn.contains("NaN") && !drawn.contains("critical chain:"),
            "{drawn}"
        );
    }
}
