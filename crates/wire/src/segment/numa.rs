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
