//! Streamed copies have the bytes of ordinary ones.

use super::*;
use crate::copy::BLOCK_BYTES;

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
fn long_copies_have_all_blocks() {
    for len in [
        0,
        1,
        BLOCK_BYTES - 1,
        BLOCK_BYTES,
        BLOCK_BYTES + 1,
        3 * BLOCK_BYTES + 7,
    ] {
        let from: Vec<u8> = (0..len).map(|i| (i * 7 + i / 256) as u8).collect();
        for all in [0, usize::MAX] {
            let mut into = vec![0xEE; len + 9];
            copy(&mut into, &from, all);
            assert!(
                into[..len] == from && into[len..] == [0xEE; 9],
                "{len} bytes"
            );
        }
    }
}

#[test]
fn the_share_is_that_of_the_last_cache() {
    let root = std::env::temp_dir().join(format!("corecast-stream-{}", std::process::id()));
    let cpus = root.join("sys/devices/system/cpu");
    let caches = cpus.join("any/cache");
    let found = || share(root.to_str().unwrap());
    assert_eq!(found(), None);
    fs::create_dir_all(&caches).unwrap();
    // The test may be moved from one processor to another.
    let usable = rustix::thread::sched_getaffinity(None).unwrap();
    for cpu in (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| usable.is_set(cpu)) {
        std::os::unix::fs::symlink("any", cpus.join(format!("cpu{cpu}"))).unwrap();
    }
    for (index, size, map) in [
        ("index0", "32K\n", "1\n"),
        ("index3", "32768K\n", "0000000f,0000000f\n"),
        ("index2", "1024K\n", "1\n"),
        ("index10", "much\n", "1\n"),
        ("uevent", "64K\n", "1\n"),
    ] {
        fs::create_dir_all(caches.join(index)).unwrap();
        for (name, text) in [("size", size), ("shared_cpu_map", map)] {
            fs::write(caches.join(index).join(name), text).unwrap();
        }
    }
    let last = found();
    fs::write(caches.join("index3/size"), "0K\n").unwrap();
    let none = found();
    fs::remove_dir_all(&root).unwrap();
    assert_eq!((last, none), (Some(4 << 20), None));
}
