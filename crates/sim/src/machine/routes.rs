//! The routes of messages between packages.

use super::parts::SimMachine;

/// How many packages a machine has.
pub(super) fn packages(machine: &SimMachine) -> u32 {
    let cores = machine.cores.iter().map(|seat| seat.spot.package);
    let homes = machine.homes.iter().map(|home| home.spot.package);
    cores.chain(homes).max().map_or(0, |last| last + 1)
}

/// The route with the fewest links from package to package, or `None` if there is none. A directed link is twice the
/// number of the link, plus one in the direction from b to a.
pub(super) fn route(machine: &SimMachine, packages: u32, from: u32, to: u32) -> Option<Vec<u32>> {
    let mut came: Vec<Option<u32>> = vec![None; packages as usize];
    let mut queue = std::collections::VecDeque::from([from]);
    let ends = |way: u32| {
        let link = machine.links[way as usize / 2];
        match way % 2 {
            0 => (link.a, link.b),
            _ => (link.b, link.a),
        }
    };
    while let Some(at) = queue.pop_front() {
        for way in 0..2 * machine.links.len() as u32 {
            let (a, b) = ends(way);
            if a == at && b != from && came[b as usize].is_none() {
                came[b as usize] = Some(way);
                queue.push_back(b);
            }
        }
    }
    let (mut ways, mut at) = (Vec::new(), to);
    while at != from {
        let way = came[at as usize]?;
        ways.push(way);
        at = ends(way).0;
    }
    ways.reverse();
    Some(ways)
}
