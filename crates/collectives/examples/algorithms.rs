//! Prints the table of docs/algorithms.md, which a test compares with the registry.

fn main() {
    println!("| collective | name | file | source | needs | size | phases | transfers | bytes |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for entry in corecast_collectives::entries() {
        println!("{}", entry.row());
    }
}
