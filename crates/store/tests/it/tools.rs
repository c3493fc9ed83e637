//! Redis's own tools and clients, as they are.

use std::process::{Command, Stdio};

use crate::servers::{Ours, is_there};

fn output(program: &str, port: u16, arguments: &[&str]) -> String {
    let output = Command::new("timeout")
        .args(["120", program, "-p", &port.to_string()])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn redis_cli_works() {
    if !is_there("redis-cli") {
        return;
    }
    let ours = Ours::start();
    let cli = |arguments: &[&str]| output("redis-cli", ours.address.port(), arguments);
    assert_eq!(cli(&["SET", "greeting", "hello there"]), "OK\n");
    assert_eq!(cli(&["GET", "greeting"]), "hello there\n");
    assert_eq!(cli(&["-3", "GET", "nothing"]), "\n");
    assert_eq!(cli(&["--scan", "--pattern", "greet*"]), "greeting\n");
    assert_eq!(cli(&["-n", "3", "DBSIZE"]), "0\n");
    assert!(cli(&["COMMAND", "DOCS", "GET"]).contains("summary"));
    assert!(cli(&["INFO", "keyspace"]).contains("db0:keys=1,expires=0"));
}

#[test]
fn redis_benchmark_works() {
    if !is_there("redis-benchmark") {
        return;
    }
    let ours = Ours::start();
    let port = ours.address.port();
    for pipeline in ["1", "16"] {
        let arguments = ["-q", "-n", "2000", "-c", "20", "-P", pipeline, "-r", "100"];
        let tests = ["-t", "ping_inline,ping_mbulk,set,get,incr,mset"];
        let told = output("redis-benchmark", port, &[&arguments[..], &tests].concat());
        for name in ["PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "MSET"] {
            assert!(told.contains(name), "{told}");
        }
        assert!(!told.to_lowercase().contains("error"), "{told}");
    }
}

/// What applications in Python use: it says HELLO, sets names, watches and runs transactions.
#[test]
fn redis_py_works() {
    const PROGRAM: &str = "
import redis, sys
for protocol in (2, 3):
    more = {'protocol': protocol} if int(redis.__version__.split('.')[0]) >= 5 else {}
    r = redis.Redis(port=int(sys.argv[1]), decode_responses=True, **more)
    r.flushall()
    assert r.ping()
    assert r.set('a', 1, ex=100) and r.get('a') == '1' and 98 <= r.ttl('a') <= 100
    assert r.incrbyfloat('f', 0.1) == 0.1 and r.incrbyfloat('f', 0.2) == 0.3
    assert r.mset({'b': 2, 'c': 3}) and r.mget('a', 'b', 'x') == ['1', '2', None]
    with r.pipeline() as p:
        p.watch('a')
        n = int(p.get('a'))
        p.multi()
        p.set('a', n + 1).get('a')
        assert p.execute() == [True, '2']
    with r.pipeline() as p:
        p.watch('a')
        r.set('a', 9)
        p.multi()
        p.get('a')
        try:
            p.execute()
            raise SystemExit('a watched key has changed')
        except redis.WatchError:
            pass
    assert sorted(r.scan_iter()) == ['a', 'b', 'c', 'f']
    try:
        r.lpush('l', 1)
        raise SystemExit('there are no lists')
    except redis.ResponseError as error:
        assert 'unknown command' in str(error), error
    assert r.client_id() > 0 and r.info()['redis_version']
    assert r.config_get('maxclients')
print('fine')
";
    // Debian's packages are for its own Python, which may not be the first one.
    let has_redis = |python: &&str| {
        let output = Command::new(python).args(["-c", "import redis"]).output();
        output.is_ok_and(|it| it.status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(has_redis) else {
        let required = std::env::var_os("CORECAST_REQUIRE_PEERS").is_some();
        assert!(
            !required,
            "python3 has no redis: Debian's python3-redis has it"
        );
        eprintln!("SKIPPED: python3 has no redis");
        return;
    };
    let ours = Ours::start();
    let port = ours.address.port().to_string();
    let output = Command::new("timeout")
        .args(["120", python, "-c", PROGRAM, &port])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "fine\n",
        "{errors}"
    );
}
