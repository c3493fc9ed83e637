//! A process that enters a sandbox late: it may not make a system call any more, after threads that rely on it were
//! started. The tests of `corecast-transfer` use this file, too.

/// Denies `membarrier` to all threads of this process; `false` where the system has no such filters.
pub(crate) fn deny_membarrier() -> bool {
    deny(libc::SYS_membarrier)
}

/// Denies a system call to all threads of this process; `false` where the system has no such filters.
pub(crate) fn deny(call: libc::c_long) -> bool {
    let jump = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        // The number of the call is the first word of what the filter sees.
        jump(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        jump(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            call as u32,
        ),
        jump(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        jump(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: integers; the process gives up privileges that it does not use.
    let given_up = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    // SAFETY: the program and its filter live until the call returns, which copies them.
    let set = given_up
        && unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_TSYNC,
                &raw const program,
            )
        } == 0;
    // SAFETY: zeros ask `membarrier` for its commands, and are no list that `set_robust_list` takes.
    let denied = || unsafe { libc::syscall(call, 0, 0, 0) } < 0;
    set && denied() && std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}
