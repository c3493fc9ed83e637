//! Checks of the processors that this process may use, and of the time that it gets on them.

use crate::facts::Facts;
use crate::finding::{Finding, Level};
use corecast_model::words::{count, ranges};
use corecast_wire::{copy, hardware_wait};

/// Part of the time taken by the host from which on there is a note.
const STEAL_NOTE: f64 = 0.01;
/// Part of the time taken by the host from which on there is a warning: a rank that is stopped stops its team.
const STEAL_WARNING: f64 = 0.05;

/// Checks whether control groups grant the time of all usable PUs.
pub(super) fn quota(facts: &Facts) -> Finding {
    const NAME: &str = "quota";
    let Some(cpus) = facts.limits.quota_cpus else {
        return Finding::ok(NAME, "no limit of CPU time");
    };
    let source = facts.limits.quota_source.as_deref().unwrap_or("a cgroup");
    let have = facts.usable;
    if cpus >= have as f64 {
        return Finding::ok(
            NAME,
            format!("{cpus} CPUs, enough for {have} PUs ({source})"),
        );
    }
    // A float cast saturates, and turns NaN into 0.
    let whole = (cpus as usize).max(1);
    Finding::at(
        Level::Warning,
        NAME,
        format!(
            "{cpus} CPUs of time for {have} usable PUs ({source}): a team of {have} that spins is stopped in each period"
        ),
        format!(
            "make teams of at most {}, or let ranks sleep (CORECAST_WAIT=park), or raise the quota (docker run --cpus={have}, \
             in Kubernetes resources.limits.cpu)",
            count(whole, "rank")
        ),
    )
}

/// Checks whether the cpuset withholds PUs.
pub(super) fn cpuset(facts: &Facts) -> Finding {
    let source = facts.limits.cpuset_source.as_deref();
    withheld(
        facts,
        "cpuset",
        &facts.limits.outside_cpuset,
        &source.map_or_else(|| "the cpuset".to_owned(), |s| format!("the cpuset, {s}")),
        "docker run --cpuset-cpus",
    )
}

/// Checks whether the affinity mask withholds PUs.
pub(super) fn mask(facts: &Facts) -> Finding {
    withheld(
        facts,
        "mask",
        &facts.limits.outside_mask,
        "the affinity mask that this process was started with",
        "taskset, numactl, or the scheduler of the batch system",
    )
}

fn withheld(facts: &Facts, name: &'static str, outside: &str, who: &str, widen: &str) -> Finding {
    let (usable, online) = (facts.usable, facts.online);
    if outside.is_empty() {
        return Finding::ok(name, format!("withholds none of {}", count(online, "PU")));
    }
    Finding::at(
        Level::Note,
        name,
        format!(
            "{usable} of {online} PUs are usable, PU {}: PU {outside} withheld by {who}",
            facts.limits.usable
        ),
        format!(
            "nothing, if that is meant: teams are planned for the usable ones; more by {widen}"
        ),
    )
}

/// Checks whether usable PUs share cores.
pub(super) fn siblings(facts: &Facts) -> Finding {
    const NAME: &str = "siblings";
    let (pus, cores) = (facts.usable, facts.cores);
    if pus <= cores {
        let unsure = match &facts.limits.hypervisor {
            Some(name) => format!(", as the hypervisor ({name}) shows it"),
            None => String::new(),
        };
        return Finding::ok(
            NAME,
            format!("{} on as many cores{unsure}", count(pus, "PU")),
        );
    }
    Finding::at(
        Level::Note,
        NAME,
        format!(
            "{pus} PUs on {cores} cores: SMT siblings that both spin or compute slow each other"
        ),
        format!(
            "for programs that compute a team of {cores}, which gets a PU of each core (corecast bench --subset {cores})"
        ),
    )
}

/// Says whether the CPU can wait for a write of a line.
pub(super) fn waiting(facts: &Facts) -> Finding {
    let found = match facts.wait_instruction {
        Some(name) => {
            format!("the CPU waits for lines by {name}, where corecast probe measured that to pay")
        }
        None => hardware_wait::MISSING.to_owned(),
    };
    Finding::ok("waiting", found)
}

/// Checks whether the C library's copies are slow at some places.
pub(super) fn copies(facts: &Facts) -> Finding {
    const NAME: &str = "copies";
    let slowness = facts.copy_slowness;
    if slowness <= copy::SLOW {
        return Finding::ok(
            NAME,
            "the C library's copies take as long wherever bytes lie",
        );
    }
    Finding::at(
        Level::Note,
        NAME,
        format!(
            "memcpy takes {slowness:.0} times as long where the target lies 1 to 31 bytes behind the source within their pages: \
             Corecast copies by a loop of its own there, but programs and MPI libraries do not"
        ),
        "for those others: glibc 2.39 or later, or GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000",
    )
}

/// Checks whether the frequency governor slows the first calls down.
pub(super) fn governor(facts: &Facts) -> Finding {
    const NAME: &str = "governor";
    let fix = "sudo cpupower frequency-set -g performance";
    let slow: Vec<_> = facts
        .governors
        .values()
        .filter(|g| g.governor != "performance")
        .collect();
    if facts.governors.is_empty() {
        return Finding::ok(
            NAME,
            "the kernel shows none, as in most virtual machines: somebody else sets frequencies",
        );
    }
    if slow.is_empty() {
        return Finding::ok(
            NAME,
            format!("performance on {}", count(facts.usable, "PU")),
        );
    }
    let found: Vec<String> = slow
        .iter()
        .map(|g| format!("{} ({}) on PU {}", g.governor, g.driver, g.pus))
        .collect();
    // With these drivers the processor uses the whole range of frequencies, even under `powersave`.
    let own = |driver: &str| driver.starts_with("intel_pstate") || driver.starts_with("amd-pstate");
    let lowest = slow
        .iter()
        .any(|g| g.governor == "powersave" && !own(&g.driver));
    let (level, what) = match lowest {
        true => (Level::Warning, "at the lowest frequency"),
        false => (
            Level::Note,
            "frequencies follow the load, first calls are slower",
        ),
    };
    Finding::at(level, NAME, format!("{}: {what}", found.join(", ")), fix)
}

/// Checks whether the host takes time from the processors.
pub(super) fn steal(facts: &Facts) -> Finding {
    const NAME: &str = "steal";
    let Some(steal) = &facts.steal else {
        return Finding::ok(NAME, "the kernel does not tell");
    };
    let found = format!(
        "{:.1} % of the time of {} busy {} within {:.1} s taken by the host",
        steal.part * 100.0,
        steal.pus,
        if steal.pus == 1 { "PU" } else { "PUs" },
        steal.seconds
    );
    if steal.part < STEAL_NOTE {
        return Finding::ok(NAME, found);
    }
    let level = match steal.part < STEAL_WARNING {
        true => Level::Note,
        false => Level::Warning,
    };
    Finding::at(
        level,
        NAME,
        format!("{found}: a rank that is stopped stops its team"),
        "measure when the host is quiet, or on a machine with processors of its own (dedicated hosts, pinned vCPUs)",
    )
}

/// Checks whether threads can be pinned to every usable PU.
pub(super) fn pinning(facts: &Facts) -> Finding {
    const NAME: &str = "pinning";
    let pinning = &facts.pinning;
    let Some(reason) = &pinning.reason else {
        return Finding::ok(
            NAME,
            format!("possible on {}", count(pinning.possible.len(), "PU")),
        );
    };
    Finding::at(
        Level::Warning,
        NAME,
        format!(
            "not possible on PU {}, where ranks run unpinned: {reason}",
            ranges(pinning.refused.clone())
        ),
        "permit sched_setaffinity in the container's seccomp profile; unpinned teams run too, but what was measured \
         between PUs holds only roughly for them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Governed, Steal};

    #[test]
    fn a_sound_machine_is_well() {
        let facts = Facts::sound();
        let checks = [
            quota, cpuset, mask, siblings, copies, governor, steal, pinning,
        ];
        for check in checks {
            let finding = check(&facts);
            assert_eq!(
                (finding.level, finding.fix),
                (Level::Ok, None),
                "{}",
                finding.found
            );
        }
    }

    #[test]
    fn a_quota_is_held_against_the_usable_pus() {
        let mut facts = Facts::sound();
        facts.limits.quota_source = Some("/sys/fs/cgroup/cpu.max".into());
        facts.limits.quota_cpus = Some(1.5);
        let finding = quota(&facts);
        assert_eq!(finding.level, Level::Warning);
        assert!(
            finding
                .found
                .starts_with("1.5 CPUs of time for 4 usable PUs (/sys/fs/cgroup/cpu.max)")
        );
        assert!(finding.fix.unwrap().contains("at most 1 rank,"));
        facts.limits.quota_cpus = Some(4.0);
        assert_eq!(quota(&facts).level, Level::Ok);
        facts.limits.quota_cpus = Some(0.2);
        assert!(quota(&facts).fix.unwrap().contains("at most 1 rank,"));
    }

    #[test]
    fn withheld_pus_are_named_with_who_withholds_them() {
        let mut facts = Facts::sound();
        (facts.usable, facts.online) = (3, 8);
        facts.limits.usable = "1-3".into();
        facts.limits.outside_cpuset = "0,4-7".into();
        facts.limits.cpuset_source = Some("/sys/fs/cgroup/cpuset.cpus.effective".into());
        let finding = cpuset(&facts);
        assert_eq!(finding.level, Level::Note);
        assert_eq!(
            finding.found,
            "3 of 8 PUs are usable, PU 1-3: PU 0,4-7 withheld by the cpuset, /sys/fs/cgroup/cpuset.cpus.effective"
        );
        assert_eq!(mask(&facts).level, Level::Ok);
    }

    #[test]
    fn siblings_are_counted() {
        let mut facts = Facts::sound();
        facts.usable = 8;
        let finding = siblings(&facts);
        assert_eq!(finding.level, Level::Note);
        assert!(finding.found.starts_with("8 PUs on 4 cores"));
    }

    #[test]
    fn the_wait_instruction_is_named() {
        let mut facts = Facts::sound();
        assert_eq!(waiting(&facts).found, hardware_wait::MISSING);
        facts.wait_instruction = Some("umwait");
        let finding = waiting(&facts);
        assert!(finding.level == Level::Ok && finding.found.contains("umwait"));
    }

    #[test]
    fn slow_copies_of_the_library_are_noted() {
        let mut facts = Facts::sound();
        facts.copy_slowness = 16.6;
        let finding = copies(&facts);
        assert_eq!(finding.level, Level::Note);
        assert!(finding.found.starts_with("memcpy takes 17 times as long"));
        assert!(finding.fix.unwrap().contains("glibc 2.39"));
    }

    #[test]
    fn a_governor_is_judged_with_its_driver() {
        let level = |governor: &str, driver: &str| {
            let mut facts = Facts::sound();
            let governed = Governed {
                governor: governor.into(),
                driver: driver.into(),
                pus: "0-3".into(),
            };
            facts.governors.insert(governor.into(), governed);
            super::governor(&facts).level
        };
        assert_eq!(level("performance", "acpi-cpufreq"), Level::Ok);
        assert_eq!(level("powersave", "acpi-cpufreq"), Level::Warning);
        assert_eq!(level("powersave", "intel_pstate"), Level::Note);
        assert_eq!(level("schedutil", "cppc_cpufreq"), Level::Note);
    }

    #[test]
    fn stolen_time_is_judged_by_its_part() {
        let mut facts = Facts::sound();
        for (part, level) in [
            (0.001, Level::Ok),
            (0.02, Level::Note),
            (0.12, Level::Warning),
        ] {
            facts.steal = Some(Steal {
                part,
                pus: 4,
                seconds: 0.4,
            });
            assert_eq!(steal(&facts).level, level);
        }
        assert!(
            steal(&facts)
                .found
                .starts_with("12.0 % of the time of 4 busy PUs")
        );
        facts.steal = None;
        assert_eq!(steal(&facts).level, Level::Ok);
    }

    #[test]
    fn a_refused_pinning_quotes_the_system() {
        let mut facts = Facts::sound();
        facts.pinning.refused = vec![1, 2, 3];
        facts.pinning.reason = Some("the system refused (EPERM)".into());
        let finding = pinning(&facts);
        assert_eq!(finding.level, Level::Warning);
        assert!(finding.found.contains("PU 1-3") && finding.found.contains("EPERM"));
    }
}
