//! Layer 3: the OpenMP runtimes of this process, and which of them a program's code uses.
//!
//! A process may have several: Python wheels bring renamed copies, programs link parts that different compilers made,
//! and libraries are opened while the program runs. File names tell nothing. So the runtime of some code is found as
//! the loader would have found it without this library. The loader came here in the global order, and would have
//! gone on in it, and then among what the code's own object and the libraries of that object export.
//!
//! That depends on the name that the code calls: GNU's runtime has none of LLVM's names, and one object may hold code
//! of both compilers. So a runtime is looked for by a name of the code's [`Family`].

use super::objects::{self, Code, Handle, Span, is_ours, locked};
use corecast::debug::{Level, say};
use std::ffi::{CStr, CString, c_int, c_long, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

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
    (Data, c_int, c_int, Word, Word, Word) -> Data: __kmpc_omp_task_alloc;
    (Data, c_int, c_int, Word, Word, Word, Word) -> Data: __kmpc_omp_target_task_alloc;
    (Data, c_int, c_int) -> c_int: __kmpc_cancel;
}

/// The compiler whose runtime's names some code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// GCC, and names that begin with `GOMP_`.
    Gnu = 0,
    /// Clang, and names that begin with `__kmpc_`.
    Llvm = 1,
}

impl Family {
    pub(crate) const ALL: [Self; 2] = [Self::Gnu, Self::Llvm];

    /// A function that all runtimes with this family's names export.
    fn name(self) -> &'static CStr {
        match self {
            Self::Gnu => c"GOMP_barrier",
            Self::Llvm => c"__kmpc_barrier",
        }
    }
}

/// One of the process's runtimes.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) span: Span,
    pub(crate) path: CString,
    pub(crate) real: Functions,
}

impl Runtime {
    /// Whether it has the names of that family.
    pub(crate) fn serves(&self, family: Family) -> bool {
        match family {
            Family::Gnu => self.real.GOMP_barrier.is_some(),
            Family::Llvm => self.real.__kmpc_barrier.is_some(),
        }
    }
}

/// An object, and the runtimes that its code reaches, by family.
#[derive(Debug)]
struct Object {
    span: Span,
    path: CString,
    runtimes: [Option<&'static Runtime>; 2],
}

/// What is known of an address of the program: the function that a compiler has made of the body of a region
/// (compilers say that they *outline* it), or the place of a call.
#[derive(Debug)]
pub(crate) struct Known {
    at: usize,
    family: Family,
    /// The [`state`](objects::state) in which `object` was looked up; one that is not settled if it has to be again.
    state: AtomicU64,
    /// Null for an address that is in no object, such as those of code that the program makes while it runs.
    object: AtomicPtr<Object>,
    /// Whether it has made tasks or cancelled. If so, its barriers stay with the runtime.
    pub(crate) has_tasks: AtomicBool,
    /// The next one of the same bucket.
    next: OnceLock<Box<Known>>,
}

impl Known {
    fn new(at: Code, family: Family) -> Self {
        Self {
            at: at.addr(),
            family,
            state: AtomicU64::new(u64::MAX),
            object: AtomicPtr::default(),
            has_tasks: AtomicBool::new(false),
            next: OnceLock::new(),
        }
    }

    /// Whether nothing was unloaded since this was looked up.
    #[inline(always)]
    pub(crate) fn is_current(&self) -> bool {
        // Acquire: synchronises with the store in `renew`.
        self.state.load(Ordering::Acquire) == objects::state()
    }

    /// Looks the object up. Threads that do so at the same time find the same one, since its code runs.
    #[cold]
    fn renew(&self) {
        let state = objects::state();
        let object = object_at(ptr::without_provenance(self.at));
        let object = object.map_or(ptr::null(), ptr::from_ref).cast_mut();
        // Relaxed: published by the store of the state.
        if self.object.swap(object, Ordering::Relaxed) != object {
            self.has_tasks.store(false, Ordering::Relaxed);
        }
        if objects::settled(state) {
            // Release: synchronises with the load in `is_current`.
            self.state.store(state, Ordering::Release);
        }
    }

    fn object(&self) -> Option<&'static Object> {
        // Relaxed: the caller has seen that this is current, or has looked it up.
        // SAFETY: objects are kept for ever.
        unsafe { self.object.load(Ordering::Relaxed).as_ref() }
    }

    /// The runtime that code here reaches; `None` if its object reaches none.
    pub(crate) fn reached(&self) -> Option<&'static Runtime> {
        self.object()?.runtimes[self.family as usize]
    }

    /// The runtime of a region with this code.
    pub(crate) fn runtime(&self) -> &'static Runtime {
        self.reached().unwrap_or_else(|| standard(self.family))
    }

    /// The addresses from which calls of a family reach the same runtime, as far as this object goes.
    pub(crate) fn span(&self, family: Family) -> Span {
        let same = |object: &&Object| {
            let other = object.runtimes[family as usize];
            other.is_some_and(|other| ptr::eq(other, self.runtime()))
        };
        let object = self.object().filter(same);
        object.map_or_else(Span::default, |object| object.span)
    }
}

const BUCKETS: usize = 256;
static KNOWN: [OnceLock<Box<Known>>; BUCKETS] = [const { OnceLock::new() }; BUCKETS];
/// Kept for ever, as long as their libraries stay loaded.
static RUNTIMES: Mutex<Vec<&'static Runtime>> = Mutex::new(Vec::new());
/// All objects that were looked up, also those that were unloaded: programs often load them again.
static OBJECTS: Mutex<Vec<&'static Object>> = Mutex::new(Vec::new());

/// What is known of the address `at`, from which a function of that family is called.
///
/// # Cost
///
/// A look into a hash table, except for the first time, and the first time after an object was unloaded.
pub(crate) fn known(at: Code, family: Family) -> &'static Known {
    let mut cell = &KNOWN[((at.addr() >> 4) ^ family as usize) % BUCKETS];
    loop {
        let found = cell.get().unwrap_or_else(|| {
            // The entry is made before the cell is locked: a process that is forked meanwhile must not find it locked
            // for ever.
            let fresh = Box::new(Known::new(at, family));
            cell.get_or_init(|| fresh)
        });
        if found.at == at.addr() && found.family == family {
            if !found.is_current() {
                found.renew();
            }
            return found;
        }
        cell = &found.next;
    }
}

/// The runtime for code of which nothing else is known.
pub(crate) fn standard(family: Family) -> &'static Runtime {
    static STANDARD: [OnceLock<&'static Runtime>; 2] = [const { OnceLock::new() }; 2];
    let kept = &STANDARD[family as usize];
    kept.get().copied().unwrap_or_else(|| {
        let all = locked(&RUNTIMES).clone();
        let first = || all.into_iter().find(|runtime| runtime.serves(family));
        let found = exporter(libc::RTLD_NEXT, family).or_else(first);
        kept.get_or_init(|| found.unwrap_or_else(|| give_up_without()))
    })
}

/// Whether any runtime was found so far.
pub(crate) fn any() -> bool {
    !locked(&RUNTIMES).is_empty()
}

/// The object that has the address `at`, if any.
fn object_at(at: Code) -> Option<&'static Object> {
    let (span, path) = objects::find(at)?;
    let known = || {
        let all = locked(&OBJECTS);
        let mut all = all.iter().copied();
        all.find(|object| object.span == span && object.path == path)
    };
    let found = known().unwrap_or_else(|| {
        // No lock is held here: a process that is forked meanwhile would find it locked for ever.
        let runtimes = Family::ALL.map(|family| reached_by(&path, family));
        let path = path.clone();
        known().unwrap_or_else(|| {
            let fresh: &'static Object = Box::leak(Box::new(Object {
                span,
                path,
                runtimes,
            }));
            locked(&OBJECTS).push(fresh);
            fresh
        })
    });
    Some(found)
}

/// The runtime that code of a family reaches in the object of that path.
fn reached_by(path: &CStr, family: Family) -> Option<&'static Runtime> {
    let own = || {
        let object = Handle::of(path)?;
        exporter(object.get(), family)
    };
    exporter(libc::RTLD_NEXT, family).or_else(own)
}

/// The runtime whose functions are found by `handle`, which is open or `RTLD_NEXT`.
fn exporter(handle: *mut c_void, family: Family) -> Option<&'static Runtime> {
    // SAFETY: the caller's.
    let found = unsafe { objects::symbol(handle, family.name()) };
    if found.is_null() || is_ours(found) {
        return None;
    }
    let (span, path) = objects::find(found)?;
    Some(register(span, path))
}

fn register(span: Span, path: CString) -> &'static Runtime {
    let known = |all: &[&'static Runtime]| all.iter().copied().find(|runtime| runtime.span == span);
    let found = known(&locked(&RUNTIMES));
    found.unwrap_or_else(|| {
        // A runtime that is linked into the program cannot be opened, but its functions are found in the global order.
        // Any other one stays loaded: its threads come back to this library.
        let handle = Handle::of(&path).map_or(libc::RTLD_NEXT, Handle::keep);
        // SAFETY: the handle is open.
        let real = unsafe { Functions::of(handle) };
        let mut all = locked(&RUNTIMES);
        known(&all).unwrap_or_else(|| {
            let fresh: &'static Runtime = Box::leak(Box::new(Runtime { span, path, real }));
            all.push(fresh);
            fresh
        })
    })
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
