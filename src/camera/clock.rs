//! The machine's monotonic clock, in a form that two processes can compare. Only this room and `app` read a clock.

/// Time of the system's monotonic clock, in nanoseconds. It does not change with the date, and drivers use it for the
/// timestamps of frames.
#[cfg(unix)]
pub(super) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Time since the first call in this process, in nanoseconds. Safe Rust reads no clock here that two processes share:
/// the receiver rejects timestamps of another process and uses the time of arrival instead.
#[cfg(not(unix))]
pub(super) fn monotonic_ns() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_nanos() as u64
}
