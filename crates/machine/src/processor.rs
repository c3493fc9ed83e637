//! The processor's name, the kinds of its cores, and the hypervisor.

use crate::cpulist::CpuList;
use crate::files::Files;

/// Cores of one kind on a machine that has several (big and little, performance and efficiency).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreKind {
    /// `performance`, `efficiency`, `low power`, or `capacity N` on the kernel's scale of 1024.
    pub name: String,
    /// Its online PUs.
    pub pus: CpuList,
}

/// Arm's names by implementer and part, for the processors that servers and boards are built of;
/// the kernel prints the numbers only.
const ARM_PARTS: &[(u32, u32, &str)] = &[
    (0x41, 0xd03, "Arm Cortex-A53"),
    (0x41, 0xd04, "Arm Cortex-A35"),
    (0x41, 0xd05, "Arm Cortex-A55"),
    (0x41, 0xd07, "Arm Cortex-A57"),
    (0x41, 0xd08, "Arm Cortex-A72"),
    (0x41, 0xd09, "Arm Cortex-A73"),
    (0x41, 0xd0a, "Arm Cortex-A75"),
    (0x41, 0xd0b, "Arm Cortex-A76"),
    (0x41, 0xd0c, "Arm Neoverse-N1"),
    (0x41, 0xd0d, "Arm Cortex-A77"),
    (0x41, 0xd40, "Arm Neoverse-V1"),
    (0x41, 0xd41, "Arm Cortex-A78"),
    (0x41, 0xd44, "Arm Cortex-X1"),
    (0x41, 0xd46, "Arm Cortex-A510"),
    (0x41, 0xd47, "Arm Cortex-A710"),
    (0x41, 0xd48, "Arm Cortex-X2"),
    (0x41, 0xd49, "Arm Neoverse-N2"),
    (0x41, 0xd4a, "Arm Neoverse-E1"),
    (0x41, 0xd4f, "Arm Neoverse-V2"),
    (0x41, 0xd80, "Arm Cortex-A520"),
    (0x41, 0xd81, "Arm Cortex-A720"),
    (0x41, 0xd83, "Arm Neoverse-V3AE"),
    (0x41, 0xd84, "Arm Neoverse-V3"),
    (0x41, 0xd8e, "Arm Neoverse-N3"),
    (0x43, 0x0a1, "Cavium ThunderX"),
    (0x43, 0x0af, "Cavium ThunderX2"),
    (0x46, 0x001, "Fujitsu A64FX"),
    (0x48, 0xd01, "HiSilicon Kunpeng 920"),
    (0x48, 0xd02, "HiSilicon Kunpeng 930"),
    (0x4e, 0x004, "NVIDIA Carmel"),
    (0x50, 0x000, "Ampere eMAG"),
    (0x61, 0x022, "Apple M1 (efficiency)"),
    (0x61, 0x023, "Apple M1 (performance)"),
    (0x61, 0x032, "Apple M2 (efficiency)"),
    (0x61, 0x033, "Apple M2 (performance)"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1A"),
];

/// The processor's name from `/proc/cpuinfo`, each kind of core once, joined by ` + `.
pub(crate) fn name(files: &Files) -> Option<String> {
    let text = files.text("/proc/cpuinfo")?;
    let mut marketing: Vec<String> = Vec::new();
    let mut arm: Vec<(u32, u32)> = Vec::new();
    let mut implementer = 0;
    for (key, value) in fields(&text).filter(|(_, value)| !value.is_empty()) {
        match key {
            // Architectures in this order: x86, LoongArch, POWER, MIPS, RISC-V.
            "model name" | "Model Name" | "cpu" | "cpu model" | "uarch" => {
                // Firmware pads names with blanks.
                push_new(
                    &mut marketing,
                    value.split_whitespace().collect::<Vec<_>>().join(" "),
                );
            }
            "CPU implementer" => implementer = hex(value).unwrap_or(0),
            "CPU part" => {
                if let Some(part) = hex(value) {
                    push_new(&mut arm, (implementer, part));
                }
            }
            _ => {}
        }
    }
    let known = |&(implementer, part): &(u32, u32)| {
        let row = ARM_PARTS
            .iter()
            .find(|row| (row.0, row.1) == (implementer, part));
        row.map(|row| row.2.to_owned())
    };
    let numbers = |&(implementer, part): &(u32, u32)| {
        format!("Arm implementer {implementer:#04x} part {part:#05x}")
    };
    // Arm kernels that do print a model name say no more than "ARMv8 Processor rev 1".
    let names: Vec<String> = if arm.iter().any(|pair| known(pair).is_some()) || marketing.is_empty()
    {
        arm.iter()
            .map(|pair| known(pair).unwrap_or_else(|| numbers(pair)))
            .collect()
    } else {
        marketing
    };
    (!names.is_empty()).then(|| names.join(" + "))
}

/// The numbers of the processors in `/proc/cpuinfo`.
pub(crate) fn listed(files: &Files) -> CpuList {
    let text = files.text("/proc/cpuinfo").unwrap_or_default();
    let number = |(key, value): (&str, &str)| match key {
        "processor" => value.parse().ok().filter(|&n| n <= CpuList::MAX),
        _ => None,
    };
    fields(&text).filter_map(number).collect()
}

/// The revision of the microcode from `/proc/cpuinfo`, each one once, joined by ` + `.
pub(crate) fn microcode(files: &Files) -> Option<String> {
    let text = files.text("/proc/cpuinfo")?;
    let mut revisions: Vec<String> = Vec::new();
    for (key, value) in fields(&text) {
        if key == "microcode" && !value.is_empty() {
            push_new(&mut revisions, value.to_owned());
        }
    }
    (!revisions.is_empty()).then(|| revisions.join(" + "))
}

/// The hypervisor's name, `"unknown"` where only its presence shows, `None` where nothing shows.
pub(crate) fn hypervisor(files: &Files) -> Option<String> {
    let by_file = files.text("/sys/hypervisor/type");
    let by_tree = || files.text("/proc/device-tree/hypervisor/compatible");
    let by_firmware = || firmware_hypervisor(files).map(str::to_owned);
    let by_flag = || {
        let text = files.text("/proc/cpuinfo")?;
        let mut flags = fields(&text).filter(|(key, _)| *key == "flags");
        let shown = flags
            .next()?
            .1
            .split_whitespace()
            .any(|flag| flag == "hypervisor");
        shown.then(|| "unknown".to_owned())
    };
    by_file
        .or_else(by_tree)
        .or_else(by_firmware)
        .or_else(by_flag)
}

fn firmware_hypervisor(files: &Files) -> Option<&'static str> {
    let dmi = |name: &str| {
        files
            .text(&format!("/sys/class/dmi/id/{name}"))
            .unwrap_or_default()
    };
    let (vendor, product) = (dmi("sys_vendor"), dmi("product_name"));
    // Whole machines are rented under the same vendor names; their product names end in "metal".
    if product.ends_with("metal") {
        return None;
    }
    let known: [(&str, &str, &str); 9] = [
        ("QEMU", "", "QEMU"),
        ("", "KVM", "KVM"),
        ("VMware", "", "VMware"),
        ("innotek", "", "VirtualBox"),
        ("Xen", "", "Xen"),
        ("Microsoft Corporation", "Virtual Machine", "Hyper-V"),
        ("Amazon EC2", "", "Amazon EC2"),
        ("Google", "Google Compute Engine", "Google Compute Engine"),
        ("OpenStack", "", "OpenStack"),
    ];
    let matches =
        |row: &&(&str, &str, &str)| vendor.starts_with(row.0) && product.starts_with(row.1);
    known.iter().find(matches).map(|row| row.2)
}

/// The kinds of cores among the online PUs; empty where all are alike or nothing tells.
pub(crate) fn core_kinds(files: &Files, online: &CpuList) -> Vec<CoreKind> {
    let intel = [
        ("performance", "cpu_core"),
        ("efficiency", "cpu_atom"),
        ("low power", "cpu_lowpower"),
    ];
    let kind = |(name, device): (&str, &str)| {
        let pus = files
            .list(&format!("/sys/devices/{device}/cpus"))?
            .intersection(online);
        Some(CoreKind {
            name: name.to_owned(),
            pus,
        })
        .filter(|kind| !kind.pus.is_empty())
    };
    let mut kinds: Vec<CoreKind> = intel.into_iter().filter_map(kind).collect();
    if kinds.is_empty() {
        let mut by_capacity = std::collections::BTreeMap::<u32, CpuList>::new();
        for pu in online.iter() {
            let path = format!("/sys/devices/system/cpu/cpu{pu}/cpu_capacity");
            if let Some(capacity) = files.value(&path) {
                by_capacity.entry(capacity).or_default().insert(pu);
            }
        }
        let kind = |(capacity, pus)| CoreKind {
            name: format!("capacity {capacity}"),
            pus,
        };
        kinds = by_capacity.into_iter().rev().map(kind).collect();
    }
    if kinds.len() < 2 { Vec::new() } else { kinds }
}

fn fields(cpuinfo: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(key, value)| (key.trim(), value.trim()))
}

fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
