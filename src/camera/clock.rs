//! The monotonic clock of the machine, in a form that two processes can compare. The only clock beside `app`'s.

/// Nanoseconds of the system's monotonic clock. It never jumps with the date, and drivers stamp their frames with it.
#[cfg(unix)]
pub(super) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Nanoseconds since the first call in this process. Elsewhere processes share no clock that can be read safely: the
/// receiver sees that a stamp is none of its own and takes the time of arrival instead.
#[cfg(not(unix))]
pub(super) fn monotonic_ns() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_nanos() as u64
}
