//! Memory whose header somebody else wrote: it is refused, or the team that it describes works.

use arbitrary::{Result, Unstructured};
use corecast_collectives::{BarrierPlan, Plans};
use corecast_model::synthetic;
use corecast_plan::Pattern;
use corecast_plan::groups::Grouped;
use corecast_process::ProcessGroup;
use corecast_team::Options;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The words of the header's first line that say how long processes wait for each other.
const PATIENCE: u64 = 9;
const JOIN_LIMIT: u64 = 10;

pub(super) fn run(u: &mut Unstructured) -> Result<()> {
    let n = u.int_in_range(1..=4)?;
    let options = Options {
        slots: Some(4),
        depth: 1,
        // A copy holds the whole memory, and addresses cost time where they are checked.
        symmetric: 1 << 16,
        ..Options::default()
    };
    let fd = ProcessGroup::found(&plans(u, n)?, &options).expect("there is memory");
    let memory = File::from(fd.try_clone().expect("a descriptor is left"));
    let put = |index: u64, word: u64| {
        memory
            .write_all_at(&word.to_ne_bytes(), 8 * index)
            .expect("memory can be written");
    };
    // The first line, one for each rank, and the plans.
    let words = 16 * (1 + n as u64 + 8);
    for _ in 0..u.int_in_range(0..=8)? {
        let index = match u.int_in_range(0..=3)? {
            0 => u.int_in_range(0..=15)?,
            _ => u.int_in_range(0..=words - 1)?,
        };
        let word = match u.int_in_range(0..=3)? {
            0 => u.arbitrary()?,
            1 => u64::MAX - u.int_in_range(0..=3)?,
            2 => 1 << u.int_in_range(0..=63)?,
            _ => u.int_in_range(0..=9)?,
        };
        put(index, word);
    }
    // A team that does not answer would otherwise take as long as the header says.
    let limits = [Duration::from_secs(10), Duration::from_millis(20)].map(|d| d.as_nanos() as u64);
    put(PATIENCE, limits[0]);
    put(JOIN_LIMIT, limits[1]);
    let fd = match u.ratio(1, 8)? {
        true => copy(u, &memory)?,
        false => fd,
    };
    let ranks: Vec<usize> = (0..n).collect();
    let team = match ProcessGroup::attach(fd.as_fd(), &ranks, &options) {
        Ok(team) => team,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Ok(());
        }
    };
    assert_eq!(team.size(), n);
    let sums = team.run(|member| {
        member.barrier()?;
        let mut root = [member.rank() as u64; 20];
        member.broadcast(n - 1, &mut root)?;
        assert_eq!(root, [n as u64 - 1; 20]);
        member.allreduce_value(1 << member.rank(), |a, b| a + b)
    });
    assert_eq!(sums, vec![Ok((1 << n) - 1); n]);
    Ok(())
}

/// Memory that holds the same, but for its length, and that others may cut or not.
fn copy(u: &mut Unstructured, memory: &File) -> Result<OwnedFd> {
    let len = memory.metadata().expect("a file").len();
    let mut bytes = vec![0; len as usize];
    memory.read_exact_at(&mut bytes, 0).expect("a file");
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let copy: File = memfd_create(c"corecast-fuzz", flags)
        .expect("a descriptor is left")
        .into();
    bytes.resize(u.int_in_range(0..=2 * len as usize)?, 0);
    copy.write_all_at(&bytes, 0).expect("memory can be written");
    if u.arbitrary()? {
        fcntl_add_seals(&copy, SealFlags::SHRINK | SealFlags::GROW).expect("memory can be sealed");
    }
    Ok(copy.into())
}

fn plans(u: &mut Unstructured, n: usize) -> Result<Plans> {
    let machine = synthetic(&format!("core:{n}")).expect("a valid machine");
    let patterns = [
        Pattern::Smelt,
        Pattern::Binomial,
        Pattern::Dissemination { radix: 3 },
    ];
    let plans = Plans::of_pattern(machine.costs(), *u.choose(&patterns)?, None);
    let plans = plans.expect("valid plans");
    let flat = Grouped::flat(n, n / 2);
    Ok(match u.int_in_range(0..=2)? {
        0 => plans,
        1 => plans
            .with_barrier(BarrierPlan::Counter(n))
            .expect("valid plans"),
        _ => {
            let (fan_in, fan_out) = (flat.clone(), Grouped::flat(n, 0));
            let plans = plans.with_barrier(BarrierPlan::Groups { fan_in, fan_out });
            let plans = plans.expect("valid plans").with_broadcast_groups(flat);
            let plans = plans
                .expect("valid plans")
                .with_packages((0..n as u32).collect());
            plans.expect("valid plans")
        }
    })
}
