//! Fabrics without shared lines.

/// The methods of a [`Fabric`](crate::Fabric) that are about lines which groups share, for fabrics that have none: no plan
/// that runs over them has groups, and [`publish_bytes_max`](crate::Fabric::publish_bytes_max) is 0, by which collectives see
/// it. The call of the macro stands within the `impl`, as that of [`windows_lent_as_copies`](crate::windows_lent_as_copies)
/// does, where there is an example.
///
/// # Panics
///
/// The methods do, since their caller has overlooked that.
#[macro_export]
macro_rules! no_shared_lines {
    () => {
        fn publish(&mut self, _line: usize, _payload: &[u8]) -> Result<(), Self::Error> {
            unreachable!("nobody shares a line here")
        }

        fn read(&mut self, _line: usize, _payload: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("nobody shares a line here")
        }

        fn add(&mut self, _line: usize) -> Result<(), Self::Error> {
            unreachable!("nobody shares a line here")
        }

        fn collect(&mut self, _line: usize) -> Result<(), Self::Error> {
            unreachable!("nobody shares a line here")
        }

        fn arrive_and_wait(&mut self, _line: usize) -> Result<(), Self::Error> {
            unreachable!("nobody shares a line here")
        }

        fn publish_bytes_max(&self, _line: usize) -> usize {
            0
        }
    };
}
