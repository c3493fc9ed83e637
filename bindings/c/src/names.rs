//! Element types and operators, by number.

use crate::status::Refusal;
use corecast::Combine;
use corecast::operator::{self, Named, erased};

/// Types of elements that the built-in operators know.
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
}

/// A `corecast_element`.
pub type ElementCode = i32;

/// The built-in operators. Integers wrap around; floats have no bitwise ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Operator {
    /// a + b
    Sum = 0,
    /// a · b
    Product = 1,
    /// The smaller one; NaN if either is, and -0 below +0.
    Min = 2,
    /// The larger one; NaN if either is, and -0 below +0.
    Max = 3,
    /// a & b
    And = 4,
    /// a | b
    Or = 5,
    /// a ^ b
    Xor = 6,
}

/// A `corecast_operator`.
pub type OperatorCode = i32;

fn element(code: ElementCode) -> Result<operator::Element, Refusal> {
    let found = usize::try_from(code).ok();
    let found = found.and_then(|at| operator::Element::ALL.get(at));
    found.copied().ok_or_else(|| {
        Refusal::invalid(format!(
            "no element type has the number {code}: take one of corecast_element"
        ))
    })
}

/// The operator on such elements, and how these are aligned.
#[inline]
pub(crate) fn combine(
    code: OperatorCode,
    of: ElementCode,
) -> Result<(&'static (dyn Combine + Sync), usize), Refusal> {
    let named = usize::try_from(code).ok();
    let named = named.and_then(|at| Named::ALL.get(at));
    let named = *named.ok_or_else(|| {
        Refusal::invalid(format!(
            "no operator has the number {code}: take one of corecast_operator"
        ))
    })?;
    let element = element(of)?;
    let combine = erased(named, element).map_err(|error| Refusal::invalid(error.to_string()))?;
    Ok((combine, element.bytes()))
}

/// Bytes of an element, 0 for a number that is no `corecast_element`.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_element_bytes(element: ElementCode) -> usize {
    self::element(element).map_or(0, operator::Element::bytes)
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
            assert_eq!(element(ours as i32).unwrap(), theirs);
            assert_eq!(corecast_element_bytes(ours as i32), theirs.bytes());
        }
        for (ours, theirs) in [
            (Operator::Sum, Named::Sum),
            (Operator::Product, Named::Product),
            (Operator::Min, Named::Min),
            (Operator::Max, Named::Max),
            (Operator::And, Named::And),
            (Operator::Or, Named::Or),
            (Operator::Xor, Named::Xor),
        ] {
            assert_eq!(Named::ALL[ours as usize], theirs);
        }
        assert_eq!((E::ALL.len(), Named::ALL.len()), (14, 7));
        for (operator, element) in [(7, 0), (-1, 0), (0, 14), (0, -1), (6, 13)] {
            assert!(combine(operator, element).is_err(), "{operator} {element}");
        }
    }
}
