//! The status that every function returns, the text that explains it, and `entry`, in which every
//! function runs.

use corecast::process::EnterError;
use corecast::{Error, Failure, JoinError, OverlapError, RankActivity, Site, TooMany};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call went. `corecast_error_message()` explains every status but the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// The call did what it was asked for.
    Ok = 0,
    /// An argument was refused: NULL, a length, a root, a number or a word. Nothing was done, and the
    /// team is as it was.
    Invalid = 1,
    /// The handle is in use at this moment, by another thread or by the member's own operator. Nothing
    /// was done.
    Busy = 2,
    /// The team could not be made.
    Unbuildable = 3,
    /// The processes did not become one team.
    NotMet = 4,
    /// The rank could not be joined.
    NotJoined = 5,
    /// Two members are in different operations, or gave different roots. The team has failed.
    Mismatch = 6,
    /// Two members gave different lengths. The team has failed.
    Length = 7,
    /// A process has overwritten the team's memory. The team has failed.
    Corrupt = 8,
    /// A member has left, or died, while others wait for it. The team has failed.
    PeerLost = 9,
    /// This process was forked from the one that joined.
    Forked = 10,
    /// Nobody has joined as a rank that is waited for. The team has failed.
    NeverJoined = 11,
    /// A member takes longer than the limit that was set. The team has failed.
    Stalled = 12,
    /// The team has no operations in flight: its depth is 0, or there is no memory for them.
    NoFlight = 13,
    /// The handle is of no more use, because Corecast panicked in an earlier call with it.
    Left = 14,
    /// Corecast panicked. The handle that was in use has left its team or its queue.
    Panicked = 15,
    /// The system refused memory or a thread, or the failure has no status of its own.
    Failed = 16,
    /// A member has cancelled this operation and all later ones: see `corecast_cancel`.
    Cancelled = 17,
    /// The other end of the queue was freed, and nothing is left in it to receive.
    Closed = 18,
}

impl Status {
    /// Every status, at its number.
    const ALL: [Self; 19] = [
        Self::Ok,
        Self::Invalid,
        Self::Busy,
        Self::Unbuildable,
        Self::NotMet,
        Self::NotJoined,
        Self::Mismatch,
        Self::Length,
        Self::Corrupt,
        Self::PeerLost,
        Self::Forked,
        Self::NeverJoined,
        Self::Stalled,
        Self::NoFlight,
        Self::Left,
        Self::Panicked,
        Self::Failed,
        Self::Cancelled,
        Self::Closed,
    ];

    /// The status with this number.
    fn of(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    fn name(self) -> &'static CStr {
        match self {
            Self::Ok => c"ok",
            Self::Invalid => c"invalid",
            Self::Busy => c"busy",
            Self::Unbuildable => c"unbuildable",
            Self::NotMet => c"not met",
            Self::NotJoined => c"not joined",
            Self::Mismatch => c"mismatch",
            Self::Length => c"length",
            Self::Corrupt => c"corrupt",
            Self::PeerLost => c"peer lost",
            Self::Forked => c"forked",
            Self::NeverJoined => c"never joined",
            Self::Stalled => c"stalled",
            Self::NoFlight => c"no flight",
            Self::Left => c"left",
            Self::Panicked => c"panicked",
            Self::Failed => c"failed",
            Self::Cancelled => c"cancelled",
            Self::Closed => c"closed",
        }
    }
}

const _: () = assert!(Status::Ok as i32 == 0, "C tests it as a number");

/// What functions return.
pub type StatusCode = Status;

/// A status that a function of C has returned, which may be any number. The header says
/// `corecast_status_t`.
pub type ReturnedStatus = u32;

/// The status and the text of a call that did not do what it was asked for.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: Status,
    /// `None` if the text is that of an earlier call of this thread.
    text: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: Status, text: impl Into<String>) -> Self {
        let text = Some(text.into());
        Self { status, text }
    }

    /// An argument that is refused.
    #[cold]
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(Status::Invalid, text)
    }

    /// An argument that was refused, with the text of the library's error.
    #[cold]
    pub(crate) fn invalid_of(error: impl Display) -> Self {
        Self::invalid(error.to_string())
    }

    /// A pointer that must not be NULL.
    #[cold]
    pub(crate) fn null(name: &str) -> Self {
        Self::invalid(format!("`{name}` is NULL"))
    }
}

/// The status that a caller's function returned, as a result. Its text is that of the failed call in that
/// function.
pub(crate) fn returned(number: ReturnedStatus) -> Result<(), Refusal> {
    match Status::of(number) {
        Some(Status::Ok) => Ok(()),
        Some(status) => Err(Refusal { status, text: None }),
        None => Err(Refusal::invalid(format!(
            "`body` has returned {number}, which is no corecast_status"
        ))),
    }
}

impl From<Failure> for Refusal {
    #[cold]
    fn from(failure: Failure) -> Self {
        let status = match &failure {
            Failure::Mismatch { .. } => Status::Mismatch,
            Failure::Length { .. } => Status::Length,
            Failure::Corrupt { .. } => Status::Corrupt,
            Failure::PeerLost { .. } => Status::PeerLost,
            Failure::Forked { .. } => Status::Forked,
            Failure::NeverJoined { .. } => Status::NeverJoined,
            Failure::Stalled { .. } => Status::Stalled,
            Failure::Cancelled { .. } => Status::Cancelled,
            _ => Status::Failed,
        };
        Self::new(status, without_own_sites(failure).to_string())
    }
}

impl From<Error> for Refusal {
    #[cold]
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Enter(EnterError::Plans(_) | EnterError::Team(_)) => Status::Unbuildable,
            Error::Enter(_) => Status::NotMet,
            _ => Status::Unbuildable,
        };
        Self::new(status, error.to_string())
    }
}

impl From<JoinError> for Refusal {
    #[cold]
    fn from(error: JoinError) -> Self {
        let text = match error {
            // The call sites are in this crate, which says nothing to callers in C.
            JoinError::Taken { rank, .. } => format!("rank {rank} is joined twice"),
            other => other.to_string(),
        };
        Self::new(Status::NotJoined, text)
    }
}

impl From<TooMany> for Refusal {
    #[cold]
    fn from(error: TooMany) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<OverlapError> for Refusal {
    #[cold]
    fn from(error: OverlapError) -> Self {
        Self::new(Status::NoFlight, error.to_string())
    }
}

/// A failure without call sites in this crate, which say nothing to callers in C.
fn without_own_sites(mut failure: Failure) -> Failure {
    const OWN: &str = "bindings/c/src/";
    let clean = |activity: &mut RankActivity| {
        let own = match &activity.site {
            Some(Site::Local(site)) => site.file().contains(OWN),
            Some(Site::Remote(site)) => site.contains(OWN),
            None => false,
        };
        if own {
            activity.site = None;
        }
    };
    match &mut failure {
        Failure::Mismatch { local, remote }
        | Failure::Length { local, remote, .. }
        | Failure::Corrupt { local, remote }
        | Failure::PeerLost { local, remote, .. }
        | Failure::Stalled { local, remote, .. } => {
            clean(local);
            clean(remote);
        }
        Failure::NeverJoined { local, .. } => clean(local),
        _ => {}
    }
    failure
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Keeps the text for `corecast_error_message`.
#[cold]
fn keep(refusal: Refusal) -> Status {
    let Refusal { status, text } = refusal;
    let Some(text) = text else {
        return status;
    };
    let bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    let text = CString::new(bytes).unwrap_or_default();
    // A thread that is ending has no thread-local storage any more.
    let _ = MESSAGE.try_with(|message| message.replace(text));
    status
}

/// The text of a panic.
fn text_of(payload: Box<dyn Any + Send>) -> String {
    let text = match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => match payload.downcast_ref::<String>() {
            Some(text) => text.clone(),
            None => "a panic without words".to_owned(),
        },
    };
    // The payload may panic again when it is dropped.
    std::mem::forget(payload);
    text
}

/// Runs the body of a function. A refusal and a panic in it become a status with a text.
#[inline(always)]
pub(crate) fn entry(body: impl FnOnce() -> Result<(), Refusal>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(refusal)) => keep(refusal),
        Err(payload) => keep(Refusal::new(Status::Panicked, text_of(payload))),
    }
}

/// The text of this thread's last call that failed: one line that quotes the input and says what to
/// do. It is empty if no call has failed, and stays until the next one fails.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_error_message() -> *const c_char {
    let text = MESSAGE.try_with(|message| message.borrow().as_ptr());
    text.unwrap_or(c"".as_ptr())
}

/// The name of a status, such as "mismatch"; "unknown" for a number that is none.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_status_name(status: i32) -> *const c_char {
    let status = u32::try_from(status).ok().and_then(Status::of);
    status.map_or(c"unknown", Status::name).as_ptr()
}

/// The version of the library, such as "0.1.0".
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: a text of this library, ended by 0; nothing else runs on this thread.
        let text = unsafe { CStr::from_ptr(corecast_error_message()) };
        text.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_and_a_refusal_become_a_status_with_a_text() {
        assert_eq!(message(), "");
        assert_eq!(entry(|| Ok(())), Status::Ok);
        let invalid = || Err(Refusal::invalid("0\0 ranks"));
        assert_eq!(entry(invalid), Status::Invalid);
        assert_eq!(message(), "0 ranks");
        assert_eq!(entry(|| panic!("no {}", 7)), Status::Panicked);
        assert_eq!(message(), "no 7");
        assert_eq!(entry(|| std::panic::panic_any(vec![1])), Status::Panicked);
        assert_eq!(message(), "a panic without words");
        // A status that a function of C has returned keeps the text of the call that failed in it.
        assert_eq!(entry(|| returned(Status::Busy as u32)), Status::Busy);
        assert_eq!(message(), "a panic without words");
        assert_eq!(entry(|| returned(0)), Status::Ok);
        assert_eq!(entry(|| returned(19)), Status::Invalid);
        assert_eq!(
            message(),
            "`body` has returned 19, which is no corecast_status"
        );
        // Each thread has its own text.
        std::thread::spawn(|| assert_eq!(message(), ""))
            .join()
            .unwrap();
    }

    #[test]
    fn every_status_has_its_name_and_number() {
        for (number, status) in Status::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, number);
        }
        for (status, expected) in [
            (Status::Ok, "ok"),
            (Status::Busy, "busy"),
            (Status::Mismatch, "mismatch"),
            (Status::Stalled, "stalled"),
            (Status::Failed, "failed"),
            (Status::Closed, "closed"),
        ] {
            // SAFETY: a static text, ended by 0.
            let name = unsafe { CStr::from_ptr(corecast_status_name(status as i32)) };
            assert_eq!(name.to_str(), Ok(expected));
        }
        for none in [-1, 19, i32::MAX] {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(corecast_status_name(none)) };
            assert_eq!(name, c"unknown");
        }
    }
}
