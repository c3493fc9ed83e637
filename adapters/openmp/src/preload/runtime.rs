//! Layer 2: the OpenMP runtimes of this process, and which of them a program's code uses.
//!
//! A process may have several: Python wheels bring renamed copies, and libraries are opened while the program runs.
//! File names tell nothing. So the runtime of some code is found as the loader would have found it without this
//! library: among what the code's own object and the libraries of that object export, or else next in the global order.

use corecast::debug::{Level, say};
use std::ffi::{CStr, CString, c_int, c_long, c_uint, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A function of the program, or an address in one.
pub(crate) type Code = *const c_void;
/// An argument that is passed on unread.
pub(crate) type Data = *mut c_void;
/// An argument of any type that fills at most a register.
pub(crate) type Word = usize;
/// The compiler's function that copies the data of `copyprivate`; its arguments are destination and source.
pub(crate) type CopyPrivate = unsafe extern "C-unwind" fn(Data, Data);

/// Makes a table of what runtimes export; its fields are named as the functions are.
macro_rules! functions {
    ($( $args:tt -> $ret:ty: $($name:ident),+; )*) => {
        /// The functions that a runtime exports; `None` for those that it does not.
        ///
        /// # Safety
        ///
        /// Each function is to be called as compilers call it.
        #[derive(Debug)]
        #[allow(non_snake_case, reason = "the names are the runtime's")]
        pub(crate) struct Functions {
            $($( pub(crate) $name: Option<unsafe extern "C-unwind" fn $args -> $ret>, )+)*
        }

        impl Functions {
            /// # Safety
            ///
            /// The handle is open.
            unsafe fn of(handle: *mut c_void) -> Self {
                Self { $($( $name: {
                    // SAFETY: the caller's, and the name is a string of C. A runtime's function of that name has this
                    // type, as its public source says; null is `None`.
                    unsafe {
                        let found = libc::dlsym(handle, concat!(stringify!($name), "\0").as_ptr().cast());
                        std::mem::transmute::<*mut c_void, Option<_>>(found)
                    }
                }, )+)* }
            }
        }
    };
}

functions! {
    () -> c_int: omp_get_num_threads, omp_get_thread_num, omp_get_proc_bind, omp_get_num_places;
    (c_int) -> c_int: omp_get_place_num_procs;
    (c_int, *mut c_int) -> (): omp_get_place_proc_ids;

    (Code, Data, c_uint, c_uint) -> (): GOMP_parallel;
    (Code, Data, c_uint, c_uint) -> c_uint: GOMP_parallel_reductions;
    (Code, Data, c_uint, c_uint, c_uint) -> (): GOMP_parallel_sections, GOMP_teams_reg;
    (Code, Data, c_uint, c_long, c_long, c_long, c_uint) -> (): GOMP_parallel_loop_runtime,
        GOMP_parallel_loop_nonmonotonic_runtime, GOMP_parallel_loop_maybe_nonmonotonic_runtime;
    (Code, Data, c_uint, c_long, c_long, c_long, c_long, c_uint) -> (): GOMP_parallel_loop_static,
        GOMP_parallel_loop_dynamic, GOMP_parallel_loop_guided, GOMP_parallel_loop_nonmonotonic_dynamic,
        GOMP_parallel_loop_nonmonotonic_guided;
    (Code, Data, c_uint) -> (): GOMP_parallel_start;
    (Code, Data, c_uint, c_uint) -> (): GOMP_parallel_sections_start;
    (Code, Data, c_uint, c_long, c_long, c_long) -> (): GOMP_parallel_loop_runtime_start;
    (Code, Data, c_uint, c_long, c_long, c_long, c_long) -> (): GOMP_parallel_loop_static_start,
        GOMP_parallel_loop_dynamic_start, GOMP_parallel_loop_guided_start;
    () -> (): GOMP_parallel_end, GOMP_barrier, GOMP_loop_end, GOMP_loop_end_nowait, GOMP_sections_end,
        GOMP_sections_end_nowait;
    () -> bool: GOMP_single_start;
    () -> Data: GOMP_single_copy_start;
    (Data) -> (): GOMP_single_copy_end;
    (Code, Word, Word, Word, Word, Word, Word, Word, Word, Word) -> (): GOMP_task;
    (Code, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word) -> (): GOMP_taskloop;
    (Code, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word) -> (): GOMP_taskloop_ull;
    (c_int, bool) -> bool: GOMP_cancel;
    (Word, Code, Word, Word, Word, Word, Word) -> (): GOMP_target;
    (Word, Code, Word, Word, Word, Word, Word, Word, Word) -> (): GOMP_target_ext;

    (Data, c_int, Code, ...) -> (): __kmpc_fork_call, __kmpc_fork_teams;
    (Data, c_int, Code, c_int, Data) -> (): __kmpc_fork_call_if;
    (Data, c_int) -> (): __kmpc_serialized_parallel, __kmpc_end_serialized_parallel, __kmpc_barrier;
    (Data, c_int, usize, Data, CopyPrivate, c_int) -> (): __kmpc_copyprivate;
    (Word, c_int, c_int, Word, Word, Word) -> Data: __kmpc_omp_task_alloc;
    (Word, c_int, c_int, Word, Word, Word, Word) -> Data: __kmpc_omp_target_task_alloc;
    (Data, c_int, c_int) -> c_int: __kmpc_cancel;
}

/// One of the process's runtimes.
#[derive(Debug)]
pub(crate) struct Runtime {
    base: usize,
    pub(crate) path: CString,
    pub(crate) real: Functions,
}

/// The function that a compiler has made of the body of a region; compilers say that they *outline* it.
#[derive(Debug)]
pub(crate) struct Outlined {
    code: usize,
    /// The runtime that it reaches.
    pub(crate) runtime: &'static Runtime,
    /// Whether it has made tasks or cancelled. If so, its barriers stay with the runtime.
    pub(crate) has_tasks: AtomicBool,
    /// The next one of the same bucket.
    next: OnceLock<Box<Outlined>>,
}

const BUCKETS: usize = 256;
static OUTLINED: [OnceLock<Box<Outlined>>; BUCKETS] = [const { OnceLock::new() }; BUCKETS];
/// Kept for ever, as long as their libraries stay loaded.
static RUNTIMES: Mutex<Vec<&'static Runtime>> = Mutex::new(Vec::new());

/// The entry of `code`, made when it is first asked for.
///
/// # Cost
///
/// A look into a hash table, except for the first time.
pub(crate) fn outlined(code: Code) -> &'static Outlined {
    let mut cell = &OUTLINED[(code.addr() >> 4) % BUCKETS];
    loop {
        let found = cell.get().unwrap_or_else(|| {
            // The entry is made before the cell is locked: a process that is forked meanwhile must not find it locked
            // for ever.
            let fresh = Outlined {
                code: code.addr(),
                runtime: of_code(code).unwrap_or_else(|| give_up_without()),
                has_tasks: AtomicBool::new(false),
                next: OnceLock::new(),
            };
            cell.get_or_init(|| Box::new(fresh))
        });
        if found.code == code.addr() {
            return found;
        }
        cell = &found.next;
    }
}

/// The runtime that code outside of a region uses.
pub(crate) fn standard() -> &'static Runtime {
    static STANDARD: OnceLock<&'static Runtime> = OnceLock::new();
    STANDARD.get().copied().unwrap_or_else(|| {
        let first = || locked(&RUNTIMES).first().copied();
        let found = exporter(libc::RTLD_NEXT).or_else(first);
        STANDARD.get_or_init(|| found.unwrap_or_else(|| give_up_without()))
    })
}

/// Whether any runtime was found so far.
pub(crate) fn any() -> bool {
    !locked(&RUNTIMES).is_empty()
}

/// The runtime that the object with `code` reaches.
fn of_code(code: Code) -> Option<&'static Runtime> {
    let object = object_of(code).and_then(|(_, path)| open(&path));
    let next = || exporter(libc::RTLD_NEXT);
    object.and_then(exporter).or_else(next)
}

/// The runtime whose functions are found by `handle`.
fn exporter(handle: *mut c_void) -> Option<&'static Runtime> {
    let names = [c"GOMP_parallel", c"__kmpc_fork_call"];
    names.into_iter().find_map(|name| {
        // SAFETY: the handle is open, and the name a string of C.
        let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
        let (base, path) = object_of(found)?;
        (!is_ours(found)).then(|| register(base, path))
    })
}

fn register(base: usize, path: CString) -> &'static Runtime {
    let mut all = locked(&RUNTIMES);
    if let Some(known) = all.iter().find(|runtime| runtime.base == base) {
        return known;
    }
    // A runtime that is linked into the program cannot be opened, but its functions are found in the global order.
    let handle = open(&path).unwrap_or(libc::RTLD_NEXT);
    let runtime = Box::leak(Box::new(Runtime {
        base,
        path,
        // SAFETY: the handle is open.
        real: unsafe { Functions::of(handle) },
    }));
    all.push(runtime);
    runtime
}

/// Base and path of the object that `code` is in.
pub(crate) fn object_of(code: Code) -> Option<(usize, CString)> {
    // SAFETY: plain data, for which zeros are valid.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for.
    let found = unsafe { libc::dladdr(code, &mut info) };
    if code.is_null() || found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's string, which lives as long as the object.
    let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_owned();
    Some((info.dli_fbase.addr(), path))
}

/// Whether `code` is in the same object as this library.
pub(crate) fn is_ours(code: Code) -> bool {
    let base = |code| object_of(code).map(|(base, _)| base);
    base(code) == base(is_ours as Code)
}

/// A handle of a library that is loaded already, which is never closed; `None` for the program itself.
fn open(path: &CStr) -> Option<*mut c_void> {
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    // SAFETY: opens what is loaded already, so that no code of it runs.
    let handle = unsafe { libc::dlopen(path.as_ptr(), flags) };
    (!handle.is_null()).then_some(handle)
}

#[cold]
fn give_up_without() -> ! {
    give_up("a barrier or region was called, but no runtime can be found that has it")
}

/// Ends the process with a message, because it cannot go on correctly.
#[cold]
pub(crate) fn give_up(why: &str) -> ! {
    say(Level::Warn, || {
        format!("OpenMP: {why}; CORECAST_DISABLE=1 runs the program without Corecast")
    });
    std::process::abort()
}

/// Locks a mutex. Poisoning is ignored, because no code here panics while it changes the data.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
