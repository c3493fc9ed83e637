//! Windows of a fabric that lends copies, as those of tests do.

/// The methods of a [`Fabric`](crate::Fabric) that are about windows, for fabrics of tests. `Window<'w>` is `&'w mut [u8]`,
/// and [`lend`](crate::Fabric::lend) gives away a copy or nothing, so that a rank never waits for its loans. The call of the
/// macro stands within the `impl`.
///
/// # Examples
///
/// ```
/// use corecast_wire::Fabric;
/// # use std::convert::Infallible;
/// # use std::ops::Range;
///
/// /// A fabric of one rank, which has nobody to talk to.
/// struct Alone;
///
/// impl Fabric for Alone {
///     type Error = Infallible;
///     type Window<'w> = &'w mut [u8];
///     corecast_wire::windows_lent_as_copies!();
/// #   fn flush(&mut self) -> Result<(), Infallible> { Ok(()) }
/// #   fn rank(&self) -> usize { 0 }
/// #   fn size(&self) -> usize { 1 }
/// #   fn notify(&mut self, _: usize) -> Result<(), Infallible> { unreachable!() }
/// #   fn wait(&mut self, _: usize) -> Result<(), Infallible> { unreachable!() }
/// #   fn send(&mut self, _: usize, _: &[u8]) -> Result<(), Infallible> { unreachable!() }
/// #   fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<(), Infallible> { unreachable!() }
/// #   fn publish(&mut self, _: usize, _: &[u8]) -> Result<(), Infallible> { unreachable!() }
/// #   fn read(&mut self, _: usize, _: &mut [u8]) -> Result<(), Infallible> { unreachable!() }
/// #   fn add(&mut self, _: usize) -> Result<(), Infallible> { unreachable!() }
/// #   fn collect(&mut self, _: usize) -> Result<(), Infallible> { unreachable!() }
/// #   fn arrive_and_wait(&mut self, _: usize) -> Result<(), Infallible> { unreachable!() }
/// #   fn message_bytes_max(&self) -> usize { 56 }
/// #   fn publish_bytes_max(&self, _: usize) -> usize { 56 }
/// #   fn wrong_length(&self, _: usize, _: usize, _: usize) -> Infallible { unreachable!() }
/// #   fn lend(&mut self, _: &Self::Window<'_>, _: impl IntoIterator<Item = usize>, _: Range<usize>) -> Result<(), Infallible> { unreachable!() }
/// #   fn borrow(&mut self, _: usize, _: usize, _: impl FnMut(usize, &[u8])) -> Result<(), Infallible> { unreachable!() }
///     // And the operations.
/// }
///
/// let mut data = [1, 2, 3];
/// Alone.with_window(&mut data, 1, true, |fabric, window| {
///     let Ok(part) = fabric.view_mut(window, 1..2);
///     part[0] = 7;
///     assert_eq!(fabric.view(window, 0..3), [1, 7, 3]);
/// });
/// ```
#[macro_export]
macro_rules! windows_lent_as_copies {
    () => {
        fn with_window<R>(
            &mut self,
            data: &mut [u8],
            _element: usize,
            _written: bool,
            body: impl FnOnce(&mut Self, &mut Self::Window<'_>) -> R,
        ) -> R {
            body(self, &mut { data })
        }

        fn view<'b>(
            &self,
            window: &'b Self::Window<'_>,
            range: ::std::ops::Range<usize>,
        ) -> &'b [u8] {
            &window[range]
        }

        fn view_mut<'b>(
            &mut self,
            window: &'b mut Self::Window<'_>,
            range: ::std::ops::Range<usize>,
        ) -> Result<&'b mut [u8], Self::Error> {
            Ok(&mut window[range])
        }
    };
}
