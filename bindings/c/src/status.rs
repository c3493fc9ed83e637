//! How a call went, in a number and in words.

use corecast::process::EnterError;
use corecast::{Did, Error, Failure, JoinError, OverlapError, Site, TooMany};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call went. The text of `corecast_error_message()` says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// It went well.
    Ok = 0,
    /// An argument cannot be: NULL, a length, a root, a number or a word. Nothing was done, and the
    /// team is as it was.
    Invalid = 1,
    /// Another thread is using this handle at this moment, or the member's own operator is. Nothing
    /// was done.
    Busy = 2,
    /// The team could not be made.
    Unbuildable = 3,
    /// The processes did not become one team.
    NotMet = 4,
    /// The rank could not be joined.
    NotJoined = 5,
    /// Two members are in different operations, or gave different roots. The team is done for.
    Mismatch = 6,
    /// Two members gave different lengths. The team is done for.
    Length = 7,
    /// A process has overwritten the team's memory. The team is done for.
    Spoilt = 8,
    /// A member has left, or died, while others wait for it. The team is done for.
    PeerLost = 9,
    /// This process was forked from the one that joined.
    Forked = 10,
    /// Nobody has joined as a rank that is waited for. The team is done for.
    NeverJoined = 11,
    /// A member takes longer than the limit that was set. The team is done for.
    Stalled = 12,
    /// Operations in flight cannot be had: no depth, or no memory.
    NoFlight = 13,
    /// The member has left its team, by a panic of Corecast that was caught before.
    Left = 14,
    /// Corecast panicked; a member that was in use has left its team.
    Panicked = 15,
    /// The system refused memory or a thread, or something else that has no status of its own.
    Failed = 16,
}

/// What functions return.
pub type StatusCode = Status;

/// Why a call did not do what it was asked for.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: Status,
    text: String,
}

impl Refusal {
    pub(crate) fn new(status: Status, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { status, text }
    }

    /// An argument cannot be.
    #[cold]
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(Status::Invalid, text)
    }

    /// A pointer that must not be NULL.
    #[cold]
    pub(crate) fn null(name: &str) -> Self {
        Self::invalid(format!("`{name}` is NULL"))
    }
}

impl From<Failure> for Refusal {
    #[cold]
    fn from(failure: Failure) -> Self {
        let status = match &failure {
            Failure::Mismatch { .. } => Status::Mismatch,
            Failure::Length { .. } => Status::Length,
            Failure::Spoilt { .. } => Status::Spoilt,
            Failure::PeerLost { .. } => Status::PeerLost,
            Failure::Forked { .. } => Status::Forked,
            Failure::NeverJoined { .. } => Status::NeverJoined,
            Failure::Stalled { .. } => Status::Stalled,
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
            // The sites are Corecast's own.
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
    let clean = |did: &mut Did| {
        let own = match &did.site {
            Some(Site::Here(site)) => site.file().contains(OWN),
            Some(Site::There(site)) => site.contains(OWN),
            None => false,
        };
        if own {
            did.site = None;
        }
    };
    match &mut failure {
        Failure::Mismatch { here, there }
        | Failure::Length { here, there, .. }
        | Failure::Spoilt { here, there }
        | Failure::PeerLost { here, there, .. }
        | Failure::Stalled { here, there, .. } => {
            clean(here);
            clean(there);
        }
        Failure::NeverJoined { here, .. } => clean(here),
        _ => {}
    }
    failure
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Keeps the text for `corecast_error_message`.
#[cold]
pub(crate) fn say(refusal: Refusal) -> Status {
    let Refusal { status, text } = refusal;
    let bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    let text = CString::new(bytes).unwrap_or_default();
    // A thread that is ending has no place for it any more.
    let _ = MESSAGE.try_with(|message| message.replace(text));
    status
}

/// The text of a panic.
pub(crate) fn words(payload: Box<dyn Any + Send>) -> String {
    let text = match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => match payload.downcast_ref::<String>() {
            Some(text) => text.clone(),
            None => "a panic without words".to_owned(),
        },
    };
    // What a panic carries may panic again when it is dropped.
    std::mem::forget(payload);
    text
}

/// The way in and out of every function: whatever happens inside is a status here.
#[inline(always)]
pub(crate) fn entry(body: impl FnOnce() -> Result<(), Refusal>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(refusal)) => say(refusal),
        Err(payload) => say(Refusal::new(Status::Panicked, words(payload))),
    }
}

/// The text of this thread's last call that failed: one line that quotes the input and says the way
/// out. Empty if none has. It stays until the next failing call of this thread.
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
    const NAMES: [&CStr; 17] = [
        c"ok",
        c"invalid",
        c"busy",
        c"unbuildable",
        c"not met",
        c"not joined",
        c"mismatch",
        c"length",
        c"spoilt",
        c"peer lost",
        c"forked",
        c"never joined",
        c"stalled",
        c"no flight",
        c"left",
        c"panicked",
        c"failed",
    ];
    let name = usize::try_from(status).ok().and_then(|at| NAMES.get(at));
    name.copied().unwrap_or(c"unknown").as_ptr()
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
    fn nothing_unwinds_and_everything_is_said() {
        assert_eq!(message(), "");
        assert_eq!(entry(|| Ok(())), Status::Ok);
        let invalid = || Err(Refusal::invalid("0\0 ranks"));
        assert_eq!(entry(invalid), Status::Invalid);
        assert_eq!(message(), "0 ranks");
        assert_eq!(entry(|| panic!("no {}", 7)), Status::Panicked);
        assert_eq!(message(), "no 7");
        assert_eq!(entry(|| std::panic::panic_any(vec![1])), Status::Panicked);
        assert_eq!(message(), "a panic without words");
        // Another thread's are its own.
        std::thread::spawn(|| assert_eq!(message(), ""))
            .join()
            .unwrap();
    }

    #[test]
    fn every_status_has_its_name() {
        for (status, expected) in [
            (Status::Ok, "ok"),
            (Status::Busy, "busy"),
            (Status::Mismatch, "mismatch"),
            (Status::Stalled, "stalled"),
            (Status::Failed, "failed"),
        ] {
            // SAFETY: a static text, ended by 0.
            let name = unsafe { CStr::from_ptr(corecast_status_name(status as i32)) };
            assert_eq!(name.to_str(), Ok(expected));
        }
        for none in [-1, 17, i32::MAX] {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(corecast_status_name(none)) };
            assert_eq!(name, c"unknown");
        }
    }
}
