//! Explains which plans run, and why, on this machine and on another one.
//!
//! ```text
//! cargo run --example 06_explain
//! ```

use corecast::choose::{Preferences, Races, choose};
use corecast::model::builtin;
use corecast::plan::Operation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = corecast::team(2)?;
    team.run(|member| member.barrier().map(|()| member.rank()));
    println!("{}", team.explain());

    let machine = builtin("sandybridge-2x8").ok_or("a machine of the literature")?;
    let races = Races::none("this machine is not at hand");
    let (costs, threads) = (machine.costs(), machine.threads());
    println!("the same question for {}:", machine.machine().name);
    for operation in Operation::ALL {
        let choice = choose(costs, threads, operation, &Preferences::default(), &races)?;
        let (chosen, unit) = (choice.chosen(), costs.unit());
        println!(
            "{operation:9} {}, predicted {:.0} {unit}: {}",
            chosen.pattern, chosen.latency, choice.reason
        );
    }
    Ok(())
}
