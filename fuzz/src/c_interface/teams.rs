//! A program that all ranks of a team run, with wrong calls between the right ones.

use super::calls::{Prepared, Step};
use super::settings::{self, Told};
use super::statuses::{number, refused, told};
use arbitrary::{Result, Unstructured};
use corecast_c::builder::corecast_builder_free;
use corecast_c::flight::overlap::*;
use corecast_c::flight::synced::corecast_flight_synced;
use corecast_c::member::*;
use corecast_c::moves::{corecast_barrier, corecast_broadcast};
use corecast_c::settings::corecast_builder_patience;
use corecast_c::status::Status;
use corecast_c::succession::corecast_team_without;
use corecast_c::synced::corecast_synced;
use corecast_c::team::*;
use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How the members of a team part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Together,
    /// One cancels, leaves, or does something else than the others.
    Cancel,
    Leave,
    OtherOperation,
    OtherLength,
}

const ENDS: [End; 8] = [
    End::Together,
    End::Together,
    End::Together,
    End::Together,
    End::Cancel,
    End::Leave,
    End::OtherOperation,
    End::OtherLength,
];

/// What all ranks run.
struct Program {
    size: usize,
    says: Told,
    steps: Vec<Step>,
    end: End,
    /// The rank that does something else at the end.
    odd: usize,
    /// The first panic of a rank.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

pub(super) fn run(u: &mut Unstructured) -> Result<()> {
    let (builder, mut says) = settings::builder(u)?;
    let end = *u.choose(&ENDS)?;
    if end != End::Together {
        // Members that are in different operations may wait for each other.
        let patience = Duration::from_millis(50).as_nanos() as u64;
        // SAFETY: a live handle.
        let status = unsafe { corecast_builder_patience(builder, patience) };
        assert_eq!(told(status), Status::Ok);
        says.is_hasty = true;
    }
    let team = settings::team(builder);
    // SAFETY: a live handle, which nobody uses afterwards.
    unsafe { corecast_builder_free(builder) };
    if team.is_null() {
        return Ok(());
    }
    // SAFETY: the team lives until it is freed, and its members are gone by then.
    unsafe {
        let done = with(u, team, says, end);
        assert_eq!(told(corecast_team_free(team)), Status::Ok);
        done
    }
}

/// # Safety
///
/// A live handle, of a team that nobody has joined.
unsafe fn with(u: &mut Unstructured, team: *mut Team, says: Told, end: End) -> Result<()> {
    // SAFETY: the caller's promise, here and below.
    let size = unsafe {
        look(u, team)?;
        corecast_team_size(team)
    };
    let steps = (0..u.int_in_range(0..=8)?).map(|_| Step::of(u, size));
    let mut program = Program {
        size,
        says,
        steps: steps.collect::<Result<_>>()?,
        end,
        odd: u.choose_index(size)?,
        panic: Mutex::new(None),
    };
    let context = (&raw const program).cast_mut().cast();
    let is_run = u.arbitrary()?;
    // SAFETY: as above; the program outlives all ranks.
    let status = unsafe {
        match is_run {
            true => {
                refused(corecast_team_run(team, None, null_mut()));
                corecast_team_run(team, Some(body), context)
            }
            false => join(team, size, &program),
        }
    };
    program.resume_panic();
    let status = told(status);
    assert!(
        status == Status::Ok || says.is_hasty || says.may_lack_flight,
        "{status:?}"
    );
    // SAFETY: as above.
    unsafe {
        assert_eq!(told(corecast_team_failure(team)), status);
        if is_run {
            // What has failed stays so, and after a panic there is no other run.
            let again = told(corecast_team_run(team, Some(rests), null_mut()));
            let panicked = status != Status::Ok && again == Status::NotJoined;
            assert!(again == status || panicked, "{again:?} after {status:?}");
        }
        go_on(u, team, size, says)
    }
}

/// A body that calls nothing.
extern "C" fn rests(_: *mut Member, _: *mut c_void) {}

/// Functions that ask a team.
///
/// # Safety
///
/// A live handle.
unsafe fn look(u: &mut Unstructured, team: *mut Team) -> Result<()> {
    let rank = number(u)?;
    let (mut ranks, mut pus, mut text) = ([77; 4], [77; 4], [7_u8; 200]);
    let (capacity, mut count, mut length) = (u.int_in_range(0..=3)?, 0, 0);
    let room = u.int_in_range(0..=199)?;
    // SAFETY: the caller's promise, and buffers with more room than is said.
    unsafe {
        let size = corecast_team_size(team);
        assert_eq!(told(corecast_team_failure(team)), Status::Ok);
        let status = corecast_team_ranks(team, ranks.as_mut_ptr(), capacity, &raw mut count);
        assert_eq!((told(status), count), (Status::Ok, size));
        assert!(ranks[capacity.min(size)..].iter().all(|&rank| rank == 77));
        assert_eq!(
            told(corecast_team_pus(team, pus.as_mut_ptr(), capacity)),
            Status::Ok
        );
        assert!(pus[capacity.min(size)..].iter().all(|&pu| pu == 77));
        let status = corecast_team_explain(team, text.as_mut_ptr().cast(), room, &raw mut length);
        assert_eq!(told(status), Status::Ok);
        assert!(length > 0 && text[room..].iter().all(|&byte| byte == 7));
        assert!(room == 0 || text[..room].contains(&0));
        refused(corecast_team_explain(team, null_mut(), 5, null_mut()));
        refused(corecast_team_pus(team, null_mut(), 5));
        refused(corecast_team_ranks(team, null_mut(), 5, &raw mut count));
        refused(corecast_team_join(team, 0, null_mut()));
        if rank >= size {
            refused(corecast_team_pin_here(team, rank, null_mut()));
            let mut member = null_mut();
            let status = corecast_team_join(team, rank, &raw mut member);
            assert_eq!((told(status), member), (Status::NotJoined, null_mut()));
        }
        let (mut next, none) = (null_mut(), null());
        refused(corecast_team_without(
            team,
            [size].as_ptr(),
            1,
            &raw mut next,
            null_mut(),
        ));
        refused(corecast_team_without(
            team,
            none,
            1,
            &raw mut next,
            null_mut(),
        ));
        refused(corecast_team_without(
            team,
            none,
            usize::MAX,
            &raw mut next,
            null_mut(),
        ));
        refused(corecast_team_without(team, none, 0, null_mut(), null_mut()));
    }
    Ok(())
}

/// Each rank joins on a thread of the caller's.
///
/// # Safety
///
/// A live handle, of a team that nobody has joined.
unsafe fn join(team: *mut Team, size: usize, program: &Program) -> Status {
    #[derive(Clone, Copy)]
    struct Shared(*mut Team);
    // SAFETY: any thread may call the functions below.
    unsafe impl Send for Shared {}
    let shared = Shared(team);
    std::thread::scope(|scope| {
        for rank in 0..size {
            scope.spawn(move || {
                let Shared(team) = { shared };
                let mut member = null_mut();
                // SAFETY: the caller's promise; the member lives until it is freed.
                unsafe {
                    let joined = corecast_team_join(team, rank, &raw mut member);
                    assert_eq!(told(joined), Status::Ok);
                    let mut second = null_mut();
                    let again = corecast_team_join(team, rank, &raw mut second);
                    assert_eq!((told(again), second), (Status::NotJoined, null_mut()));
                    program.caught(member);
                    assert_eq!(told(corecast_member_free(member)), Status::Ok);
                }
            });
        }
    });
    // SAFETY: as above.
    unsafe { corecast_team_failure(team) }
}

/// A team of the ranks that are left works.
///
/// # Safety
///
/// A live handle, of a team whose members are gone.
unsafe fn go_on(u: &mut Unstructured, team: *mut Team, size: usize, says: Told) -> Result<()> {
    let leaving = (0..u.int_in_range(0..=3)?).map(|_| u.choose_index(size));
    let leaving = leaving.collect::<Result<Vec<usize>>>()?;
    let (mut next, mut completed) = (null_mut(), 0);
    // SAFETY: the caller's promise; the next team is freed below, after its members have left.
    unsafe {
        let (list, count) = (leaving.as_ptr(), leaving.len());
        let status = corecast_team_without(team, list, count, &raw mut next, &raw mut completed);
        if told(status) != Status::Ok {
            assert!(next.is_null());
            return Ok(());
        }
        let left = (0..size).filter(|rank| !leaving.contains(rank)).count();
        assert_eq!(corecast_team_size(next), left);
        let steps = vec![Step::of(u, left).unwrap_or_else(|_| Step::barrier())];
        let mut program = Program {
            size: left,
            says,
            steps,
            end: End::Together,
            odd: 0,
            panic: Mutex::new(None),
        };
        let status = corecast_team_run(next, Some(body), (&raw const program).cast_mut().cast());
        program.resume_panic();
        assert!(told(status) == Status::Ok || says.is_hasty || says.may_lack_flight);
        assert_eq!(told(corecast_team_free(next)), Status::Ok);
    }
    Ok(())
}

/// What a rank of `corecast_team_run` does.
///
/// # Safety
///
/// A live member, and a program that outlives it.
unsafe extern "C" fn body(member: *mut Member, context: *mut c_void) {
    // SAFETY: the caller's promise.
    let program = unsafe { &*context.cast::<Program>() };
    // SAFETY: as above; it is lent.
    unsafe {
        refused(corecast_member_free(member));
        program.caught(member);
    }
}

impl Program {
    /// Goes on with the first panic of a rank, if there was one.
    fn resume_panic(&mut self) {
        let panic = self.panic.get_mut();
        if let Some(panic) = panic.unwrap_or_else(PoisonError::into_inner).take() {
            resume_unwind(panic);
        }
    }

    /// Runs the program of a rank, and keeps a panic, which must not go on into C.
    ///
    /// # Safety
    ///
    /// A live member.
    unsafe fn caught(&self, member: *mut Member) {
        // SAFETY: the caller's promise.
        let ran = catch_unwind(AssertUnwindSafe(|| unsafe { self.rank(member) }));
        if let Err(panic) = ran {
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(panic);
        }
    }

    /// # Safety
    ///
    /// A live member.
    unsafe fn rank(&self, member: *mut Member) {
        // SAFETY: the caller's promise, here and below.
        let (rank, size) = unsafe { (corecast_member_rank(member), corecast_member_size(member)) };
        assert!(size == self.size && rank < size);
        let mut steps = &self.steps[..];
        while let Some(first) = steps.first() {
            let many = steps.iter().take_while(|step| step.is_in_flight).count();
            // SAFETY: as above.
            let goes_on = unsafe {
                match many {
                    0 => self.wait_for(member, rank, first),
                    _ => self.overlap(member, rank, &steps[..many]),
                }
            };
            if !goes_on {
                return;
            }
            steps = &steps[many.max(1)..];
        }
        // SAFETY: as above.
        unsafe { self.part(member, rank) };
    }

    /// Whether a rank goes on after a call that was right.
    fn judge(&self, status: Status, prepared: &Prepared) -> bool {
        let status = told(status);
        prepared.check_around();
        if status == Status::Ok {
            prepared.check();
            return true;
        }
        let may_fail = self.says.is_hasty || self.says.may_lack_flight;
        assert!(
            may_fail && is_end(status),
            "{status:?}: {:?}",
            prepared.call
        );
        false
    }

    /// Calls an operation that waits.
    ///
    /// # Safety
    ///
    /// A live member.
    unsafe fn wait_for(&self, member: *mut Member, rank: usize, step: &Step) -> bool {
        let prepared = step.prepare(rank, self.size);
        // SAFETY: the caller's promise; what the calls point to lives until they have returned.
        unsafe {
            if step.wrong.0 >> rank & 1 == 1 {
                let before = prepared.received().to_vec();
                let (call, _numbers) = prepared.wrong(step.wrong.1);
                refused(call.issue(null_mut()));
                if prepared.can_be_wrong() {
                    let status = call.issue(member);
                    assert_eq!(told(status), Status::Invalid, "{call:?}");
                }
                refused(corecast_synced(member, 3, -1, Some(issue), null_mut()));
                refused(corecast_synced(member, 0, 0, None, null_mut()));
                refused(corecast_overlap(member, None, null_mut()));
                assert!(prepared.received() == before, "{call:?}");
            }
            let status = match step.sides {
                None => prepared.call.issue(member),
                Some((before, after)) => {
                    let context = (&raw const prepared).cast_mut().cast();
                    corecast_synced(member, before, after, Some(issue), context)
                }
            };
            self.judge(status, &prepared)
        }
    }

    /// Starts operations, and waits for some.
    ///
    /// # Safety
    ///
    /// A live member.
    unsafe fn overlap(&self, member: *mut Member, rank: usize, steps: &[Step]) -> bool {
        let prepare = |step: &Step| step.prepare(rank, self.size);
        let mut flights = Flights {
            member,
            rank,
            steps,
            prepared: steps.iter().map(prepare).collect(),
            begun: false,
            failed: false,
            panic: None,
        };
        let context = (&raw mut flights).cast();
        // SAFETY: the caller's promise; what operations point to lives until all have ended.
        let status = unsafe { corecast_overlap(member, Some(start_all), context) };
        if let Some(panic) = flights.panic.take() {
            resume_unwind(panic);
        }
        if self.says.no_flight || (status == Status::NoFlight && self.says.may_lack_flight) {
            assert_eq!(told(status), Status::NoFlight);
            assert!(!flights.begun);
            return self.says.no_flight;
        }
        // A failure that the body was told is not told again.
        let failed = flights.failed;
        let mut all = flights.prepared.iter();
        all.all(|prepared| match failed && status == Status::Ok {
            true => {
                prepared.check_around();
                assert!(self.says.is_hasty);
                false
            }
            false => self.judge(status, prepared),
        })
    }

    /// The end of the program of a rank.
    ///
    /// # Safety
    ///
    /// A live member.
    unsafe fn part(&self, member: *mut Member, rank: usize) {
        let (is_odd, mut bytes) = (rank == self.odd, [0_u8; 100]);
        let data = bytes.as_mut_ptr().cast();
        // SAFETY: the caller's promise, and 100 bytes.
        let status = unsafe {
            match self.end {
                End::Together => return,
                End::Leave if is_odd => return,
                End::Cancel if is_odd => corecast_cancel(member),
                End::Cancel | End::Leave => corecast_barrier(member),
                End::OtherOperation if is_odd => corecast_broadcast(member, 0, data, 4),
                End::OtherOperation => corecast_barrier(member),
                End::OtherLength => {
                    corecast_broadcast(member, 0, data, if is_odd { 99 } else { 50 })
                }
            }
        };
        let has_failed = told(status) != Status::Ok;
        assert!(!has_failed || is_end(status), "{status:?}");
        let is_alone = self.size == 1 && self.end != End::Cancel;
        // SAFETY: as above.
        let status = unsafe { corecast_barrier(member) };
        assert!(
            is_alone || told(status) != Status::Ok || !has_failed,
            "{status:?}"
        );
        assert!(self.end != End::Cancel || told(status) != Status::Ok);
    }
}

/// Whether a member that does the right thing can get this when others do not.
fn is_end(status: Status) -> bool {
    use Status::*;
    matches!(
        status,
        Mismatch | Length | PeerLost | NeverJoined | Stalled | Cancelled | NoFlight
    )
}

/// Issues a prepared call, within a synchronised operation.
///
/// # Safety
///
/// A live member, and a prepared call.
unsafe extern "C" fn issue(member: *mut Member, context: *mut c_void) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (*context.cast::<Prepared>()).call.issue(member) as u32 }
}

/// Operations of one rank that are in flight together.
struct Flights<'a> {
    member: *mut Member,
    rank: usize,
    steps: &'a [Step],
    prepared: Vec<Prepared>,
    begun: bool,
    failed: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// The body of an overlap.
///
/// # Safety
///
/// A flight, and [`Flights`] that outlive the overlap.
unsafe extern "C" fn start_all(flight: *const Flight, context: *mut c_void) {
    // SAFETY: the caller's promise.
    let flights = unsafe { &mut *context.cast::<Flights<'_>>() };
    flights.begun = true;
    // SAFETY: as above.
    let ran = catch_unwind(AssertUnwindSafe(|| unsafe { flights.start(flight) }));
    flights.panic = ran.err();
}

/// A prepared call to start within a synchronised operation, and its request.
struct Starting<'a>(&'a Prepared, *mut Request);

/// Starts it.
///
/// # Safety
///
/// A flight, and [`Starting`].
unsafe extern "C" fn start_one(flight: *const Flight, context: *mut c_void) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let Starting(prepared, request) = &mut *context.cast::<Starting<'_>>();
        prepared.call.start(flight, request) as u32
    }
}

impl Flights<'_> {
    /// # Safety
    ///
    /// That of [`start_all`].
    unsafe fn start(&mut self, flight: *const Flight) {
        let mut requests = Vec::new();
        for (step, prepared) in self.steps.iter().zip(&mut self.prepared) {
            // SAFETY: the caller's promise; what operations point to lives until the overlap has ended. Requests are
            // waited for once.
            unsafe {
                assert_eq!(told(corecast_barrier(self.member)), Status::Busy);
                if step.wrong.0 >> self.rank & 1 == 1 {
                    let mut request = null_mut();
                    let (call, _numbers) = prepared.wrong(step.wrong.1);
                    refused(call.start(null(), &raw mut request));
                    if prepared.can_be_wrong() {
                        let status = call.start(flight, &raw mut request);
                        assert_eq!(told(status), Status::Invalid, "{call:?}");
                    }
                    assert!(request.is_null());
                    refused(corecast_request_wait(null_mut()));
                    refused(corecast_request_test(null_mut(), &raw mut self.failed));
                    refused(corecast_flight_synced(
                        flight,
                        9,
                        0,
                        Some(start_one),
                        null_mut(),
                    ));
                }
                let mut starting = Starting(prepared, null_mut());
                let status = match step.sides {
                    None => prepared.call.start(flight, &raw mut starting.1),
                    Some((before, after)) => {
                        let context = (&raw mut starting).cast();
                        corecast_flight_synced(flight, before, after, Some(start_one), context)
                    }
                };
                let request = starting.1;
                if told(status) != Status::Ok {
                    assert!(is_end(status), "{status:?}: {:?}", prepared.call);
                    self.failed = true;
                    return;
                }
                if prepared.keeps_no_operator() {
                    prepared.free_operator();
                }
                requests.push(request);
                self.failed |= poll(flight, step.wrong.1, &mut requests);
            }
            if self.failed {
                return;
            }
        }
    }
}

/// Waits for some of the operations that are in flight, in any order. Returns whether one has failed.
///
/// # Safety
///
/// That of [`start_all`]; the requests were not waited for.
unsafe fn poll(flight: *const Flight, choice: usize, requests: &mut Vec<*mut Request>) -> bool {
    let at = choice % requests.len();
    let mut done = false;
    // SAFETY: the caller's promise.
    let status = unsafe {
        match choice % 5 {
            0 => corecast_request_wait(requests.swap_remove(at)),
            1 => corecast_request_test(requests[at], &raw mut done),
            2 => corecast_flight_progress(flight),
            _ => Status::Ok,
        }
    };
    let has_failed = told(status) != Status::Ok;
    assert!(!has_failed || is_end(status), "{status:?}");
    has_failed
}
