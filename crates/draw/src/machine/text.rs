//! The machine as a tree in the terminal.
//!
//! ```text
//! zen3, AMD EPYC 7313
//! └── package 0
//!     └── NUMA node 0
//!         └── L3 32 MiB
//!             ├── core 0, L2 512 KiB, L1d 32 KiB: PU 0 16
//!             └── core 1, L2 512 KiB, L1d 32 KiB: PU 1 17
//! ```

use corecast_model::words::ranges;
use owo_colors::OwoColorize;
use termtree::Tree;

use super::boxes::{Kind, Part};
use crate::palette::Screen;

/// Above this many cores, neighbouring cores with equal caches and threads share a line.
const CORES_WITH_A_LINE: usize = 32;

/// The tree, with colours where `screen` has them; `merge` lets cores of large machines share lines.
#[must_use]
pub fn text(machine: &Part, merge: bool, screen: Screen) -> String {
    tree(
        machine,
        merge && count_cores(machine) > CORES_WITH_A_LINE,
        screen,
    )
    .to_string()
}

/// How many cores `part` consists of.
fn count_cores(part: &Part) -> usize {
    if part.kind == Kind::Core {
        1
    } else {
        part.parts.iter().map(count_cores).sum()
    }
}

/// `part` and everything in it.
fn tree(part: &Part, merge: bool, screen: Screen) -> Tree<String> {
    let style = match part.kind {
        Kind::Machine => screen.bold(),
        Kind::Numa(k) => screen.numa(k),
        _ => owo_colors::Style::new(),
    };
    let mut root = Tree::new(part.label.style(style).to_string());
    let mut rest = part.parts.as_slice();
    while let Some(first) = rest.first() {
        if first.kind != Kind::Core {
            root.push(tree(first, merge, screen));
            rest = &rest[1..];
            continue;
        }
        let alike = |p: &&Part| {
            p.kind == Kind::Core && caches(p) == caches(first) && p.pus.len() == first.pus.len()
        };
        let run = if merge {
            rest.iter().take_while(alike).count()
        } else {
            1
        };
        root.push(Tree::new(cores(&rest[..run], screen)));
        rest = &rest[run..];
    }
    root
}

/// The line of one core or of a run of similar ones.
fn cores(run: &[Part], screen: Screen) -> String {
    let pus: Vec<u32> = run.iter().flat_map(|c| c.pus.iter().copied()).collect();
    let pus = format!("PU {}", ranges(pus))
        .style(screen.bold())
        .to_string();
    let first = &run[0];
    if run.len() == 1 {
        return format!("{}: {pus}", first.label);
    }
    let numbers = run
        .iter()
        .map(|c| core_number(c).to_owned())
        .collect::<Vec<_>>();
    let each = if caches(first).is_empty() {
        String::new()
    } else {
        format!(", each {}", caches(first))
    };
    format!(
        "{} cores ({} to {}){each}: {pus}",
        run.len(),
        numbers[0],
        numbers[numbers.len() - 1]
    )
}

/// The core's number, from its label such as `core 3, L2 1 MiB`.
fn core_number(core: &Part) -> &str {
    core.label
        .split(", ")
        .next()
        .and_then(|name| name.strip_prefix("core "))
        .unwrap_or("?")
}

/// The core's caches, from its label such as `core 3, L2 1 MiB`.
fn caches(core: &Part) -> &str {
    core.label.split_once(", ").map_or("", |(_, caches)| caches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::Depth;

    const PLAIN: Screen = Screen {
        columns: 80,
        depth: Depth::None,
    };

    fn core(k: u32) -> Part {
        Part {
            kind: Kind::Core,
            label: format!("core {k}, L2 1 MiB"),
            parts: vec![],
            pus: vec![k, k + 64],
        }
    }

    fn machine(cores: u32) -> Part {
        Part {
            kind: Kind::Machine,
            label: "m".into(),
            pus: (0..cores).collect(),
            parts: (0..cores).map(core).collect(),
        }
    }

    #[test]
    fn few_cores_have_a_line_each() {
        let text = super::text(&machine(2), true, PLAIN);
        assert_eq!(
            text,
            "m\n├── core 0, L2 1 MiB: PU 0,64\n└── core 1, L2 1 MiB: PU 1,65\n"
        );
    }

    #[test]
    fn many_cores_share_a_line() {
        let text = super::text(&machine(40), true, PLAIN);
        assert_eq!(
            text,
            "m\n└── 40 cores (0 to 39), each L2 1 MiB: PU 0-39,64-103\n"
        );
    }
}
