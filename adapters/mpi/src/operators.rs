//! Layer 4: operators of reductions, as Corecast's collectives take them.

use crate::process;
use crate::slots::{SLOTS, slot};
use crate::types::{Class, Type};
use corecast::Combine;
use corecast::operator::{Named, erased};
use corecast_network::{Handle, Library, Operation};
use corecast_wire::copy;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// An operator on elements of one type.
pub(crate) enum Operator<'a> {
    /// One of Corecast's own.
    Known(&'static (dyn Combine + Sync), Exactness),
    /// What the library computes, for the program's own operators too.
    Local(Local<'a>),
}

/// What of the results depends on the order of reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exactness {
    /// Nothing.
    Exact,
    /// The rounding, unless there are two operands.
    Rounded,
    /// Nobody knows: what a program's own operator does, or which is the least of a number and none, or of zeros of both signs.
    Unknown,
}

/// An operator that the library applies.
pub(crate) struct Local<'a> {
    library: &'a Library,
    op: Handle,
    datatype: Handle,
    /// Bytes of an element.
    extent: usize,
    is_ordered: bool,
    exactness: Exactness,
}

impl Operator<'_> {
    #[inline]
    pub(crate) fn as_combine(&self) -> &dyn Combine {
        match self {
            Self::Known(known, _) => *known,
            Self::Local(local) => local,
        }
    }

    /// What of the results depends on the order of reduction.
    pub(crate) fn exactness(&self) -> Exactness {
        match self {
            Self::Known(_, exactness) => *exactness,
            Self::Local(local) => local.exactness,
        }
    }

    /// The alignment that elements need.
    #[inline]
    pub(crate) fn align(&self) -> usize {
        match self {
            Self::Known(known, _) => known.element_size(),
            // The library and its users read what the program gives, wherever it lies.
            Self::Local(_) => 1,
        }
    }
}

/// The operator of a handle on elements of a type; `None` if Corecast leaves the pair to the library, or it is none that
/// fits. All ranks give the same pair, so they agree.
#[inline]
pub(crate) fn of(
    library: &Library,
    (raw, found): (Handle, Type),
    raw_op: Handle,
) -> Option<Operator<'_>> {
    let op = library.handle(raw_op);
    let datatype = library.handle(raw);
    match library.operation(op) {
        Some(operation) => {
            let class = found.class?;
            let known = known(operation, class);
            if known.is_none() && !is_local(operation, class) {
                return None;
            }
            let exactness = exactness(operation, class);
            match (
                answer(library, known, (datatype, found), (op, operation)),
                known,
            ) {
                (Answer::Refused, _) => None,
                (Answer::Alike, Some(known)) => Some(Operator::Known(known, exactness)),
                _ => Some(Operator::Local(Local {
                    library,
                    op,
                    datatype,
                    extent: found.stride()?,
                    is_ordered: false,
                    exactness,
                })),
            }
        }
        None => own(library, (datatype, found), op),
    }
}

/// An operator of the program's own.
#[cold]
fn own(library: &Library, (datatype, found): (Handle, Type), op: Handle) -> Option<Operator<'_>> {
    let has_gaps = !found.is_full && found.class != Some(Class::Pair);
    if has_gaps || op == library.no_op() {
        return None;
    }
    let mut commutes: c_int = 0;
    // SAFETY: a place for a number.
    let ended = unsafe { (library.functions().op_commutative)(op, &mut commutes) };
    (ended == 0).then_some(Operator::Local(Local {
        library,
        op,
        datatype,
        extent: found.stride()?,
        is_ordered: commutes == 0,
        exactness: Exactness::Unknown,
    }))
}

#[inline]
fn known(operation: Operation, class: Class) -> Option<&'static (dyn Combine + Sync)> {
    let named = match operation {
        Operation::Sum => Named::Sum,
        Operation::Product => Named::Product,
        Operation::Min => Named::Min,
        Operation::Max => Named::Max,
        Operation::And => Named::And,
        Operation::Or => Named::Or,
        Operation::Xor => Named::Xor,
        _ => return None,
    };
    let element = match class {
        Class::Integer(element) | Class::Float(element) => element,
        Class::Byte if matches!(named, Named::And | Named::Or | Named::Xor) => {
            corecast::operator::Element::U8
        }
        _ => return None,
    };
    erased(named, element).ok()
}

/// What the library says of a predefined type and an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// They are no pair for it.
    Refused,
    /// It finds another result than Corecast's operator.
    Other,
    /// It finds what Corecast's operator does, if there is one.
    Alike,
}

/// The answers to predefined types, for each operation: handles, and an [`Answer`] in the two lowest bits.
static ASKED: [[AtomicU64; SLOTS]; 12] = [const { [const { AtomicU64::new(0) }; SLOTS] }; 12];

/// Asks the library once about a pair. Open MPI 4.1 refuses some that the standard allows, such as logical operations on
/// `MPI_INTEGER`, and MPICH of Debian 12 compares `MPI_UNSIGNED_CHAR` as signed. What a program computes must not depend on which of
/// its calls are the library's, so the library is right.
#[inline]
fn answer(
    library: &Library,
    known: Option<&'static (dyn Combine + Sync)>,
    (datatype, found): (Handle, Type),
    (op, operation): (Handle, Operation),
) -> Answer {
    let Some(asked) = ASKED.get(operation as usize) else {
        return Answer::Refused;
    };
    let mut at = slot(datatype);
    for _ in 0..SLOTS {
        // Relaxed: a word says all.
        match asked[at].load(Ordering::Relaxed) {
            0 => break,
            word if word >> 2 == datatype as u64 => {
                return [Answer::Refused, Answer::Other, Answer::Alike][(word & 3).min(2) as usize];
            }
            _ => at = (at + 1) % SLOTS,
        }
    }
    ask(
        library,
        known,
        (datatype, found),
        (op, operation),
        &asked[at],
    )
}

/// Asks. The word is where the answer may be kept.
#[cold]
fn ask(
    library: &Library,
    known: Option<&'static (dyn Combine + Sync)>,
    (datatype, found): (Handle, Type),
    (op, operation): (Handle, Operation),
    word: &AtomicU64,
) -> Answer {
    let takes = |quiet| library.takes_pair(quiet, datatype, op);
    let is_refused = found.extent <= 64 && process::on_quiet(takes) == Some(false);
    let compared = match (operation, found.class) {
        (Operation::Min | Operation::Max, Some(Class::Integer(_))) => known,
        _ => None,
    };
    let answer = match compared {
        _ if is_refused => Answer::Refused,
        Some(known) if !compares_alike(library, known, (datatype, op)) => Answer::Other,
        _ => Answer::Alike,
    };
    let kept = (datatype as u64) << 2 | answer as u64;
    // Where another thread was here before, it is asked again next time. Relaxed: as above.
    let _ = word.compare_exchange(0, kept, Ordering::Relaxed, Ordering::Relaxed);
    answer
}

/// Has both compare an element with the highest bit to one without.
fn compares_alike(
    library: &Library,
    known: &'static (dyn Combine + Sync),
    (datatype, op): (Handle, Handle),
) -> bool {
    let len = known.element_size();
    let (mut low, mut high) = ([0_u128], [0_u128]);
    bytemuck::bytes_of_mut(&mut low)[0] = 5;
    bytemuck::bytes_of_mut(&mut high)[len - 1] = 200;
    let (low, mut ours) = (&bytemuck::bytes_of(&low)[..len], high);
    let (ours, theirs) = (
        &mut bytemuck::bytes_of_mut(&mut ours)[..len],
        &mut bytemuck::bytes_of_mut(&mut high)[..len],
    );
    known.combine(ours, low);
    // SAFETY: both are one element of the type, with the widest alignment.
    let code = unsafe {
        (library.functions().reduce_local)(
            low.as_ptr().cast(),
            theirs.as_mut_ptr().cast(),
            1,
            datatype,
            op,
        )
    };
    code != 0 || ours == theirs
}

fn exactness(operation: Operation, class: Class) -> Exactness {
    match (operation, class) {
        (
            Operation::Sum | Operation::Product,
            Class::Float(_) | Class::WideFloat | Class::Complex,
        ) => Exactness::Rounded,
        (Operation::Min | Operation::Max, Class::Float(_) | Class::WideFloat) => Exactness::Unknown,
        _ => Exactness::Exact,
    }
}

/// Whether the library applies the operation to elements of this class: the pairs that the standard allows, less those that
/// Corecast computes itself.
fn is_local(operation: Operation, class: Class) -> bool {
    match operation {
        Operation::LogicalAnd | Operation::LogicalOr | Operation::LogicalXor => {
            matches!(class, Class::Integer(_) | Class::Logical)
        }
        Operation::Sum | Operation::Product => matches!(class, Class::WideFloat | Class::Complex),
        Operation::Min | Operation::Max => class == Class::WideFloat,
        Operation::MinLocation | Operation::MaxLocation => class == Class::Pair,
        Operation::And | Operation::Or | Operation::Xor => false,
        Operation::Replace | Operation::Nothing => false,
    }
}

impl Local<'_> {
    /// `inout = input ∘ inout`
    fn apply(&self, input: &[u8], inout: &mut [u8]) {
        assert_eq!(input.len(), inout.len());
        // As many elements as a number of theirs can say.
        let most = self.extent * (c_int::MAX as usize);
        for (input, inout) in input.chunks(most).zip(inout.chunks_mut(most)) {
            let count = (inout.len() / self.extent) as c_int;
            // SAFETY: both have so many elements of the type, which fill their memory. The library refuses no pair that was
            // found to be allowed, and an operator of the program's own does what it does under the library.
            unsafe {
                (self.library.functions().reduce_local)(
                    input.as_ptr().cast(),
                    inout.as_mut_ptr().cast(),
                    count,
                    self.datatype,
                    self.op,
                );
            }
        }
    }
}

impl Combine for Local<'_> {
    fn element_size(&self) -> usize {
        self.extent
    }

    fn ordered(&self) -> bool {
        self.is_ordered
    }

    fn combine(&self, into: &mut [u8], with: &[u8]) {
        if !self.is_ordered {
            return self.apply(with, into);
        }
        let mut right = with.to_vec();
        self.apply(into, &mut right);
        copy::slice(into, &right);
    }

    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        self.apply(with, into);
    }

    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        copy::slice(out, b);
        self.apply(a, out);
    }
}
