//! Names of processors, kinds of cores, hypervisors.

use crate::fixture::{CPUS, Fixture};

fn name(cpuinfo: &str) -> Option<String> {
    let fixture = Fixture::empty();
    fixture.write("/proc/cpuinfo", cpuinfo);
    fixture.discover().machine.cpu
}

#[test]
fn names_on_each_architecture() {
    for (cpuinfo, expected) in [
        (
            "processor\t: 0\nmodel name\t: AMD EPYC  9654   96-Core",
            "AMD EPYC 9654 96-Core",
        ),
        (
            "processor : 0\ncpu : POWER9, altivec supported",
            "POWER9, altivec supported",
        ),
        (
            "processor : 0\nModel Name : Loongson-3A5000",
            "Loongson-3A5000",
        ),
        (
            "processor : 0\nhart : 0\nuarch : sifive,u74-mc",
            "sifive,u74-mc",
        ),
        (
            "CPU implementer : 0x41\nCPU part\t: 0xd4f",
            "Arm Neoverse-V2",
        ),
        (
            "processor : 0\nmodel name : ARMv8 Processor rev 1 (v8l)\n\
             CPU implementer\t: 0x41\nCPU part\t: 0xd0c",
            "Arm Neoverse-N1",
        ),
        (
            "CPU implementer : 0x41\nCPU part : 0xd03\nCPU implementer : 0x41\nCPU part : 0xd09\n\
             CPU implementer : 0x41\nCPU part : 0xd03",
            "Arm Cortex-A53 + Arm Cortex-A73",
        ),
        (
            "CPU implementer : 0x7f\nCPU part : 0x123",
            "Arm implementer 0x7f part 0x123",
        ),
    ] {
        assert_eq!(name(cpuinfo).as_deref(), Some(expected));
    }
    assert_eq!(name("processor : 0\nCPU part : none\nmodel name :"), None);
}

#[test]
fn kinds_of_cores() {
    let fixture = Fixture::grid(1, 1, 8, 1);
    assert!(fixture.discover().core_kinds.is_empty());
    for pu in 0..8 {
        let capacity = if pu < 6 { "446" } else { "1024" };
        fixture.write(&format!("{CPUS}/cpu{pu}/cpu_capacity"), capacity);
    }
    let kinds = |fixture: &Fixture| {
        let kinds = fixture.discover().core_kinds.into_iter();
        kinds
            .map(|kind| format!("{}: {}", kind.name, kind.pus))
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(&fixture), ["capacity 1024: 6-7", "capacity 446: 0-5"]);
    fixture.write("/sys/devices/cpu_core/cpus", "0-3");
    fixture.write("/sys/devices/cpu_atom/cpus", "4-7,90");
    assert_eq!(kinds(&fixture), ["performance: 0-3", "efficiency: 4-7"]);
}

#[test]
fn microcode_by_its_revisions() {
    let fixture = Fixture::grid(1, 1, 2, 1);
    assert_eq!(fixture.discover().microcode, None);
    let cpu = |revision: &str| format!("processor\t: 0\nmicrocode\t: {revision}\n\n");
    for (revisions, expected) in [
        (["0x2b000643", "0x2b000643"], Some("0x2b000643")),
        (["0x1", "0x2"], Some("0x1 + 0x2")),
        (["", ""], None),
    ] {
        fixture.write("/proc/cpuinfo", &revisions.map(cpu).concat());
        assert_eq!(fixture.discover().microcode.as_deref(), expected);
    }
}

#[test]
fn hypervisors_by_their_traces() {
    let check = |files: &[(&str, &str)], expected: Option<&str>| {
        let fixture = Fixture::grid(1, 1, 2, 1);
        files
            .iter()
            .for_each(|(path, text)| fixture.write(path, text));
        let found = fixture.discover();
        assert_eq!(found.hypervisor.as_deref(), expected, "{files:?}");
        let said = found
            .machine
            .assumptions
            .iter()
            .any(|s| s.contains("hypervisor"));
        assert_eq!(said, expected.is_some());
    };
    let (vendor, product) = (
        "/sys/class/dmi/id/sys_vendor",
        "/sys/class/dmi/id/product_name",
    );
    check(&[], None);
    check(&[("/sys/hypervisor/type", "xen")], Some("xen"));
    check(
        &[("/proc/device-tree/hypervisor/compatible", "linux,kvm\0")],
        Some("linux,kvm"),
    );
    check(&[(vendor, "QEMU")], Some("QEMU"));
    check(&[(vendor, "Red Hat"), (product, "KVM")], Some("KVM"));
    check(
        &[(vendor, "Amazon EC2"), (product, "c7g.4xlarge")],
        Some("Amazon EC2"),
    );
    check(&[(vendor, "Amazon EC2"), (product, "c7g.metal")], None);
    check(
        &[(vendor, "Microsoft Corporation"), (product, "Surface")],
        None,
    );
    check(
        &[("/proc/cpuinfo", "flags : fpu hypervisor")],
        Some("unknown"),
    );
    check(&[("/proc/cpuinfo", "flags : fpu hypervisors")], None);
}
