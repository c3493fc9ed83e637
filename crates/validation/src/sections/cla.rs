//! The curves of Ramos and Hoefler (CLa) over thread counts, as a table and as pictures.

use super::curves::{AlgorithmCurve, CurvePoint, PaperMachine, ROUNDING, curves};
use crate::document::{Content, table};
use corecast_draw::Rgb;
use corecast_draw::plot::{self, Curve, Labels, Panel, Pen};

impl AlgorithmCurve {
    /// The least and the greatest value of a ratio over all thread counts.
    fn range(&self, ratio: impl Fn(&CurvePoint) -> f64) -> (f64, f64) {
        let ratios = self.points.iter().map(ratio);
        ratios.fold((f64::INFINITY, 0.0), |(least, most), ratio| {
            (least.min(ratio), most.max(ratio))
        })
    }

    fn counts(&self) -> String {
        let [first, last] = [self.points.first(), self.points.last()];
        let count = |point: Option<&CurvePoint>| point.map_or(0, |point| point.threads);
        format!("{} to {}", count(first), count(last))
    }

    fn row(&self) -> [String; 8] {
        let (least, most) = self.range(|point| point.simulated / point.least);
        let (under, _) = self.range(|point| point.simulated / point.published.t_min);
        let below = self.points.iter();
        let below = below.filter(|point| point.simulated < point.published.t_min - ROUNDING);
        let (_, worst) = self.range(|point| point.simulated / point.most);
        let (_, refined) = self.range(|point| point.simulated / point.published.t_max);
        [
            self.algorithm.to_owned(),
            self.program.to_owned(),
            self.counts(),
            format!("{least:.2} to {most:.2}"),
            format!("{under:.2}"),
            match below.count() {
                0 => "–".to_owned(),
                some => format!("{some} of {}", self.points.len()),
            },
            format!("{worst:.2}"),
            format!("{refined:.2}"),
        ]
    }

    fn panel(&self) -> Panel {
        let points = |of: fn(&CurvePoint) -> f64| -> Vec<(f64, f64)> {
            let points = self.points.iter();
            points
                .map(|point| (point.threads as f64, of(point)))
                .collect()
        };
        let curve = |pen, of| Curve {
            pen,
            points: points(of),
        };
        Panel {
            title: self.algorithm.to_owned(),
            band: Some([points(|point| point.least), points(|point| point.most)]),
            curves: vec![
                curve(PENS[1].0, |point| point.published.t_min),
                curve(PENS[2].0, |point| point.published.t_max),
                curve(PENS[0].0, |point| point.simulated),
            ],
        }
    }
}

const PENS: [(Pen, &str); 3] = [
    (Pen::Line(Rgb(43, 108, 176)), "simulated"),
    (Pen::Thin(Rgb(56, 161, 105)), "T_min as published"),
    (Pen::Thin(Rgb(221, 107, 32)), "T_max as published"),
];

const HEADS: [&str; 8] = [
    "algorithm",
    "program",
    "threads",
    "simulated / T_min",
    "least / published T_min",
    "below that",
    "most / T_max",
    "/ published T_max",
];

/// The section of docs/validation.md.
pub fn section() -> Content {
    let mut text = INTRODUCTION.to_owned();
    let mut pictures = Vec::new();
    for (which, file) in PaperMachine::ALL
        .into_iter()
        .zip(["cla-sandy-bridge.svg", "cla-xeon-phi.svg"])
    {
        let curves = curves(which);
        let rows = curves.iter().map(AlgorithmCurve::row);
        let name = which.name();
        text.push_str(&format!(
            "\n### {name}\n\n{}\n![Times of all algorithms over thread counts on {name}](validation/{file})\n",
            table(HEADS, rows)
        ));
        let panels: Vec<Panel> = curves.iter().map(AlgorithmCurve::panel).collect();
        let labels = Labels {
            title: &format!("{name}: simulated, between T_min and T_max (grey)"),
            legend: &PENS,
            x: "threads",
            y: "ns",
        };
        pictures.push((file, plot::panels(&labels, 4, &panels)));
    }
    text.push_str(CONCLUSION);
    Content::Made { text, pictures }
}

const INTRODUCTION: &str = "\
Ramos and Hoefler, *Cache Line Aware Algorithm Design for Cache-Coherent Architectures* (TPDS 2016), at all thread
counts of their figures. The bounds are those of the symbolic model with their Tables 1 to 4. The times are those of
the same acts on the same lines, on their machines in parts (`parts:xeon-e5-2660`, `parts:xeon-phi-5110p`), which are
fitted to Tables 1 to 4: `crates/sim/src/machine/cla.rs` says which part is from which entry, and
`crates/validation/tests/it/cla.rs` holds that the tables come out, and T_min ≤ simulated ≤ T_max in every case. Parameters and
trees are those that the model chooses ([choices.md](choices.md)).

The tables do not tell how a sum splits into the way to where requests are put in order, which who waits in line has
behind it, and the rest; nor what an atomic addition takes. By rule the first is short, and the last makes up for it. So
that a chain of transfers takes as long as its parts is put in; all that comes from interleaving is not.

*T_min* is `CostRules::least()`, which differs from what the paper counts in six things, each of which a run can beat:

1. **Who comes early saves time.** The paper's path visits every addition after the last arrival, which it calls an
   upper bound for T_min itself (§5.1).
2. **Crossings** between packages are as few as the text of §2.4 says, not one for each addition (Equation 7).
3. **A flag that is polled before it is written** does not come from memory any more when it is written, but from who
   polls it. Stealing makes it cheaper then: R_R is less than R_I, by 35 ns on Sandy Bridge and 42 ns on Xeon Phi.
4. **The intercept of contention** is what Equation 2 says, R_L + R_R − c = 188.2 ns. Table 2 has 320.5 ns: by it one
   thread alone takes 376.7 ns for a line that takes R_L + R_R = 244.4 ns by Table 1. A machine has one of the two.
5. **Contention** is the time of the last of several readers. It is counted where that one ends the algorithm. The first
   ones go on earlier, and in a dissemination the paper says itself that readers of a line come at the same time only
   perhaps (§3.3.1).
6. **Many lines** take less than Equations 4 and 5 say, by R_R or R_Q: these are half a ping-pong, which has the copy and
   the fetch by who polls its last line (Equation 1). In an algorithm waits have fetches of their own.

*T_max* has one interference for each reader; the published one for disseminations has one for each operation
(Equation 28). *Below that*: at how many thread counts the simulated time is below T_min as published. *Program*: what is
recorded and run, a figure or section of the paper in its primitives (`crates/collectives/src/one_line`), or an
[algorithm](algorithms.md) of Corecast's collectives.
";

const CONCLUSION: &str = "
No time is above T_max, as published or not. Below the published T_min are, beside rows where 3 to 6 say why, single
thread counts on Sandy Bridge, by 1 to 3. Nearest to T_max come two threads: the poller is there just before the
writer, which is the stealing that T_max is about. On Xeon Phi many readers of one line take exactly what Equation 2
says, with nothing there that knows it: requests wait for each other at the line's directory.
";
