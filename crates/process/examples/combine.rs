//! Measures how fast operators combine arrays, relative to a hand-written loop that copies as many
//! bytes.
//!
//! `cargo run --release -p corecast-process --example combine [RUNS]`
//!
//! Combining reads two arrays and writes one of them; copying reads one and writes the other, and a
//! cache fetches what is written. So from memory both move the same lines, and a ratio of 1 means
//! that the operator is as fast as memory. Within a cache the second load counts.
//!
//! Each run of a contestant comes right after one of the loop that copies, and the contestants take
//! turns; a ratio is the median over such pairs. `CORECAST_SIMD=baseline` or `avx2` narrows the
//! vectors of all of them.

use corecast_collectives::Pod;
use corecast_collectives::operator::{
    And, Max, Min, Operator, Or, Product, Sum, Xor, bf16, by_slice, f16,
};
use corecast_wire::simd::{self, Kernel, widest};
use std::hint::black_box;
use std::time::Instant;

const SIZES: [usize; 3] = [64 << 10, 1 << 20, 16 << 20];

/// Bytes that a run processes, in as many passes over its arrays as needed.
const RUN_BYTES: usize = 64 << 20;

/// The loop that copies, to which all others are compared. Its key is zero, and keeps the compiler
/// from calling `memcpy`.
struct Copy<'a> {
    into: &'a mut [u64],
    with: &'a [u64],
    key: u64,
}

impl Kernel for Copy<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (into, with) in self.into.iter_mut().zip(self.with) {
            *into = *with ^ self.key;
        }
    }
}

/// Two arrays to combine, and a third for results.
struct Arrays {
    into: Vec<u64>,
    with: Vec<u64>,
    out: Vec<u64>,
}

struct Contestant {
    name: String,
    pass: Box<dyn Fn(&mut Arrays)>,
}

impl Contestant {
    fn new(name: impl Into<String>, pass: impl Fn(&mut Arrays) + 'static) -> Self {
        Self {
            name: name.into(),
            pass: Box::new(pass),
        }
    }

    fn combine<T: Pod>(name: &str, operator: impl Operator<T> + 'static) -> Self {
        Self::new(name, move |arrays| {
            operator.combine(
                bytemuck::cast_slice_mut(&mut arrays.into),
                bytemuck::cast_slice(&arrays.with),
            );
        })
    }

    fn fold<T: Pod>(name: &str, operator: impl Operator<T> + 'static) -> Self {
        Self::new(name, move |arrays| {
            black_box(operator.fold(bytemuck::cast_slice(&arrays.with)));
        })
    }
}

/// The contestants; the first is the loop that copies.
fn contestants() -> Vec<Contestant> {
    macro_rules! combine {
        ($($type:ident: $($operator:ident)*;)*) => {
            vec![$($(Contestant::combine::<$type>(
                &format!("{} {}", stringify!($type), stringify!($operator)),
                $operator,
            ),)*)*]
        };
    }
    let mut all = vec![
        Contestant::new("copy, loop", |arrays| {
            widest(Copy {
                into: &mut arrays.into,
                with: &arrays.with,
                key: black_box(0),
            });
        }),
        Contestant::new("copy, memcpy", |arrays| {
            arrays.into.copy_from_slice(&arrays.with);
        }),
    ];
    all.extend(combine! {
        f64: Sum Product Min Max;
        f32: Sum Product Min Max;
        f16: Sum Product Min Max;
        bf16: Sum Product Min Max;
        u8: Sum Product Min Max And Or Xor;
        u16: Sum Product Max;
        i32: Sum Product Min Max And Or Xor;
        u64: Sum Product Min Max Xor;
        u128: Sum Product Max;
    });
    all.extend([
        Contestant::combine("f64 closure a + b", |a: f64, b: f64| a + b),
        Contestant::combine(
            "f64 slice function",
            by_slice(|into: &mut [f64], with: &[f64]| {
                for (into, with) in into.iter_mut().zip(with) {
                    *into += *with;
                }
            }),
        ),
        Contestant::new("f64 Sum, three arrays", |arrays| {
            let Arrays { into, with, out } = arrays;
            let out: &mut [f64] = bytemuck::cast_slice_mut(out);
            Sum.combine_into(out, bytemuck::cast_slice(into), bytemuck::cast_slice(with));
        }),
        Contestant::fold::<f64>("f64 Sum, fold", Sum),
        Contestant::fold::<bf16>("bf16 Sum, fold", Sum),
        Contestant::fold::<f16>("f16 Sum, fold", Sum),
        Contestant::fold::<bf16>("bf16 Max, fold", Max),
        Contestant::fold::<f32>("f32 Max, fold", Max),
        Contestant::fold::<u8>("u8 Max, fold", Max),
        Contestant::fold::<u16>("u16 Sum, fold", Sum),
        Contestant::fold("f64 closure a + b, fold", |a: f64, b: f64| a + b),
    ]);
    all
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs: usize = std::env::args().nth(1).map_or(Ok(15), |s| s.parse())?;
    let all = contestants();
    println!(
        "vectors: {}; GiB of one array per second, and times as fast as the loop that copies",
        simd::level()
    );
    print!("{:<24}", "");
    for bytes in SIZES {
        print!(" {:>16}", format!("{} KiB", bytes >> 10));
    }
    println!();
    let mut columns = Vec::new();
    for bytes in SIZES {
        // Normal numbers in every float format, so that no result stays subnormal or NaN for long.
        let ones = vec![0x3C00_3C00_3C00_3C00; bytes / 8];
        let mut arrays = Arrays {
            into: ones.clone(),
            with: ones.clone(),
            out: ones.clone(),
        };
        let passes = RUN_BYTES.div_ceil(bytes);
        let mut time = |contestant: &Contestant| {
            arrays.into.copy_from_slice(&ones);
            let clock = Instant::now();
            for _ in 0..passes {
                (contestant.pass)(black_box(&mut arrays));
            }
            clock.elapsed().as_secs_f64()
        };
        let mut pairs = vec![Vec::new(); all.len()];
        for _ in 0..runs.max(1) {
            for (contestant, pairs) in all.iter().zip(&mut pairs) {
                pairs.push((time(&all[0]), time(contestant)));
            }
        }
        let gib = (passes * bytes) as f64 / (1u64 << 30) as f64;
        let column: Vec<(f64, f64)> = pairs
            .iter()
            .map(|pairs| {
                let rates = pairs.iter().map(|(_, time)| gib / time);
                let ratios = pairs.iter().map(|(floor, time)| floor / time);
                (median(rates.collect()), median(ratios.collect()))
            })
            .collect();
        columns.push(column);
    }
    for (at, contestant) in all.iter().enumerate() {
        print!("{:<24}", contestant.name);
        for column in &columns {
            let (rate, ratio) = column[at];
            print!(" {rate:>8.1} {ratio:>5.2} x");
        }
        println!();
    }
    Ok(())
}
