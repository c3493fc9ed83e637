//! Element types and operators by name, over plain bytes: for bindings to other languages.

use super::{And, Max, Min, Operator, Or, Product, Sum, Xor, bf16, f16};
use bytemuck::Pod;
use std::fmt;
use std::str::FromStr;

macro_rules! named {
    ($(#[$doc:meta])* $enum:ident, $what:literal: $($(#[$variant_doc:meta])* $variant:ident $name:literal),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $enum {$(
            $(#[$variant_doc])*
            $variant,
        )*}

        impl $enum {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name, as [`FromStr`] reads it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $enum {
            type Err = UnknownName;

            fn from_str(input: &str) -> Result<Self, UnknownName> {
                match input {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(UnknownName {
                        input: input.to_owned(),
                        what: $what,
                        names: &[$($name),*],
                    }),
                }
            }
        }
    };
}

named! {
    /// A type of elements that reductions know by name.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_collectives::operator::Element;
    ///
    /// let element: Element = "bf16".parse()?;
    /// assert_eq!(element.bytes(), 2);
    /// let error = "float".parse::<Element>().unwrap_err();
    /// assert!(error.to_string().contains("\"float\""));
    /// # Ok::<(), corecast_collectives::operator::UnknownName>(())
    /// ```
    Element, "element type":
    /// Unsigned, 8 bits.
    U8 "u8",
    /// Unsigned, 16 bits.
    U16 "u16",
    /// Unsigned, 32 bits.
    U32 "u32",
    /// Unsigned, 64 bits.
    U64 "u64",
    /// Unsigned, 128 bits.
    U128 "u128",
    /// Signed, 8 bits.
    I8 "i8",
    /// Signed, 16 bits.
    I16 "i16",
    /// Signed, 32 bits.
    I32 "i32",
    /// Signed, 64 bits.
    I64 "i64",
    /// Signed, 128 bits.
    I128 "i128",
    /// IEEE 754's binary16.
    F16 "f16",
    /// The upper half of an `f32`.
    Bf16 "bf16",
    /// IEEE 754's binary32.
    F32 "f32",
    /// IEEE 754's binary64.
    F64 "f64",
}

named! {
    /// A built-in operator by name.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_collectives::operator::Named;
    ///
    /// assert_eq!("max".parse(), Ok(Named::Max));
    /// assert_eq!(Named::Xor.to_string(), "xor");
    /// ```
    Named, "operator":
    /// [`Sum`](struct@Sum)
    Sum "sum",
    /// [`Product`](struct@Product)
    Product "product",
    /// [`Min`](struct@Min)
    Min "min",
    /// [`Max`](struct@Max)
    Max "max",
    /// [`And`](struct@And)
    And "and",
    /// [`Or`](struct@Or)
    Or "or",
    /// [`Xor`](struct@Xor)
    Xor "xor",
}

impl Element {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            Self::U128 | Self::I128 => 16,
        }
    }

    /// Whether elements of this type are integers, for which the bitwise operators exist.
    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }
}

impl Named {
    /// Whether it works on bits, and therefore on integers alone.
    pub const fn is_bitwise(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }
}

/// A name that no element type, or no operator, has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {what} is called {input:?}; there are {}", names.join(", "))]
pub struct UnknownName {
    /// The name that was given.
    pub input: String,
    what: &'static str,
    names: &'static [&'static str],
}

/// Bytes that cannot be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BytesError {
    /// Floats have no bitwise operators.
    #[error(
        "{operator} of {element} does not exist: bitwise operators are for integers; \
         name the integer type of the same size to combine bits"
    )]
    NoSuchPair {
        /// The operator that was named.
        operator: Named,
        /// The element type that was named.
        element: Element,
    },
    /// The two sides differ in length.
    #[error("{into} bytes are to be combined with {with}: give as many of both")]
    Lengths {
        /// Bytes that are combined into.
        into: usize,
        /// Bytes that come in.
        with: usize,
    },
    /// The bytes are no whole number of elements.
    #[error("{bytes} bytes are no whole number of {element} elements, which have {} bytes each", element.bytes())]
    Partial {
        /// Bytes that were given.
        bytes: usize,
        /// The element type that was named.
        element: Element,
    },
}

/// Combines elements in plain bytes: `into[i] = into[i] ∘ with[i]`, in this machine's byte order
/// and at any alignment.
///
/// # Errors
///
/// [`BytesError`] when the pair does not exist or the lengths do not fit; `into` is then unchanged.
///
/// # Cost
///
/// That of the typed [`Operator::combine`] where both sides are aligned for the element; elsewhere
/// pieces go through buffers in the first cache.
///
/// # Examples
///
/// ```
/// use corecast_collectives::operator::{Element, Named, combine_bytes};
///
/// let mut sum = 40u32.to_ne_bytes();
/// combine_bytes(Named::Sum, Element::U32, &mut sum, &2u32.to_ne_bytes())?;
/// assert_eq!(u32::from_ne_bytes(sum), 42);
/// assert!(combine_bytes(Named::Xor, Element::F32, &mut sum, &[0; 4]).is_err());
/// # Ok::<(), corecast_collectives::operator::BytesError>(())
/// ```
pub fn combine_bytes(
    operator: Named,
    element: Element,
    into: &mut [u8],
    with: &[u8],
) -> Result<(), BytesError> {
    if into.len() != with.len() {
        return Err(BytesError::Lengths {
            into: into.len(),
            with: with.len(),
        });
    }
    visit(operator, element, into.len(), Combine { into, with })
}

/// Fills bytes with the neutral element, at any alignment. Members without data of their own
/// contribute it.
///
/// # Errors
///
/// [`BytesError`] when the pair does not exist or the length does not fit.
///
/// # Examples
///
/// ```
/// use corecast_collectives::operator::{Element, Named, neutral_bytes};
///
/// let mut nothing = [0; 4];
/// neutral_bytes(Named::Min, Element::I16, &mut nothing)?;
/// assert_eq!(nothing, [i16::MAX.to_ne_bytes(); 2].as_flattened());
/// # Ok::<(), corecast_collectives::operator::BytesError>(())
/// ```
pub fn neutral_bytes(operator: Named, element: Element, into: &mut [u8]) -> Result<(), BytesError> {
    visit(operator, element, into.len(), Neutral { into })
}

/// Expands `$on!(type, operator)` for the types that two names stand for. Returns [`BytesError::NoSuchPair`] from the function
/// around it if the operator is not one for such elements.
macro_rules! of_names {
    ($operator:ident, $element:ident, $on:ident) => {
        match $element {
            Element::U8 => of_names!(@integers $operator, $on, u8),
            Element::U16 => of_names!(@integers $operator, $on, u16),
            Element::U32 => of_names!(@integers $operator, $on, u32),
            Element::U64 => of_names!(@integers $operator, $on, u64),
            Element::U128 => of_names!(@integers $operator, $on, u128),
            Element::I8 => of_names!(@integers $operator, $on, i8),
            Element::I16 => of_names!(@integers $operator, $on, i16),
            Element::I32 => of_names!(@integers $operator, $on, i32),
            Element::I64 => of_names!(@integers $operator, $on, i64),
            Element::I128 => of_names!(@integers $operator, $on, i128),
            Element::F16 => of_names!(@floats $operator, $element, $on, f16),
            Element::Bf16 => of_names!(@floats $operator, $element, $on, bf16),
            Element::F32 => of_names!(@floats $operator, $element, $on, f32),
            Element::F64 => of_names!(@floats $operator, $element, $on, f64),
        }
    };
    (@integers $operator:ident, $on:ident, $type:ty) => {
        match $operator {
            Named::Sum => $on!($type, Sum),
            Named::Product => $on!($type, Product),
            Named::Min => $on!($type, Min),
            Named::Max => $on!($type, Max),
            Named::And => $on!($type, And),
            Named::Or => $on!($type, Or),
            Named::Xor => $on!($type, Xor),
        }
    };
    (@floats $operator:ident, $element:ident, $on:ident, $type:ty) => {
        match $operator {
            Named::Sum => $on!($type, Sum),
            Named::Product => $on!($type, Product),
            Named::Min => $on!($type, Min),
            Named::Max => $on!($type, Max),
            Named::And | Named::Or | Named::Xor => {
                return Err(BytesError::NoSuchPair {
                    operator: $operator,
                    element: $element,
                });
            }
        }
    };
}
pub(super) use of_names;

/// An action for which the types of operator and element must be known.
trait Visit {
    fn typed<T: Pod, O: Operator<T>>(self, operator: O);
}

/// Runs `visit` with the types that the two names stand for.
fn visit(
    operator: Named,
    element: Element,
    bytes: usize,
    visit: impl Visit,
) -> Result<(), BytesError> {
    macro_rules! typed {
        ($type:ty, $operator:ident) => {
            visit.typed::<$type, _>($operator)
        };
    }
    if operator.is_bitwise() && !element.is_integer() {
        return Err(BytesError::NoSuchPair { operator, element });
    }
    if !bytes.is_multiple_of(element.bytes()) {
        return Err(BytesError::Partial { bytes, element });
    }
    of_names!(operator, element, typed);
    Ok(())
}

struct Combine<'a> {
    into: &'a mut [u8],
    with: &'a [u8],
}

impl Visit for Combine<'_> {
    fn typed<T: Pod, O: Operator<T>>(self, operator: O) {
        let Self { into, with } = self;
        if let (Ok(into), Ok(with)) = (
            bytemuck::try_cast_slice_mut(into),
            bytemuck::try_cast_slice(with),
        ) {
            return operator.combine(into, with);
        }
        // Elements of a buffer: at most 4 KiB, for the longest element.
        const PIECE: usize = 256;
        let (mut a, mut b) = ([T::zeroed(); PIECE], [T::zeroed(); PIECE]);
        let piece = PIECE * size_of::<T>();
        for (into, with) in into.chunks_mut(piece).zip(with.chunks(piece)) {
            let elements = with.len() / size_of::<T>();
            let (a, b) = (&mut a[..elements], &mut b[..elements]);
            bytemuck::cast_slice_mut(a).copy_from_slice(into);
            bytemuck::cast_slice_mut(b).copy_from_slice(with);
            operator.combine(a, b);
            into.copy_from_slice(bytemuck::cast_slice(a));
        }
    }
}

struct Neutral<'a> {
    into: &'a mut [u8],
}

impl Visit for Neutral<'_> {
    fn typed<T: Pod, O: Operator<T>>(self, operator: O) {
        if let Some(neutral) = operator.neutral() {
            for element in self.into.chunks_exact_mut(size_of::<T>()) {
                element.copy_from_slice(bytemuck::bytes_of(&neutral));
            }
        }
    }
}
