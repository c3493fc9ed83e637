//! Operators whose types are erased, so that one instance of the collectives serves all of them.

use super::named::of_names;
use super::{And, BytesError, Element, Max, Min, Named, Or, Product, Sum, Xor, bf16, f16};
use crate::combine::{Combine, On};

/// Returns the built-in operator of this name on elements of this name, for `Member::reduce_by` and its siblings.
/// [`Combine::element_size`] is the element's length, to whose multiples its buffers are aligned.
///
/// # Errors
///
/// [`BytesError::NoSuchPair`].
///
/// # Cost
///
/// A look-up; an indirect call for each slice that is combined.
///
/// # Examples
///
/// ```
/// use corecast_collectives::operator::{Element, Named, erased};
///
/// let sum = erased(Named::Sum, Element::F64)?;
/// assert_eq!((sum.element_size(), sum.ordered()), (8, false));
/// assert!(erased(Named::Xor, Element::F64).is_err());
/// # Ok::<(), corecast_collectives::operator::BytesError>(())
/// ```
pub fn erased(
    operator: Named,
    element: Element,
) -> Result<&'static (dyn Combine + Sync), BytesError> {
    macro_rules! on {
        ($type:ty, $operator:ident) => {{
            const ON: On<'static, $type, $operator> = On::new(&$operator);
            &ON
        }};
    }
    Ok(of_names!(operator, element, on))
}

#[cfg(test)]
mod tests {
    use super::super::combine_bytes;
    use super::*;

    /// Three elements of any type, no NaN among the floats.
    const A: [u128; 3] = [0x3C01 << 64 | 7, 0x4402, 0x3F80_3F80_3C00_3C00];
    const B: [u128; 3] = [0x4001 << 64 | 9, 0x3C07, 0x4000_4000_4000_4000];

    #[test]
    fn each_does_what_its_name_does() {
        for &element in Element::ALL {
            for &operator in Named::ALL {
                let bytes = 3 * element.bytes();
                let (mut a, b) = (A, B);
                let into = &mut bytemuck::bytes_of_mut(&mut a)[..bytes];
                let with = &bytemuck::bytes_of(&b)[..bytes];
                let mut expected = into.to_vec();
                let known = combine_bytes(operator, element, &mut expected, with);
                let Ok(erased) = erased(operator, element) else {
                    assert!(known.is_err(), "{operator} of {element}");
                    continue;
                };
                let mut out = [0u128; 3];
                let out = &mut bytemuck::bytes_of_mut(&mut out)[..bytes];
                erased.combine_into(out, into, with);
                erased.combine(into, with);
                assert_eq!(into, expected, "{operator} of {element}");
                assert_eq!(out, expected, "{operator} of {element}");
                assert_eq!(erased.element_size(), element.bytes());
            }
        }
    }
}
