//! The queues that take part, and their settings.

use crate::engines::{PingPong, Stream, Title};
use crate::peers::{self, CHUNK};
use crate::wire;
use corecast_bench::floor::{self, LineStream};
use corecast_bench::{Entrant, Role};
use corecast_wire::queue::Backend;
use corecast_wire::{SegmentError, WaitConfig};

/// Ring sizes raced: a page of lines, and a ring that fills an L1 cache twice.
const SLOTS: [usize; 2] = [64, 1024];

/// Ring size for latency, where at most one message is under way.
const SLOTS_LATENCY: usize = 64;

const POLICIES: [(&str, WaitConfig); 2] = [
    ("spins", WaitConfig::SPIN),
    ("balanced waits", WaitConfig::BALANCED),
];

fn title(name: &'static str, setting: impl Into<String>, role: Role) -> Title {
    Title {
        name,
        setting: setting.into(),
        role,
    }
}

fn peer(name: &'static str, setting: impl Into<String>) -> Title {
    title(name, setting, Role::Peer)
}

fn corecast(backend: Backend, slots: usize, wait_config: &str) -> Title {
    let setting = format!("{slots} slots, {wait_config}");
    let name = match backend {
        Backend::Ump => "corecast ump",
        Backend::FastForward => "corecast fastforward",
    };
    title(name, setting, Role::Corecast)
}

/// The entrants of the race for latency: a message to and fro, reported one way.
///
/// # Errors
///
/// [`SegmentError`] when memory is short.
pub(crate) fn latency() -> Result<Vec<Entrant<'static>>, SegmentError> {
    let slots = SLOTS_LATENCY;
    let mut entrants: Vec<Entrant<'static>> = floor::round_trips().into();
    for backend in Backend::ALL {
        for (words, wait_config) in POLICIES {
            let link = || wire::wire(backend, slots, wait_config);
            entrants.push(Entrant::threads(PingPong::new(
                corecast(backend, slots, words),
                link()?,
                link()?,
            )));
        }
    }
    macro_rules! peers {
        ($($title:expr => $link:expr;)*) => {
            $(entrants.push(Entrant::threads(PingPong::new($title, $link, $link)));)*
        };
    }
    peers! {
        peer("rtrb", "64 slots, polled") => peers::rtrb::<false>(slots);
        peer("rtrb", "64 slots, polled with pause") => peers::rtrb::<true>(slots);
        peer("crossbeam ArrayQueue", "64 slots, polled") => peers::array::<false>(slots);
        peer("crossbeam ArrayQueue", "64 slots, polled with pause") => peers::array::<true>(slots);
        peer("std::sync::mpsc", "bounded 64, recv") => peers::sync_channel(slots);
        peer("std::sync::mpsc", "bounded 64, try_recv in a loop") => peers::polled_channel(slots);
        peer("std::sync::mpsc", "unbounded, recv") => peers::channel();
    }
    Ok(entrants)
}

/// The entrants of the race for throughput: a stream of messages.
///
/// # Errors
///
/// [`SegmentError`] when memory is short.
pub(crate) fn throughput() -> Result<Vec<Entrant<'static>>, SegmentError> {
    let mut entrants = Vec::new();
    macro_rules! peers {
        ($($title:expr => $link:expr;)*) => {
            $(entrants.push(Entrant::threads(Stream::new($title, $link)));)*
        };
    }
    for slots in SLOTS {
        entrants.push(Entrant::threads(LineStream::new(slots)));
        for backend in Backend::ALL {
            for (words, wait_config) in POLICIES {
                let link = wire::wire(backend, slots, wait_config)?;
                let title = corecast(backend, slots, words);
                entrants.push(Entrant::threads(Stream::new(title, link)));
            }
        }
        let polled = format!("{slots} slots, polled");
        let paused = format!("{slots} slots, polled with pause");
        let chunks = format!("{slots} slots, chunks of {CHUNK}");
        let bounded = format!("bounded {slots}, recv");
        let looping = format!("bounded {slots}, try_recv in a loop");
        peers! {
            peer("rtrb", polled.clone()) => peers::rtrb::<false>(slots);
            peer("rtrb", paused.clone()) => peers::rtrb::<true>(slots);
            peer("rtrb", chunks) => peers::rtrb_chunks(slots);
            peer("crossbeam ArrayQueue", polled) => peers::array::<false>(slots);
            peer("crossbeam ArrayQueue", paused) => peers::array::<true>(slots);
            peer("std::sync::mpsc", bounded) => peers::sync_channel(slots);
            peer("std::sync::mpsc", looping) => peers::polled_channel(slots);
        }
    }
    peers! {
        peer("std::sync::mpsc", "unbounded, recv") => peers::channel();
    }
    Ok(entrants)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::{Settings, Status, cpu_placement, race};

    #[test]
    fn everybody_delivers_every_message() {
        for entrants in [latency().unwrap(), throughput().unwrap()] {
            let placements = cpu_placement::pinned(2, &cpu_placement::allowed_pus());
            let comparison =
                race::run("test", &placements, &Settings::quick(), &entrants, |_| {}).unwrap();
            for entry in &comparison.entries {
                assert_eq!(
                    entry.status,
                    Status::Timed,
                    "{} {}",
                    entry.name,
                    entry.setting
                );
            }
        }
    }
}
