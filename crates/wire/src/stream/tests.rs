//! Streamed copies have the bytes of ordinary ones.

use super::*;

#[test]
fn streamed_copies_are_copies_at_any_ends() {
    let from: Vec<u8> = (0..1000).map(|i| (i * 7 + i / 256) as u8).collect();
    for start in 0..70 {
        for len in (0..200).chain([500, 800]) {
            for gap in [0, 1, 15, 63] {
                let mut into = vec![0xEE; 1000];
                let source = &from[gap..gap + len];
                // SAFETY: of a slice of this length, which is not `into`.
                unsafe { past_caches(&mut into[start..start + len], source.as_ptr()) };
                assert_eq!(&into[start..start + len], source);
                let around = into[..start].iter().chain(&into[start + len..]);
                assert!(around.into_iter().all(|&byte| byte == 0xEE));
            }
        }
    }
}

#[test]
fn the_share_is_that_of_the_last_cache() {
    let cpu = rustix::thread::sched_getcpu();
    let root = std::env::temp_dir().join(format!("corecast-stream-{}", std::process::id()));
    let caches = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cache"));
    assert_eq!(share(root.to_str().unwrap()), None);
    for (index, level, size, map) in [
        ("index0", "1\n", "32K\n", "1\n"),
        ("index3", "3\n", "32768K\n", "0000000f,0000000f\n"),
        ("index2", "2\n", "1024K\n", "1\n"),
        ("index9", "4\n", "much\n", "1\n"),
    ] {
        fs::create_dir_all(caches.join(index)).unwrap();
        for (name, text) in [("level", level), ("size", size), ("shared_cpu_map", map)] {
            fs::write(caches.join(index).join(name), text).unwrap();
        }
    }
    let found = share(root.to_str().unwrap());
    fs::remove_dir_all(&root).unwrap();
    // Nothing is found if the test was moved to another processor meanwhile.
    assert!(found.is_none_or(|share| share == 4 << 20), "{found:?}");
}
