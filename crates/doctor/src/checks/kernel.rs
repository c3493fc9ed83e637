//! Checks of the system calls that the kernel permits to this process, and of shared memory.

use crate::facts::{Facts, Trial};
use crate::finding::{Finding, Level};

/// Free bytes in `/dev/shm` below which MPI libraries may fail: containers get 64 MiB by default.
const DEV_SHM_MIN: u64 = 1 << 30;

/// Checks whether processes can share memory, which teams of processes need.
pub(super) fn shared_memory(facts: &Facts) -> Finding {
    const NAME: &str = "shared memory";
    match &facts.shared_memory {
        Trial::Works => Finding::ok(NAME, "memfd_create works: teams of processes can be made"),
        Trial::Refused(reason) => Finding::at(
            Level::Failure,
            NAME,
            format!("teams of processes cannot be made: {reason}"),
            "permit memfd_create in the container's seccomp profile and raise its memory limit; teams of threads need neither",
        ),
    }
}

/// Checks whether `membarrier` works, which saves a notifying rank its fence.
pub(super) fn membarrier(facts: &Facts) -> Finding {
    const NAME: &str = "membarrier";
    let found = facts.membarrier;
    if found.switched_off {
        return Finding::at(
            Level::Note,
            NAME,
            "switched off by CORECAST_FENCE=symmetric: a full fence at every notification",
            "unset CORECAST_FENCE",
        );
    }
    let missing = match (found.threads, found.processes) {
        (true, true) => {
            return Finding::ok(NAME, "works, within a process and between processes");
        }
        (true, false) => "between processes",
        (false, true) => "within a process",
        (false, false) => "within a process and between processes",
    };
    Finding::at(
        Level::Note,
        NAME,
        format!("refused {missing}: a full fence at every notification instead"),
        "permit membarrier in the container's seccomp profile (Linux 4.16 or later)",
    )
}

/// Checks whether ranks of different processes can read each other's memory.
pub(super) fn peer_memory(facts: &Facts) -> Finding {
    const NAME: &str = "peer memory";
    let Trial::Refused(reason) = &facts.peer_memory else {
        return Finding::ok(NAME, "process_vm_readv works between processes");
    };
    let fix = match facts.ptrace_scope {
        Some(scope @ 1..) => format!(
            "sudo sysctl kernel.yama.ptrace_scope=0, it is {scope}; in containers --cap-add=SYS_PTRACE"
        ),
        _ => "permit process_vm_readv in the container's seccomp profile (docker run --cap-add=SYS_PTRACE), on Linux 5.3 \
              or later"
            .to_owned(),
    };
    Finding::at(
        Level::Note,
        NAME,
        format!(
            "process_vm_readv refused ({reason}): long data between processes take two copies, which is slower where ranks \
             share cores"
        ),
        fix,
    )
}

/// Checks whether a process notices at once that another one has ended.
pub(super) fn deaths(facts: &Facts) -> Finding {
    const NAME: &str = "pidfd";
    match &facts.pidfd {
        Trial::Works => Finding::ok(NAME, "works: a process that dies is noticed at once"),
        Trial::Refused(reason) => Finding::at(
            Level::Note,
            NAME,
            format!(
                "refused ({reason}): a process that dies is noticed within 20 ms, and peer memory is not read"
            ),
            "permit pidfd_open in the container's seccomp profile (Linux 5.3 or later)",
        ),
    }
}

/// Checks whether `/dev/shm` has room for programs other than Corecast, which keep shared memory there.
pub(super) fn dev_shm(facts: &Facts) -> Finding {
    const NAME: &str = "/dev/shm";
    let fix =
        "for those others: docker run --shm-size=8g, in Kubernetes an emptyDir with medium Memory";
    let Some(space) = facts.dev_shm else {
        return Finding::at(
            Level::Note,
            NAME,
            "there is none: Corecast needs none, but MPI libraries and PyTorch do",
            fix,
        );
    };
    let size = |bytes: u64| match bytes >> 30 {
        0 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    };
    let found = format!("{} of {} free", size(space.free), size(space.total));
    match space.free < DEV_SHM_MIN {
        false => Finding::ok(NAME, found),
        true => Finding::at(
            Level::Note,
            NAME,
            format!(
                "{found}: Corecast takes none of it, but MPI libraries and PyTorch may fail for want of it"
            ),
            fix,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Membarrier, Space};

    fn refused() -> Trial {
        Trial::Refused("Operation not permitted (os error 1)".into())
    }

    #[test]
    fn a_sound_machine_is_well() {
        let facts = Facts::sound();
        for check in [shared_memory, membarrier, peer_memory, deaths, dev_shm] {
            assert_eq!(check(&facts).level, Level::Ok);
        }
    }

    #[test]
    fn without_memory_to_share_there_are_no_teams_of_processes() {
        let mut facts = Facts::sound();
        facts.shared_memory = refused();
        let finding = shared_memory(&facts);
        assert_eq!(finding.level, Level::Failure);
        assert!(finding.found.contains("os error 1"));
        assert!(finding.fix.unwrap().contains("memfd_create"));
    }

    #[test]
    fn a_missing_membarrier_says_where() {
        let mut facts = Facts::sound();
        facts.membarrier.processes = false;
        assert!(
            membarrier(&facts)
                .found
                .starts_with("refused between processes")
        );
        facts.membarrier = Membarrier {
            threads: false,
            processes: false,
            switched_off: true,
        };
        assert_eq!(membarrier(&facts).fix.unwrap(), "unset CORECAST_FENCE");
    }

    #[test]
    fn the_fix_for_peer_memory_depends_on_who_refuses() {
        let mut facts = Facts::sound();
        facts.peer_memory = refused();
        facts.ptrace_scope = Some(1);
        assert_eq!(peer_memory(&facts).level, Level::Note);
        assert!(
            peer_memory(&facts)
                .fix
                .unwrap()
                .contains("ptrace_scope=0, it is 1")
        );
        for scope in [Some(0), None] {
            facts.ptrace_scope = scope;
            assert!(peer_memory(&facts).fix.unwrap().contains("seccomp"));
        }
    }

    #[test]
    fn a_missing_pidfd_is_a_note() {
        let mut facts = Facts::sound();
        facts.pidfd = refused();
        assert_eq!(deaths(&facts).level, Level::Note);
    }

    #[test]
    fn a_containers_dev_shm_is_small() {
        let mut facts = Facts::sound();
        facts.dev_shm = Some(Space {
            total: 64 << 20,
            free: 60 << 20,
        });
        let finding = dev_shm(&facts);
        assert_eq!(finding.level, Level::Note);
        assert!(finding.found.starts_with("60 MiB of 64 MiB free"));
        facts.dev_shm = None;
        assert_eq!(dev_shm(&facts).level, Level::Note);
    }
}
