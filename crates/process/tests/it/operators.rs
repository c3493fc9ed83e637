//! Operators against naive references, bit for bit: every element type, lengths around vectors and lanes, unaligned
//! starts, and every width of vectors that this CPU has.
//!
//! Vectors are made by the optimiser alone, so run this in release as well:
//! `cargo test --release -p corecast-process operators::`.

use corecast_collectives::Pod;
use corecast_collectives::operator::{
    And, BytesError, Element, LANES, Max, Min, Named, Operator, Or, Ordered, Product, Sum, Xor,
    bf16, by_slice, combine_bytes, f16, neutral_bytes, with_neutral,
};
use corecast_wire::simd::{self, Level};
use std::fmt::Debug;

/// An element type with a naive reference of the operators.
trait Reference: Pod + Debug {
    const ELEMENT: Element;
    /// Values at which results change in kind.
    const EDGES: &'static [Self];
    /// The operator's definition, as plain code.
    fn naive(operator: Named, a: Self, b: Self) -> Self;
    /// The definition of a fold, whose steps may be wider than those of two elements.
    fn naive_fold(operator: Named, data: &[Self]) -> Option<Self> {
        folded_in_lanes(data, |a, b| Self::naive(operator, a, b))
    }
}

/// Folds in the order of the documentation: combines each lane, then halves the lanes.
fn folded_in_lanes<W: Copy>(data: &[W], f: impl Fn(W, W) -> W) -> Option<W> {
    let lane = |j: usize| data.iter().skip(j).step_by(LANES).copied().reduce(&f);
    let mut lanes: Vec<Option<W>> = (0..LANES).map(lane).collect();
    while lanes.len() > 1 {
        let upper = lanes.split_off(lanes.len() / 2);
        for (low, high) in lanes.iter_mut().zip(upper) {
            *low = match (*low, high) {
                (Some(low), Some(high)) => Some(f(low, high)),
                (low, high) => low.or(high),
            };
        }
    }
    lanes[0]
}

macro_rules! integer_references {
    ($($type:ident $element:expr),*) => {$(
        impl Reference for $type {
            const ELEMENT: Element = $element;
            const EDGES: &'static [Self] = &[$type::MIN, $type::MAX, 0, 1, !0, $type::MAX / 2 + 1];

            fn naive(operator: Named, a: Self, b: Self) -> Self {
                match operator {
                    Named::Sum => a.overflowing_add(b).0,
                    Named::Product => a.overflowing_mul(b).0,
                    Named::Min => if a < b { a } else { b },
                    Named::Max => if a < b { b } else { a },
                    Named::And => a & b,
                    Named::Or => a | b,
                    Named::Xor => a ^ b,
                }
            }
        }
    )*};
}

integer_references!(
    u8 Element::U8, u16 Element::U16, u32 Element::U32, u64 Element::U64, u128 Element::U128,
    i8 Element::I8, i16 Element::I16, i32 Element::I32, i64 Element::I64, i128 Element::I128
);

macro_rules! float_references {
    ($($type:ident $wide:ident $element:expr, $quiet:expr, $of:expr, $to:expr;)*) => {$(
        impl Reference for $type {
            const ELEMENT: Element = $element;
            const EDGES: &'static [Self] = &[
                $type::INFINITY, $type::NEG_INFINITY, $type::MAX, $type::MIN, $type::MIN_POSITIVE,
                $type::EPSILON, $type::from_bits(0), $type::from_bits(1),
                // −0, −smallest, and quiet and signalling NaNs of both signs with a payload.
                $type::from_bits(1 << (8 * size_of::<$type>() - 1)),
                $type::from_bits(1 | 1 << (8 * size_of::<$type>() - 1)),
                $type::from_bits($quiet), $type::from_bits($quiet | 5),
                $type::from_bits($quiet | 3 | 1 << (8 * size_of::<$type>() - 1)),
                $type::from_bits($type::INFINITY.to_bits() + 1),
            ];

            fn naive(operator: Named, a: Self, b: Self) -> Self {
                let result = match operator {
                    _ if a.is_nan() || b.is_nan() => $type::from_bits($quiet),
                    Named::Sum => $of($to(a) + $to(b)),
                    Named::Product => $of($to(a) * $to(b)),
                    Named::Min => if a.total_cmp(&b).is_lt() { a } else { b },
                    Named::Max => if a.total_cmp(&b).is_gt() { a } else { b },
                    _ => unreachable!("{operator} of floats"),
                };
                if result.is_nan() { $type::from_bits($quiet) } else { result }
            }

            fn naive_fold(operator: Named, data: &[Self]) -> Option<Self> {
                let wide = |f: fn($wide, $wide) -> $wide| {
                    let data: Vec<$wide> = data.iter().map(|x| $to(*x)).collect();
                    let result = $of(folded_in_lanes(&data, f)?);
                    Some(if result.is_nan() { $type::from_bits($quiet) } else { result })
                };
                match operator {
                    Named::Sum => wide(|a, b| a + b),
                    Named::Product => wide(|a, b| a * b),
                    // A NaN loses its payload even in a fold of one element.
                    _ => data.first().and_then(|first| {
                        folded_in_lanes(data, |a, b| Self::naive(operator, a, b))
                            .map(|x| if x.is_nan() { Self::naive(operator, x, *first) } else { x })
                    }),
                }
            }
        }
    )*};
}

float_references! {
    f16 f32 Element::F16, 0x7E00, f16::from_f32, f16::to_f32;
    bf16 f32 Element::Bf16, 0x7FC0, bf16::from_f32, bf16::to_f32;
    f32 f32 Element::F32, 0x7FC0_0000, |x: f32| x, |x: f32| x;
    f64 f64 Element::F64, 0x7FF8_0000_0000_0000, |x: f64| x, |x: f64| x;
}

/// A check of one pair of operator and element type.
trait Check {
    fn check<T: Reference>(&self, named: Named, operator: &dyn Operator<T>);
}

/// Runs a check on every pair of operator and element type.
fn every_pair(check: impl Check) {
    macro_rules! floats {
        ($($type:ty)*) => {$(
            check.check::<$type>(Named::Sum, &Sum);
            check.check::<$type>(Named::Product, &Product);
            check.check::<$type>(Named::Min, &Min);
            check.check::<$type>(Named::Max, &Max);
        )*};
    }
    macro_rules! integers {
        ($($type:ty)*) => {$(
            floats!($type);
            check.check::<$type>(Named::And, &And);
            check.check::<$type>(Named::Or, &Or);
            check.check::<$type>(Named::Xor, &Xor);
        )*};
    }
    integers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);
    floats!(f16 bf16 f32 f64);
}

/// Random bits, and for every fourth element one of the edge values.
fn given<T: Reference>(len: usize, rng: &mut fastrand::Rng) -> Vec<T> {
    let mut data = vec![T::zeroed(); len];
    rng.fill(bytemuck::cast_slice_mut(&mut data));
    for element in &mut data {
        if rng.u8(..4) == 0 {
            *element = T::EDGES[rng.usize(..T::EDGES.len())];
        }
    }
    data
}

/// Numbers of like size, so that sums and products stay numbers and round.
fn tame<T: Reference>(len: usize, rng: &mut fastrand::Rng) -> Vec<T> {
    let one = |rng: &mut fastrand::Rng| {
        let value = 0.5 + rng.f64();
        let mut element = T::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut element);
        match T::ELEMENT {
            Element::F64 => bytes.copy_from_slice(&value.to_ne_bytes()),
            Element::F32 => bytes.copy_from_slice(&(value as f32).to_ne_bytes()),
            Element::F16 => bytes.copy_from_slice(&f16::from_f64(value).to_ne_bytes()),
            Element::Bf16 => bytes.copy_from_slice(&bf16::from_f64(value).to_ne_bytes()),
            _ => rng.fill(bytes),
        }
        element
    };
    (0..len).map(|_| one(rng)).collect()
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..70).chain([127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 1000, 4099])
}

/// Asserts that two slices have the same bits; the message names the first element that differs.
#[track_caller]
fn same<T: Pod + Debug>(found: &[T], wanted: &[T], what: impl FnOnce() -> String) {
    if bytemuck::cast_slice::<T, u8>(found) != bytemuck::cast_slice::<T, u8>(wanted) {
        let bytes = |x: &T| bytemuck::bytes_of(x).to_vec();
        let at = found
            .iter()
            .zip(wanted)
            .position(|(f, w)| bytes(f) != bytes(w));
        let show = at.map(|i| (i, found[i], wanted[i], bytes(&found[i]), bytes(&wanted[i])));
        panic!("{}: (place, found, wanted, bytes) {show:x?}", what());
    }
}

#[test]
fn reference_of_combinations() {
    struct Combinations;
    impl Check for Combinations {
        fn check<T: Reference>(&self, named: Named, operator: &dyn Operator<T>) {
            assert!(!operator.ordered());
            let mut rng = fastrand::Rng::with_seed(7);
            for len in lengths() {
                let start = rng.usize(..5);
                let make = if len % 2 == 0 { given::<T> } else { tame::<T> };
                let (a, b) = (make(len + 5, &mut rng), make(len + 5, &mut rng));
                let (a, b) = (&a[start..][..len], &b[5 - start..][..len]);
                let wanted: Vec<T> = a
                    .iter()
                    .zip(b)
                    .map(|(a, b)| T::naive(named, *a, *b))
                    .collect();
                let what = || format!("{named} of {len} {} from {start}", T::ELEMENT);

                let mut room = vec![T::zeroed(); len + 5];
                let into = &mut room[start..][..len];
                into.copy_from_slice(a);
                operator.combine(into, b);
                same(into, &wanted, what);
                into.copy_from_slice(b);
                operator.combine_left(into, a);
                same(into, &wanted, what);
                into.fill(T::zeroed());
                operator.combine_into(into, a, b);
                same(into, &wanted, what);
                assert!(
                    room[..start]
                        .iter()
                        .chain(&room[start + len..])
                        .all(|x| bytemuck::bytes_of(x).iter().all(|byte| *byte == 0))
                );
            }
        }
    }
    every_pair(Combinations);
}

#[test]
fn reference_of_every_pair_of_edges() {
    struct Edges;
    impl Check for Edges {
        fn check<T: Reference>(&self, named: Named, operator: &dyn Operator<T>) {
            let edges = T::EDGES;
            for a in edges {
                // Long enough for vectors.
                let with: Vec<T> = edges.iter().copied().cycle().take(300).collect();
                let mut into = vec![*a; 300];
                operator.combine(&mut into, &with);
                let wanted: Vec<T> = with.iter().map(|b| T::naive(named, *a, *b)).collect();
                same(&into, &wanted, || format!("{named} of {a:?} and the edges"));
            }
        }
    }
    every_pair(Edges);
}

#[test]
fn reference_of_folds() {
    struct Folds;
    impl Check for Folds {
        fn check<T: Reference>(&self, named: Named, operator: &dyn Operator<T>) {
            let mut rng = fastrand::Rng::with_seed(8);
            let neutral = operator.neutral().unwrap();
            same(&[operator.fold(&[]).unwrap()], &[neutral], || {
                format!("{named} of nothing")
            });
            for len in lengths().skip(1) {
                for make in [given::<T>, tame::<T>] {
                    let data = make(len + 1, &mut rng);
                    for data in [&data[1..], &data[..len]] {
                        let found = operator.fold(data).unwrap();
                        let wanted = T::naive_fold(named, data).unwrap();
                        same(&[found], &[wanted], || {
                            format!("fold by {named} of {len} {}", T::ELEMENT)
                        });
                    }
                }
            }
        }
    }
    every_pair(Folds);
}

/// Runs the references again in a process of their own for each width of vectors.
#[test]
fn every_width_of_vectors_gives_the_same_bits() {
    for level in Level::ALL.into_iter().filter(|level| level.is_here()) {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .arg("operators::reference_of")
            .env("CORECAST_SIMD", level.name())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("4 passed"),
            "{level}: {text}"
        );
    }
}

#[test]
fn reference_of_the_level_that_was_wished_for() {
    let requested = std::env::var("CORECAST_SIMD").ok();
    let wished = Level::ALL
        .into_iter()
        .find(|level| Some(level.name()) == requested.as_deref());
    let best = Level::ALL.into_iter().rfind(|level| level.is_here());
    assert_eq!(
        Some(simd::level()),
        wished.filter(|level| level.is_here()).or(best)
    );
}

#[test]
fn neutral_elements_change_nothing() {
    struct Neutral;
    impl Check for Neutral {
        fn check<T: Reference>(&self, named: Named, operator: &dyn Operator<T>) {
            let neutral = operator.neutral().unwrap();
            for edge in T::EDGES {
                // The neutral element changes nothing but the payload of a NaN, which the naive reference clears as
                // well.
                let cleared = T::naive_fold(named, &[*edge]).unwrap();
                let [mut left, mut right] = [[*edge]; 2];
                operator.combine(&mut left, &[neutral]);
                operator.combine_left(&mut right, &[neutral]);
                same(&[left, right], &[[cleared]; 2], || {
                    format!("{named} of {edge:?} and nothing")
                });
            }
            let mut bytes = vec![1; 3 * T::ELEMENT.bytes() + 1];
            neutral_bytes(named, T::ELEMENT, &mut bytes[1..]).unwrap();
            assert_eq!(&bytes[1..], bytemuck::cast_slice::<T, u8>(&[neutral; 3]));
        }
    }
    every_pair(Neutral);
}

#[test]
fn order_and_sides_do_not_matter_where_that_is_promised() {
    struct Laws;
    impl Check for Laws {
        fn check<T: Reference>(&self, named: Named, operator: &dyn Operator<T>) {
            let rounds = !T::ELEMENT.is_integer() && matches!(named, Named::Sum | Named::Product);
            let of = |a: T, b: T| {
                let mut into = [a];
                operator.combine(&mut into, &[b]);
                into[0]
            };
            let mut rng = fastrand::Rng::with_seed(9);
            let mut values = given::<T>(12, &mut rng);
            values.extend_from_slice(T::EDGES);
            let mut differ = false;
            for &a in &values {
                for &b in &values {
                    same(&[of(a, b)], &[of(b, a)], || {
                        format!("{named} of {a:?} and {b:?} turned")
                    });
                    for &c in &values {
                        let (left, right) = (of(of(a, b), c), of(a, of(b, c)));
                        if rounds {
                            differ |= bytemuck::bytes_of(&left) != bytemuck::bytes_of(&right);
                        } else {
                            same(&[left], &[right], || {
                                format!("{named} of {a:?}, {b:?}, {c:?}")
                            });
                        }
                    }
                }
            }
            assert_eq!(differ, rounds, "{named} of {}", T::ELEMENT);
        }
    }
    every_pair(Laws);
}

/// Composes the maps x ↦ a·x + b, first the left one: associative, but not commutative.
fn then(f: [i64; 2], g: [i64; 2]) -> [i64; 2] {
    [
        f[0].wrapping_mul(g[0]),
        f[1].wrapping_mul(g[0]).wrapping_add(g[1]),
    ]
}

fn maps(ranks: usize, len: usize) -> Vec<Vec<[i64; 2]>> {
    let mut rng = fastrand::Rng::with_seed(10);
    let mut one = || [rng.i64(..), rng.i64(..)];
    (0..ranks)
        .map(|_| (0..len).map(|_| one()).collect())
        .collect()
}

/// Reduces as a plan might: from rank `middle` outwards, with lower and higher ranks in turn.
fn around<O: Operator<[i64; 2]>>(
    operator: &O,
    data: &[Vec<[i64; 2]>],
    middle: usize,
    heed_order: bool,
) -> Vec<[i64; 2]> {
    let mut result = data[middle].clone();
    for step in 1..data.len() {
        if let Some(lower) = middle.checked_sub(step) {
            if heed_order {
                operator.combine_left(&mut result, &data[lower]);
            } else {
                operator.combine(&mut result, &data[lower]);
            }
        }
        if let Some(higher) = data.get(middle + step) {
            operator.combine(&mut result, higher);
        }
    }
    result
}

#[test]
fn ordered_operators_are_told_apart() {
    let slices = by_slice(|into: &mut [[i64; 2]], with: &[[i64; 2]]| {
        for (into, with) in into.iter_mut().zip(with) {
            *into = then(*into, *with);
        }
    });
    assert!(!then.ordered() && !slices.ordered());
    fn check(operator: &impl Operator<[i64; 2]>) {
        assert!(operator.ordered());
        for len in [1, 5, 70, 300] {
            let data = maps(5, len);
            let wanted: Vec<[i64; 2]> = (0..len)
                .map(|i| data.iter().map(|rank| rank[i]).reduce(then).unwrap())
                .collect();
            for middle in 0..5 {
                assert_eq!(around(operator, &data, middle, true), wanted);
                // Without the order the result differs, unless all other ranks are higher.
                let forgot = around(operator, &data, middle, false);
                assert_eq!(forgot == wanted, middle == 0, "middle {middle}");
            }
            let flat: Vec<[i64; 2]> = data.concat();
            assert_eq!(operator.fold(&flat), flat.iter().copied().reduce(then));
            // The lanes of a commutative fold would give another result.
            assert!(flat.len() < LANES || then.fold(&flat) != operator.fold(&flat));
            let mut out = data[3].clone();
            operator.combine_into(&mut out, &data[1], &data[2]);
            let pairs = data[1].iter().zip(&data[2]);
            assert!(out.iter().copied().eq(pairs.map(|(a, b)| then(*a, *b))));
        }
    }
    check(&Ordered(then));
    check(&Ordered(slices));
    check(&with_neutral(Ordered(then), [1, 0]));
    check(&Ordered(with_neutral(slices, [1, 0])));
}

#[test]
fn closures_and_slice_functions_fold_by_lanes() {
    let closure = |a: f32, b: f32| a + b;
    let slices = by_slice(|into: &mut [f32], with: &[f32]| {
        into.iter_mut()
            .zip(with)
            .for_each(|(into, with)| *into += with);
    });
    assert_eq!(closure.fold(&[]), None);
    assert_eq!(Operator::<f32>::fold(&slices, &[]), None);
    assert_eq!(with_neutral(slices, -0.0).fold(&[]), Some(-0.0));
    assert_eq!(with_neutral(closure, 5.0).neutral(), Some(5.0));
    let mut rng = fastrand::Rng::with_seed(11);
    for len in lengths().skip(1) {
        let data = tame::<f32>(len, &mut rng);
        let wanted = folded_in_lanes(&data, closure);
        assert_eq!(closure.fold(&data), wanted, "{len}");
        assert_eq!(slices.fold(&data), wanted, "{len}");
        assert_eq!(Sum.fold(&data), wanted, "{len}");
    }
}

#[test]
fn long_elements_fold_from_left_to_right() {
    let add = |a: [f64; 9], b: [f64; 9]| std::array::from_fn(|i| a[i] + b[i]);
    let slices = by_slice(|into: &mut [[f64; 9]], with: &[[f64; 9]]| {
        into.iter_mut()
            .zip(with)
            .for_each(|(into, with)| *into = add(*into, *with));
    });
    let mut rng = fastrand::Rng::with_seed(12);
    let data: Vec<[f64; 9]> = (0..100)
        .map(|_| std::array::from_fn(|_| rng.f64()))
        .collect();
    let wanted = data.iter().copied().reduce(add);
    assert_eq!(add.fold(&data), wanted);
    assert_eq!(slices.fold(&data), wanted);
    let [mut left, mut right] = [data.clone(), data.clone()];
    right.reverse();
    slices.combine_left(&mut left, &right);
    add.combine(&mut right, &data);
    assert_eq!(left, right);
}

#[test]
fn bytes_combine_at_any_alignment() {
    struct Bytes;
    impl Check for Bytes {
        fn check<T: Reference>(&self, named: Named, operator: &dyn Operator<T>) {
            let mut rng = fastrand::Rng::with_seed(13);
            for len in [0, 1, 2, 31, 255, 256, 257, 600] {
                let (mut a, b) = (given::<T>(len, &mut rng), given::<T>(len, &mut rng));
                let plain: Vec<u8> = bytemuck::cast_slice(&a).to_vec();
                operator.combine(&mut a, &b);
                for (into_start, with_start) in [(0, 0), (1, 1), (0, 3), (5, 0), (2, 7)] {
                    let mut into = [vec![0xAA; into_start], plain.clone(), vec![0xBB]].concat();
                    let with = [vec![0; with_start], bytemuck::cast_slice(&b).to_vec()].concat();
                    combine_bytes(
                        named,
                        T::ELEMENT,
                        &mut into[into_start..][..plain.len()],
                        &with[with_start..],
                    )
                    .unwrap();
                    let wanted = [
                        vec![0xAA; into_start],
                        bytemuck::cast_slice(&a).to_vec(),
                        vec![0xBB],
                    ];
                    assert!(into == wanted.concat(), "{named} of {len} {}", T::ELEMENT);
                }
            }
        }
    }
    every_pair(Bytes);
}

#[test]
fn what_cannot_be_combined_is_refused() {
    for &element in Element::ALL {
        for &operator in Named::ALL {
            let mut into = vec![7; 2 * element.bytes()];
            let exists = element.is_integer() || !operator.is_bitwise();
            let with = into.clone();
            let found = combine_bytes(operator, element, &mut into, &with);
            let wanted = match exists {
                true => Ok(()),
                false => Err(BytesError::NoSuchPair { operator, element }),
            };
            assert_eq!(found, wanted);
            assert_eq!(neutral_bytes(operator, element, &mut into), wanted);
            if exists && element.bytes() > 1 {
                let bytes = into.len() - 1;
                let wanted = Err(BytesError::Partial { bytes, element });
                let before = into.clone();
                let found = combine_bytes(operator, element, &mut into[1..], &with[1..]);
                assert_eq!(found, wanted);
                assert_eq!(neutral_bytes(operator, element, &mut into[1..]), wanted);
                assert_eq!(into, before);
            }
        }
    }
    let error = combine_bytes(Named::Sum, Element::F64, &mut [0; 16], &[0; 8]).unwrap_err();
    assert_eq!(error, BytesError::Lengths { into: 16, with: 8 });
    let texts = [
        (
            error.to_string(),
            "16 bytes are to be combined with 8: give as many of both",
        ),
        (
            combine_bytes(Named::Sum, Element::U32, &mut [0; 6], &[0; 6])
                .unwrap_err()
                .to_string(),
            "6 bytes are no whole number of u32 elements, which have 4 bytes each",
        ),
        (
            combine_bytes(Named::Xor, Element::F32, &mut [0; 4], &[0; 4])
                .unwrap_err()
                .to_string(),
            "xor of f32 does not exist: bitwise operators are for integers; \
             name the integer type of the same size to combine bits",
        ),
    ];
    for (found, wanted) in texts {
        assert_eq!(found, wanted);
    }
}

#[test]
fn names_are_read_back() {
    for &element in Element::ALL {
        assert_eq!(element.to_string().parse(), Ok(element));
    }
    for &operator in Named::ALL {
        assert_eq!(operator.to_string().parse(), Ok(operator));
    }
    assert_eq!(format!("{:>6}|", Named::Or), "    or|");
    let error = "SUM".parse::<Named>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "no operator is called \"SUM\"; there are sum, product, min, max, and, or, xor"
    );
    let error = "".parse::<Element>().unwrap_err().to_string();
    for element in Element::ALL {
        assert!(error.contains(element.name()), "{error}");
    }
}

#[test]
fn every_named_pair_is_visited_here() {
    struct Count(std::cell::Cell<usize>);
    impl Check for &Count {
        fn check<T: Reference>(&self, named: Named, _: &dyn Operator<T>) {
            assert!(T::ELEMENT.bytes() == size_of::<T>(), "{named}");
            self.0.set(self.0.get() + 1);
        }
    }
    let count = Count(0.into());
    every_pair(&count);
    let exists =
        |element: &Element, operator: &Named| element.is_integer() || !operator.is_bitwise();
    let pairs = Element::ALL.iter().flat_map(|element| {
        Named::ALL
            .iter()
            .filter(|operator| exists(element, operator))
    });
    assert_eq!(count.0.get(), pairs.count());
}

#[test]
fn sizes_of_pointers_are_elements_too() {
    let mut data = [usize::MAX, 3];
    Sum.combine(&mut data, &[2, 4]);
    assert_eq!(data, [1, 7]);
    let mut data = [isize::MIN, 3];
    Max.combine(&mut data, &[2, -4]);
    assert_eq!(data, [2, 3]);
}

#[test]
#[should_panic(expected = "3 elements are to be combined with 4")]
fn built_in_operators_assert_lengths() {
    Sum.combine(&mut [0; 3], &[0; 4]);
}

#[test]
#[should_panic(expected = "1 elements are to be combined with 0")]
fn closures_assert_lengths() {
    (|a: u8, b: u8| a & b).combine_into(&mut [0], &[], &[]);
}

#[test]
#[should_panic(expected = "2 elements are to be combined with 1")]
fn slice_functions_assert_lengths() {
    by_slice(|_: &mut [u8], _: &[u8]| ()).combine_left(&mut [0; 2], &[0]);
}
