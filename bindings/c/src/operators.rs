//! Operators by handle: the built-in ones, which are constants, and those of the caller's own.

use crate::elements::{ElementCode, known};
use crate::memory::give;
use crate::own::{Combine, Own};
use crate::status::{Refusal, StatusCode, entry};
use corecast::Combine as Combining;
use corecast::operator::{Named, erased};
use std::ffi::c_void;
use std::sync::Arc;

/// How a reduction makes one element of two. The built-in operators are constants
/// (`CORECAST_OPERATOR_SUM` and so on), `corecast_operator_new` makes others, and every operation that
/// combines takes either. All members give operators that do the same.
#[derive(Debug)]
pub struct Operator {
    kind: Kind,
    _reserved: [u8; RESERVED_BYTES],
}

// The type has no `repr(C)`, so that the header keeps it opaque. A program that was linked at a fixed address
// has copies of the built-in operators, so they are told apart by their bytes, not by their addresses, and
// their size must not change.
const OPERATOR_BYTES: usize = 64;
const RESERVED_BYTES: usize = OPERATOR_BYTES - size_of::<Kind>();
const _: () = assert!(size_of::<Operator>() == OPERATOR_BYTES);

#[derive(Debug)]
enum Kind {
    BuiltIn(Named),
    Own(Own),
}

impl Operator {
    const fn new(kind: Kind) -> Self {
        let _reserved = [0; RESERVED_BYTES];
        Self { kind, _reserved }
    }

    const fn built_in(named: Named) -> Self {
        Self::new(Kind::BuiltIn(named))
    }

    /// Keeps an operator of the caller's own from being freed, for as long as the result lives; the
    /// built-in ones need no keeping.
    ///
    /// # Safety
    ///
    /// `operator` is a live handle.
    pub(crate) unsafe fn keep(operator: *const Self) -> Option<Arc<Self>> {
        // SAFETY: the caller's promise.
        match unsafe { &(*operator).kind } {
            Kind::BuiltIn(_) => None,
            Kind::Own(_) => {
                // SAFETY: `corecast_operator_new` made it by `Arc::into_raw`, and it is alive.
                unsafe {
                    Arc::increment_strong_count(operator);
                    Some(Arc::from_raw(operator))
                }
            }
        }
    }
}

/// a + b. Integers wrap around.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "a name of C, behind the constant")]
pub static corecast_operator_sum: Operator = Operator::built_in(Named::Sum);

/// a · b. Integers wrap around.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "a name of C, behind the constant")]
pub static corecast_operator_product: Operator = Operator::built_in(Named::Product);

/// The smaller one. It is NaN if either is, and takes -0 for less than +0.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "a name of C, behind the constant")]
pub static corecast_operator_min: Operator = Operator::built_in(Named::Min);

/// The larger one. It is NaN if either is, and takes -0 for less than +0.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "a name of C, behind the constant")]
pub static corecast_operator_max: Operator = Operator::built_in(Named::Max);

/// a & b, of integers.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "a name of C, behind the constant")]
pub static corecast_operator_and: Operator = Operator::built_in(Named::And);

/// a | b, of integers.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "a name of C, behind the constant")]
pub static corecast_operator_or: Operator = Operator::built_in(Named::Or);

/// a ^ b, of integers.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "a name of C, behind the constant")]
pub static corecast_operator_xor: Operator = Operator::built_in(Named::Xor);

/// An operator on elements of one type, for a reduction.
#[derive(Clone, Copy)]
pub(crate) struct Combiner<'a> {
    pub(crate) operator: &'a dyn Combining,
    /// The alignment that the data must have, in bytes.
    pub(crate) align: usize,
}

/// The operator behind a handle, on elements of this type. A pair that does not fit is refused.
///
/// # Safety
///
/// `operator` is NULL or a handle that lives for as long as `'a`.
#[inline]
pub(crate) unsafe fn combiner<'a>(
    operator: *const Operator,
    element: ElementCode,
) -> Result<Combiner<'a>, Refusal> {
    // SAFETY: NULL, or the caller's promise.
    let operator = unsafe { operator.as_ref() }.ok_or_else(|| Refusal::null("operator"))?;
    let element = known(element)?;
    match (&operator.kind, element) {
        (&Kind::BuiltIn(named), Some(element)) => {
            let operator = erased(named, element).map_err(Refusal::invalid_of)?;
            let align = element.bytes();
            Ok(Combiner { operator, align })
        }
        (Kind::BuiltIn(named), None) => Err(Refusal::invalid(format!(
            "{named} is built in and knows no elements of your own: give their type, or an operator \
             of corecast_operator_new"
        ))),
        (Kind::Own(own), Some(element)) if own.element_size() != element.bytes() => {
            Err(Refusal::invalid(format!(
                "the operator is one for elements of {} bytes, those of {element} have {}",
                own.element_size(),
                element.bytes()
            )))
        }
        (Kind::Own(own), element) => {
            let align = element.map_or(1, |element| element.bytes());
            let operator = own;
            Ok(Combiner { operator, align })
        }
    }
}

/// Makes an operator of a function of the caller's, on elements of `element_bytes` bytes. Where the
/// order of ranks must be kept, because the function is not commutative, `ordered` is true.
///
/// Operations take it with `CORECAST_ELEMENT_OWN`, or with a type of `corecast_element` that is as
/// long. It must live until an operation that waits has returned; one in flight keeps what it needs of
/// it.
///
/// Threads: any.
///
/// # Safety
///
/// `combine` is NULL or does what `corecast_combine_t` says with `context`, until the last operation
/// with this operator has ended; elements are aligned to at most 16 bytes; `operator` is NULL or a
/// place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_operator_new(
    combine: Combine,
    context: *mut c_void,
    element_bytes: usize,
    ordered: bool,
    operator: *mut *mut Operator,
) -> StatusCode {
    entry(|| {
        if operator.is_null() {
            return Err(Refusal::null("operator"));
        }
        let combine = combine.ok_or_else(|| Refusal::null("combine"))?;
        if element_bytes == 0 {
            return Err(Refusal::invalid(
                "`element_bytes` is 0: give the length of an element",
            ));
        }
        // SAFETY: the caller's promise.
        let own = unsafe { Own::new(combine, context, element_bytes, ordered) };
        let handle = Arc::into_raw(Arc::new(Operator::new(Kind::Own(own)))).cast_mut();
        // SAFETY: the caller's promise.
        unsafe { give("operator", operator, handle) }
    })
}

/// Frees an operator of the caller's own. Operations in flight that use it end as they would have.
/// The built-in operators are refused. NULL is allowed and does nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `operator` is NULL or a live handle, which is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_operator_free(operator: *mut Operator) -> StatusCode {
    entry(|| {
        // SAFETY: NULL, or the caller's promise.
        match unsafe { operator.as_ref() }.map(|operator| &operator.kind) {
            None => Ok(()),
            Some(Kind::BuiltIn(named)) => Err(Refusal::invalid(format!(
                "{named} is built in: free only operators of corecast_operator_new"
            ))),
            Some(Kind::Own(_)) => {
                // SAFETY: `corecast_operator_new` made it by `Arc::into_raw`, and nobody uses this
                // handle afterwards.
                drop(unsafe { Arc::from_raw(operator.cast_const()) });
                Ok(())
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::Element;
    use crate::status::Status;

    const BUILT_IN: [(&Operator, Named); 7] = [
        (&corecast_operator_sum, Named::Sum),
        (&corecast_operator_product, Named::Product),
        (&corecast_operator_min, Named::Min),
        (&corecast_operator_max, Named::Max),
        (&corecast_operator_and, Named::And),
        (&corecast_operator_or, Named::Or),
        (&corecast_operator_xor, Named::Xor),
    ];

    /// Bytes of the elements of an operator on this type, or the reason why the pair is refused.
    fn bytes(operator: *const Operator, element: i32) -> Result<usize, String> {
        // SAFETY: every handle in these tests lives.
        match unsafe { combiner(operator, element) } {
            Ok(combiner) => Ok(combiner.operator.element_size()),
            Err(refusal) => Err(format!("{refusal:?}")),
        }
    }

    #[test]
    fn every_built_in_operator_knows_its_elements() {
        assert_eq!(BUILT_IN.len(), Named::ALL.len());
        for (handle, named) in BUILT_IN {
            assert!(matches!(handle.kind, Kind::BuiltIn(kind) if kind == named));
            for (number, &element) in corecast::operator::Element::ALL.iter().enumerate() {
                let expected = erased(named, element).ok().map(|_| element.bytes());
                assert_eq!(
                    bytes(handle, number as i32).ok(),
                    expected,
                    "{named} {element}"
                );
            }
            let refused = bytes(handle, Element::Own as i32).unwrap_err();
            assert!(refused.contains("elements of your own"), "{refused}");
            assert!(bytes(handle, 15).unwrap_err().contains("15"));
        }
    }

    /// A function that is never called.
    ///
    /// # Safety
    ///
    /// None is asked for.
    unsafe extern "C" fn nothing(_: *mut c_void, _: *const c_void, _: usize, _: *mut c_void) {}

    #[test]
    fn own_operators_take_elements_of_their_length_only() {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the function does nothing; the handle is used until it is freed, here and below.
        let made = unsafe {
            corecast_operator_new(
                Some(nothing),
                std::ptr::null_mut(),
                8,
                false,
                &raw mut handle,
            )
        };
        assert_eq!(made, Status::Ok);
        for fitting in [Element::Own, Element::F64, Element::U64, Element::I64] {
            assert_eq!(bytes(handle, fitting as i32), Ok(8));
        }
        let refused = bytes(handle, Element::F32 as i32).unwrap_err();
        assert!(
            refused.contains("8 bytes") && refused.contains("f32"),
            "{refused}"
        );
        // SAFETY: as above. What is kept outlives the handle.
        let kept = unsafe { Operator::keep(handle) }.unwrap();
        assert_eq!(Arc::strong_count(&kept), 2);
        // SAFETY: as above.
        assert_eq!(unsafe { corecast_operator_free(handle) }, Status::Ok);
        assert_eq!(Arc::strong_count(&kept), 1);
        // SAFETY: built-in operators live for ever, and nothing is made below.
        unsafe {
            assert!(Operator::keep(&raw const corecast_operator_sum).is_none());
            let sum = (&raw const corecast_operator_sum).cast_mut();
            assert_eq!(corecast_operator_free(sum), Status::Invalid);
            assert_eq!(corecast_operator_free(std::ptr::null_mut()), Status::Ok);
            let new = |combine, bytes, place| {
                corecast_operator_new(combine, std::ptr::null_mut(), bytes, false, place)
            };
            assert_eq!(new(None, 8, &raw mut handle), Status::Invalid);
            assert_eq!(new(Some(nothing), 0, &raw mut handle), Status::Invalid);
            assert_eq!(new(Some(nothing), 8, std::ptr::null_mut()), Status::Invalid);
        }
        assert!(
            bytes(std::ptr::null(), 0)
                .unwrap_err()
                .contains("`operator` is NULL")
        );
    }
}
