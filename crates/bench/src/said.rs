//! Calls whose algorithm is held against what their member says.

#[cfg(debug_assertions)]
use corecast_collectives::registry::record;

/// Makes a call of `rank`. Where debug assertions record which algorithms run, the first must be the one that `rank` says.
#[inline(always)]
pub(crate) fn as_said<S, R>(
    rank: &mut S,
    says: impl FnOnce(&S) -> &'static str,
    call: impl FnOnce(&mut S) -> R,
) -> R {
    #[cfg(debug_assertions)]
    {
        let said = says(rank);
        let (result, ran) = record::recorded(|| call(rank));
        if let Some((collective, ran)) = ran.first() {
            assert_eq!(*ran, said, "another {collective} ran than the member says");
        }
        result
    }
    #[cfg(not(debug_assertions))]
    {
        drop(says);
        call(rank)
    }
}
