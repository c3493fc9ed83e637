//! Element types by number.

use crate::status::Refusal;
use corecast::operator;

/// Types of elements. The built-in operators know all of them but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Element {
    /// `uint8_t`
    U8 = 0,
    /// `uint16_t`
    U16 = 1,
    /// `uint32_t`
    U32 = 2,
    /// `uint64_t`
    U64 = 3,
    /// `unsigned __int128`
    U128 = 4,
    /// `int8_t`
    I8 = 5,
    /// `int16_t`
    I16 = 6,
    /// `int32_t`
    I32 = 7,
    /// `int64_t`
    I64 = 8,
    /// `__int128`
    I128 = 9,
    /// IEEE 754's binary16, such as `_Float16`.
    F16 = 10,
    /// The upper half of a `float`.
    Bf16 = 11,
    /// `float`
    F32 = 12,
    /// `double`
    F64 = 13,
    /// Elements of an operator of the caller's own, as long as that operator was made for. Only such
    /// operators take them.
    Own = 14,
}

/// A number of `corecast_element`.
pub type ElementCode = i32;

/// A type that the built-in operators know; `None` for [`Element::Own`].
#[inline]
pub(crate) fn known(code: ElementCode) -> Result<Option<operator::Element>, Refusal> {
    if code == Element::Own as ElementCode {
        return Ok(None);
    }
    let found = usize::try_from(code).ok();
    let found = found.and_then(|at| operator::Element::ALL.get(at)).copied();
    match found {
        Some(_) => Ok(found),
        None => Err(Refusal::invalid(format!(
            "no element type has the number {code}: take one of corecast_element"
        ))),
    }
}

/// Bytes of an element; 0 for `CORECAST_ELEMENT_OWN`, whose length an operator says, and for a number
/// that is no `corecast_element`.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_element_bytes(element: ElementCode) -> usize {
    let known = known(element).ok().flatten();
    known.map_or(0, operator::Element::bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_library() {
        use operator::Element as E;
        for (ours, theirs) in [
            (Element::U8, E::U8),
            (Element::U16, E::U16),
            (Element::U32, E::U32),
            (Element::U64, E::U64),
            (Element::U128, E::U128),
            (Element::I8, E::I8),
            (Element::I16, E::I16),
            (Element::I32, E::I32),
            (Element::I64, E::I64),
            (Element::I128, E::I128),
            (Element::F16, E::F16),
            (Element::Bf16, E::Bf16),
            (Element::F32, E::F32),
            (Element::F64, E::F64),
        ] {
            assert_eq!(known(ours as i32).unwrap(), Some(theirs));
            assert_eq!(corecast_element_bytes(ours as i32), theirs.bytes());
        }
        assert_eq!(E::ALL.len(), Element::Own as usize);
        assert_eq!(known(Element::Own as i32).unwrap(), None);
        for none in [15, -1, 99] {
            assert!(known(none).is_err(), "{none}");
        }
        for none in [14, 15, -1] {
            assert_eq!(corecast_element_bytes(none), 0, "{none}");
        }
    }
}
