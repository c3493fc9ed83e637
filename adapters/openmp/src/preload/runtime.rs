//! The OpenMP run-times of this process, and which of them a program's code uses.
//!
//! A process may have several: wheels bring renamed copies, libraries are opened while it runs. Names of files
//! tell nothing, so a run-time is whatever the code that calls would have reached without this library: what
//! its own object and the libraries of that object export, or else what comes next in the global order.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

pub(crate) type Body = unsafe extern "C-unwind" fn(*mut c_void);
/// Where a program calls.
pub(crate) type Site = *const c_void;
pub(crate) type Task = *const c_void;
pub(crate) type Word = usize;

/// A table of what a run-time exports.
macro_rules! functions {
    ($( $field:ident = $name:ident : fn( $($arg:ty),* $(,)? $(; $more:tt)? ) $(-> $ret:ty)? ;)*) => {
        /// What a run-time exports; `None` where it is too old, or another one.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $( pub(crate) $field: Option<unsafe extern "C-unwind" fn($($arg),* $(, $more)?) $(-> $ret)?>, )*
        }

        impl Functions {
            fn of(find: impl Fn(&CStr) -> *mut c_void) -> Self {
                Self { $( $field: {
                    let name = concat!(stringify!($name), "\0").as_bytes();
                    let found = find(CStr::from_bytes_with_nul(name).expect("one NUL, at the end"));
                    // SAFETY: a run-time's function of that name has this type, as its public source says;
                    // null is `None`.
                    unsafe { std::mem::transmute::<*mut c_void, Option<_>>(found) }
                }, )* }
            }
        }
    };
}

functions! {
    num_threads = omp_get_num_threads: fn() -> c_int;
    thread_num = omp_get_thread_num: fn() -> c_int;
    proc_bind = omp_get_proc_bind: fn() -> c_int;
    num_places = omp_get_num_places: fn() -> c_int;
    place_procs = omp_get_place_num_procs: fn(c_int) -> c_int;
    place_ids = omp_get_place_proc_ids: fn(c_int, *mut c_int);

    parallel = GOMP_parallel: fn(Body, *mut c_void, c_uint, c_uint);
    parallel_reductions = GOMP_parallel_reductions: fn(Body, *mut c_void, c_uint, c_uint) -> c_uint;
    parallel_sections = GOMP_parallel_sections: fn(Body, *mut c_void, c_uint, c_uint, c_uint);
    parallel_static = GOMP_parallel_loop_static:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    parallel_dynamic = GOMP_parallel_loop_dynamic:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    parallel_guided = GOMP_parallel_loop_guided:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    parallel_nonmonotonic_dynamic = GOMP_parallel_loop_nonmonotonic_dynamic:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    parallel_nonmonotonic_guided = GOMP_parallel_loop_nonmonotonic_guided:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
    parallel_runtime = GOMP_parallel_loop_runtime:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_uint);
    parallel_nonmonotonic_runtime = GOMP_parallel_loop_nonmonotonic_runtime:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_uint);
    parallel_maybe_nonmonotonic_runtime = GOMP_parallel_loop_maybe_nonmonotonic_runtime:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_uint);
    parallel_start = GOMP_parallel_start: fn(Body, *mut c_void, c_uint);
    parallel_sections_start = GOMP_parallel_sections_start: fn(Body, *mut c_void, c_uint, c_uint);
    parallel_static_start = GOMP_parallel_loop_static_start:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long);
    parallel_dynamic_start = GOMP_parallel_loop_dynamic_start:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long);
    parallel_guided_start = GOMP_parallel_loop_guided_start:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long);
    parallel_runtime_start = GOMP_parallel_loop_runtime_start:
        fn(Body, *mut c_void, c_uint, c_long, c_long, c_long);
    parallel_end = GOMP_parallel_end: fn();
    barrier = GOMP_barrier: fn();
    loop_end = GOMP_loop_end: fn();
    loop_end_nowait = GOMP_loop_end_nowait: fn();
    sections_end = GOMP_sections_end: fn();
    sections_end_nowait = GOMP_sections_end_nowait: fn();
    single_start = GOMP_single_start: fn() -> bool;
    single_copy_start = GOMP_single_copy_start: fn() -> *mut c_void;
    single_copy_end = GOMP_single_copy_end: fn(*mut c_void);
    task = GOMP_task:
        fn(Task, Word, Word, Word, Word, Word, Word, Word, Word, Word);
    taskloop = GOMP_taskloop:
        fn(Task, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
    taskloop_ull = GOMP_taskloop_ull:
        fn(Task, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
    cancel = GOMP_cancel: fn(c_int, bool) -> bool;
    target = GOMP_target: fn(Word, Task, Word, Word, Word, Word, Word);
    target_ext = GOMP_target_ext: fn(Word, Task, Word, Word, Word, Word, Word, Word, Word);
    teams_reg = GOMP_teams_reg: fn(Body, *mut c_void, c_uint, c_uint, c_uint);

    kmpc_fork_call = __kmpc_fork_call: fn(*mut c_void, c_int, *const c_void; ...);
    kmpc_fork_call_if = __kmpc_fork_call_if: fn(*mut c_void, c_int, *const c_void, c_int, *mut c_void);
    kmpc_fork_teams = __kmpc_fork_teams: fn(*mut c_void, c_int, *const c_void; ...);
    kmpc_serialized = __kmpc_serialized_parallel: fn(*mut c_void, c_int);
    kmpc_end_serialized = __kmpc_end_serialized_parallel: fn(*mut c_void, c_int);
    kmpc_barrier = __kmpc_barrier: fn(*mut c_void, c_int);
    kmpc_copyprivate = __kmpc_copyprivate:
        fn(*mut c_void, c_int, usize, *mut c_void, CopyPrivate, c_int);
    kmpc_task_alloc = __kmpc_omp_task_alloc:
        fn(Word, c_int, c_int, Word, Word, Word) -> *mut c_void;
    kmpc_target_task_alloc = __kmpc_omp_target_task_alloc:
        fn(Word, c_int, c_int, Word, Word, Word, Word) -> *mut c_void;
    kmpc_cancel = __kmpc_cancel: fn(*mut c_void, c_int, c_int) -> c_int;
}

/// Copies what `copyprivate` gives: to, from.
pub(crate) type CopyPrivate = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// One of the process's run-times.
#[derive(Debug)]
pub(crate) struct Runtime {
    base: usize,
    pub(crate) path: CString,
    pub(crate) real: Functions,
}

/// Code of a program that starts regions.
#[derive(Debug)]
pub(crate) struct Known {
    code: usize,
    pub(crate) runtime: &'static Runtime,
    /// It makes tasks, or cancels: its barriers are the run-time's.
    pub(crate) has_tasks: AtomicBool,
    next: *const Known,
}

// SAFETY: what `next` leads to is never freed, and changes by atomics alone.
unsafe impl Sync for Known {}

const BUCKETS: usize = 256;
static KNOWN: [AtomicPtr<Known>; BUCKETS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; BUCKETS];
/// Kept for ever, as long as their libraries stay loaded.
static RUNTIMES: Mutex<Vec<&'static Runtime>> = Mutex::new(Vec::new());

/// What is known of `code`, a body of regions.
///
/// # Cost
///
/// A look into a table, but for the first time.
pub(crate) fn known(code: *const c_void) -> &'static Known {
    let bucket = &KNOWN[(code.addr() >> 4) % BUCKETS];
    // Acquire: synchronises with the exchange below.
    let mut at: *const Known = bucket.load(Ordering::Acquire);
    // SAFETY: entries are whole before they are in the list, and never freed.
    while let Some(known) = unsafe { at.as_ref() } {
        if known.code == code.addr() {
            return known;
        }
        at = known.next;
    }
    let Some(runtime) = of_code(code) else {
        give_up_without();
    };
    let mut fresh = Box::new(Known {
        code: code.addr(),
        runtime,
        has_tasks: AtomicBool::new(false),
        next: bucket.load(Ordering::Acquire),
    });
    loop {
        let next = fresh.next.cast_mut();
        let whole = Box::into_raw(fresh);
        // Release: synchronises with the loads above. Two entries of one code do no harm.
        match bucket.compare_exchange(next, whole, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it was just made, and is never freed.
            Ok(_) => return unsafe { &*whole },
            Err(other) => {
                // SAFETY: the exchange has failed, so nobody else has it.
                fresh = unsafe { Box::from_raw(whole) };
                fresh.next = other;
            }
        }
    }
}

/// The run-time that code without a region uses.
pub(crate) fn standard() -> &'static Runtime {
    static STANDARD: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());
    // SAFETY: run-times are never freed.
    if let Some(runtime) = unsafe { STANDARD.load(Ordering::Acquire).as_ref() } {
        return runtime;
    }
    let first = || runtimes().first().copied();
    let Some(runtime) = exporter(libc::RTLD_NEXT).or_else(first) else {
        give_up_without();
    };
    STANDARD.store(std::ptr::from_ref(runtime).cast_mut(), Ordering::Release);
    runtime
}

#[cold]
fn give_up_without() -> ! {
    super::give_up("a barrier or region was called, but no run-time can be found that has it")
}

fn runtimes() -> std::sync::MutexGuard<'static, Vec<&'static Runtime>> {
    RUNTIMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether any run-time was found so far.
pub(crate) fn any() -> bool {
    !runtimes().is_empty()
}

/// The run-time that the object with `code` reaches.
fn of_code(code: *const c_void) -> Option<&'static Runtime> {
    let object = object_of(code).and_then(|(_, path)| open(&path));
    object
        .and_then(exporter)
        .or_else(|| exporter(libc::RTLD_NEXT))
}

/// The run-time behind what `handle` exports.
fn exporter(handle: *mut c_void) -> Option<&'static Runtime> {
    let own = object_of(known as *const c_void).map(|(base, _)| base);
    [c"GOMP_parallel", c"__kmpc_fork_call"]
        .into_iter()
        .find_map(|name| {
            // SAFETY: the handle is open, and the name a string of C.
            let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
            let (base, path) = object_of(found)?;
            (Some(base) != own).then(|| register(base, path))
        })
}

fn register(base: usize, path: CString) -> &'static Runtime {
    let mut all = runtimes();
    if let Some(known) = all.iter().find(|runtime| runtime.base == base) {
        return known;
    }
    // A program that carries its run-time inside exports it to everybody.
    let handle = open(&path).unwrap_or(libc::RTLD_NEXT);
    let runtime = Box::leak(Box::new(Runtime {
        base,
        path,
        // SAFETY: the handle is open, and the name a string of C.
        real: Functions::of(|name| unsafe { libc::dlsym(handle, name.as_ptr()) }),
    }));
    all.push(runtime);
    runtime
}

/// Base and path of the object that `code` is in.
pub(crate) fn object_of(code: *const c_void) -> Option<(usize, CString)> {
    if code.is_null() {
        return None;
    }
    // SAFETY: plain data, for which zeros are valid.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for.
    let found = unsafe { libc::dladdr(code, &mut info) };
    let name: *const c_char = info.dli_fname;
    if found == 0 || name.is_null() {
        return None;
    }
    // SAFETY: the loader's string, which lives as long as the object.
    let path = unsafe { CStr::from_ptr(name) }.to_owned();
    Some((info.dli_fbase.addr(), path))
}

/// A handle of a library that is loaded already, never closed; none of the program itself.
fn open(path: &CStr) -> Option<*mut c_void> {
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    // SAFETY: opens what is loaded already, so that no code of it runs.
    let handle = unsafe { libc::dlopen(path.as_ptr(), flags) };
    (!handle.is_null()).then_some(handle)
}
