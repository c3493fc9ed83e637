//! The lines of a tree: Figures 12 and 16 have the same.

use corecast_plan::Tree;
use corecast_wire::cache_lines::{LineId, LineSet};

/// Lines between a parent and children that share them.
#[derive(Clone, Debug)]
pub(super) struct ChildGroup {
    /// Written by the parent, polled by the children.
    pub(super) pflag: LineId,
    /// Added to by the children, polled by the parent.
    pub(super) sflag: LineId,
    pub(super) children: Box<[usize]>,
}

/// The lines that a rank shares with its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToParent {
    pub(super) pflag: LineId,
    pub(super) sflag: LineId,
}

/// One rank of a tree.
#[derive(Clone, Debug)]
pub(super) struct Family {
    pub(super) parent: Option<ToParent>,
    pub(super) groups: Vec<ChildGroup>,
    /// The rank's own data.
    pub(super) data: LineId,
}

/// The lines of all ranks, which children in each package share where `packages` are given (*single-use lines*, §4.1.1).
pub(super) fn families(lines: &mut LineSet, tree: &Tree, packages: Option<&[u32]>) -> Vec<Family> {
    let n = tree.len();
    let package = |rank: usize| packages.map_or(0, |packages| packages[rank]);
    let mut all: Vec<Family> = (0..n)
        .map(|rank| Family {
            parent: None,
            groups: Vec::new(),
            data: lines.data(format!("mydata {rank}"), rank, 1),
        })
        .collect();
    for rank in 0..n {
        let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
        for &child in tree.children(rank) {
            match groups.iter_mut().find(|(of, _)| *of == package(child)) {
                Some((_, members)) => members.push(child),
                None => groups.push((package(child), vec![child])),
            }
        }
        for (group, (_, members)) in groups.into_iter().enumerate() {
            let pflag = lines.broadcast(format!("pflag {rank}.{group}"), rank, &members);
            let sflag = lines.counter(format!("sflag {rank}.{group}"), &members, rank);
            for &child in &members {
                all[child].parent = Some(ToParent { pflag, sflag });
            }
            all[rank].groups.push(ChildGroup {
                pflag,
                sflag,
                children: members.into(),
            });
        }
    }
    all
}
