//! Binding of pages to NUMA nodes, and the node on which a page lies.

use super::placement::Placement;
use std::ptr::NonNull;

/// The placement that a request for `node` has led to, once the first page is touched.
pub(super) fn outcome(first: NonNull<u8>, node: u32, requested: std::io::Result<()>) -> Placement {
    match requested {
        Ok(()) => match node_of(first) {
            Some(found) if found == node => Placement::On(node),
            Some(found) => Placement::Elsewhere(format!(
                "on NUMA node {found} instead of {node}: node {node} has no memory to give"
            )),
            None => Placement::Elsewhere(format!(
                "wished on NUMA node {node}; the kernel does not tell where it lies"
            )),
        },
        Err(why) => Placement::Elsewhere(format!(
            "where it was first touched: binding to NUMA node {node} was refused ({why})"
        )),
    }
}

/// Gives each page its memory and maps it into this process, without changing its contents.
///
/// This needs Linux 5.14. Older kernels do nothing, and the placement may then not be confirmed.
pub(super) fn populate(first: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's own mapping; the advice changes no contents.
    unsafe { libc::madvise(first.as_ptr().cast(), bytes, libc::MADV_POPULATE_WRITE) };
}

/// Asks the kernel to take the pages from `node`, and to move those that have memory already.
pub(super) fn prefer(base: NonNull<u8>, bytes: usize, node: u32) -> std::io::Result<()> {
    const MPOL_PREFERRED: libc::c_int = 1;
    const MPOL_MF_MOVE: libc::c_uint = 2;
    let mut mask = [0u64; 16];
    let Some(word) = mask.get_mut(node as usize / 64) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    *word = 1 << (node % 64);
    // SAFETY: the range is our mapping, the mask has as many bits as is said.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            base.as_ptr(),
            bytes,
            MPOL_PREFERRED,
            mask.as_ptr(),
            mask.len() * 64 + 1,
            MPOL_MF_MOVE,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// The node on which a touched page lies, if the kernel tells.
fn node_of(page: NonNull<u8>) -> Option<u32> {
    let pages = [page.as_ptr()];
    let mut status = [-1i32];
    // SAFETY: one page, one status; a null list of nodes only asks.
    let done = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            1usize,
            pages.as_ptr(),
            std::ptr::null::<libc::c_int>(),
            status.as_mut_ptr(),
            0,
        )
    };
    (done == 0).then(|| u32::try_from(status[0]).ok()).flatten()
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::Segment;
    use std::path::Path;

    const DEFAULT: libc::c_int = 0;
    const PREFERRED: libc::c_int = 1;

    /// What the kernel says of the page at `offset`: the policy's mode and first nodes, and the node where the page lies.
    /// `None` where it refuses to tell.
    fn told(segment: &Segment, offset: usize) -> Option<(libc::c_int, u64, u32)> {
        let ask = |flags: libc::c_ulong| {
            let (mut mode, mut mask) = (-1, [0u64; 16]);
            // SAFETY: writes an integer and a mask of as many bits, and touches a page of the segment.
            let done = unsafe {
                libc::syscall(
                    libc::SYS_get_mempolicy,
                    &raw mut mode,
                    mask.as_mut_ptr(),
                    mask.len() * 64 + 1,
                    segment.base.add(offset),
                    flags,
                )
            };
            (done == 0).then_some((mode, mask[0]))
        };
        let ((mode, nodes), (node, _)) = (ask(2)?, ask(2 | 1)?);
        Some((mode, nodes, node as u32))
    }

    #[test]
    fn the_kernel_takes_from_the_node_what_was_asked_for_and_no_more() {
        let page = rustix::param::page_size();
        let segment = Segment::new(4 * page, None).unwrap();
        let Some((_, _, node)) = told(&segment, page) else {
            eprintln!("SKIPPED: the kernel tells nothing about NUMA nodes");
            return;
        };
        let placement = segment.bind(page, 2 * page, node);
        assert_eq!(placement, Placement::On(node));
        let policies = [0, 1, 2, 3].map(|i| told(&segment, i * page).unwrap());
        let modes = policies.map(|(mode, ..)| mode);
        assert_eq!(modes, [DEFAULT, PREFERRED, PREFERRED, DEFAULT]);
        assert_eq!(policies[1].1, 1 << node);

        // SAFETY: a page of the segment.
        let first = unsafe { segment.base.add(page) };
        assert_eq!(node_of(first), Some(node));
        let said = outcome(first, node + 1, Ok(())).to_string();
        let expected = format!("on NUMA node {node} instead of {}", node + 1);
        assert!(said.contains(&expected), "{said}");
    }

    #[test]
    fn the_kernel_is_asked_for_nodes_up_to_1023() {
        let page = rustix::param::page_size();
        let segment = Segment::new(page, None).unwrap();
        if told(&segment, 0).is_none() {
            eprintln!("SKIPPED: the kernel tells nothing about NUMA nodes");
            return;
        }
        for node in [0, 1, 2, 63, 64, 900, 1022, 1023] {
            let there = Path::new(&format!("/sys/devices/system/node/node{node}")).exists();
            let asked = prefer(segment.base, page, node);
            assert_eq!(asked.is_ok(), there, "{node}: {asked:?}");
            // The answer is the kernel's.
            assert!(asked.err().is_none_or(|e| e.raw_os_error().is_some()));
        }
        assert!(prefer(segment.base, page, 1024).is_err());
    }
}
