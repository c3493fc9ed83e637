//! Tests that need a process of their own, because they count what a process has (threads, descriptors), fork it, or enter a
//! sandbox. The tests of `corecast-transfer` and `corecast-process` use this file, too.

use std::any::type_name;
use std::process::Command;

/// Names the test that this process was started for.
const TEST: &str = "CORECAST_TEST_BY_ITSELF";

/// Runs `body` in a process that runs the calling test and nothing else: this program again.
///
/// `body` has to be a closure that is written in the test function itself, since its type names the test.
#[track_caller]
pub(crate) fn by_itself<F: FnOnce()>(body: F) {
    let path = type_name::<F>();
    let test = path.strip_suffix("::{{closure}}");
    let test = test.and_then(|path| path.split_once("::"));
    let (_, test) = test.unwrap_or_else(|| panic!("{path} is no closure of a test"));
    if std::env::var(TEST).is_ok_and(|told| told == test) {
        return body();
    }
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(TEST, test)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    let complained = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{test}, {}: {said}{complained}",
        ended.status
    );
    println!("{said}");
}
