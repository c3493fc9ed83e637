use corecast_collectives::PipelineSegments as P;
use corecast_plan::patterns::LevelShapes as L;
use corecast_validation::clusters::{published::*, runs::*};
fn main() {
    for (system, pull, ff) in TABLE_2.into_iter().take(2) {
        let n = system.cores_max();
        let most: usize = std::env::args()
            .nth(1)
            .map_or(1 << 30, |a| a.parse().unwrap());
        for (at, size) in SIZES.into_iter().enumerate().filter(|s| s.1 <= most) {
            let t = |bw: f64| size as f64 * n as f64 / bw;
            let clock = std::time::Instant::now();
            let a = time_us(
                system,
                n,
                Program::Broadcast(Shape::Levels(L::BINOMIAL), P::Whole),
                size,
            );
            let ta = clock.elapsed();
            let b = time_us(
                system,
                n,
                Program::Broadcast(Shape::Levels(L::FLAT_INSIDE), P::FIXED),
                size,
            );
            println!(
                "{:12} {size:9} pull {a:10.1} ({:10.1}) ff {b:10.1} ({:10.1}) ratio {:.3} ({:.3}) err {:.2}   {ta:.1?} {:.1?}",
                system.name(),
                t(pull[at]),
                t(ff[at]),
                a / b,
                ff[at] / pull[at],
                a / b / (ff[at] / pull[at]),
                clock.elapsed()
            );
        }
    }
}
