//! What a processor says that it has, as plain words, and the wait instruction that follows from them.

/// The instruction by which a hardware thread waits for a write of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitInstruction {
    /// `umwait` after `umonitor`, and `tpause`: Intel's WAITPKG, since Tremont and Alder Lake.
    Umwait,
    /// `mwaitx` after `monitorx`: AMD's MONITORX, since Excavator.
    Mwaitx,
    /// `wfe` after a load-exclusive, on AArch64. It ends with the kernel's event stream at the latest.
    Wfe,
    /// `wfet` after a load-exclusive, on AArch64 with FEAT_WFxT. It keeps a deadline.
    Wfet,
    /// A loop that looks at the line: what tests have in place of an instruction.
    #[cfg(test)]
    Pretended,
}

impl WaitInstruction {
    /// The name in assembly.
    pub fn name(self) -> &'static str {
        match self {
            Self::Umwait => "umwait",
            Self::Mwaitx => "mwaitx",
            Self::Wfe => "wfe",
            Self::Wfet => "wfet",
            #[cfg(test)]
            Self::Pretended => "pretended",
        }
    }

    /// Whether a wait ends at the deadline that it is given. Another one may end much later.
    pub fn keeps_deadlines(self) -> bool {
        self != Self::Wfe
    }
}

/// The words of CPUID on x86-64 that tell the wait instruction. A leaf that a processor does not have is zero.
///
/// # Examples
///
/// ```
/// use corecast_wire::hardware_wait::{Cpuid, WaitInstruction};
///
/// let zen4 = Cpuid { leaf_7_ecx: 0x0040_5fde, leaf_8000_0001_ecx: 0x75c2_37ff };
/// assert_eq!(zen4.instruction(), Some(WaitInstruction::Mwaitx));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpuid {
    /// ECX of leaf 7, subleaf 0.
    pub leaf_7_ecx: u32,
    /// ECX of leaf 8000_0001h.
    pub leaf_8000_0001_ecx: u32,
}

impl Cpuid {
    const WAITPKG: u32 = 1 << 5;
    const MONITORX: u32 = 1 << 29;

    /// The words of a processor whose leaves are read by `leaf`, which gets leaf and subleaf and returns EAX and ECX.
    ///
    /// A processor answers for a leaf above its highest one with the words of another leaf, so the highest is asked
    /// first: an instruction that is missing ends the program.
    pub fn read(leaf: impl Fn(u32, u32) -> [u32; 2]) -> Self {
        let ecx = |range: u32, number: u32| {
            let [highest, _] = leaf(range, 0);
            match (number..range + 0x1_0000).contains(&highest) {
                true => leaf(number, 0)[1],
                false => 0,
            }
        };
        Self {
            leaf_7_ecx: ecx(0, 7),
            leaf_8000_0001_ecx: ecx(0x8000_0000, 0x8000_0001),
        }
    }

    /// The instruction that a processor with these words has.
    pub fn instruction(self) -> Option<WaitInstruction> {
        if self.leaf_7_ecx & Self::WAITPKG != 0 {
            Some(WaitInstruction::Umwait)
        } else if self.leaf_8000_0001_ecx & Self::MONITORX != 0 {
            Some(WaitInstruction::Mwaitx)
        } else {
            None
        }
    }
}

/// The words of the auxiliary vector on AArch64 that tell the wait instruction.
///
/// # Examples
///
/// ```
/// use corecast_wire::hardware_wait::{Hwcap, WaitInstruction};
///
/// let neoverse_n1 = Hwcap { hwcap: 0x1011_9fff, hwcap2: 0 };
/// assert_eq!(neoverse_n1.instruction(), Some(WaitInstruction::Wfe));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hwcap {
    /// AT_HWCAP.
    pub hwcap: u64,
    /// AT_HWCAP2.
    pub hwcap2: u64,
}

impl Hwcap {
    const EVTSTRM: u64 = 1 << 2;
    const WFXT: u64 = 1 << 31;

    /// The instruction that serves on a processor and a kernel with these words. Every processor has `wfe`, but without
    /// the event stream it may end only with the next interrupt.
    pub fn instruction(self) -> Option<WaitInstruction> {
        if self.hwcap2 & Self::WFXT != 0 {
            Some(WaitInstruction::Wfet)
        } else if self.hwcap & Self::EVTSTRM != 0 {
            Some(WaitInstruction::Wfe)
        } else {
            None
        }
    }
}
