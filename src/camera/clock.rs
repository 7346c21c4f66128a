//! The machine's monotonic clock, in a form that two processes can compare. Only the modules `camera` and `app` read a clock.

/// Returns the time of the system's monotonic clock, in nanoseconds. A change of the date or time of day does not affect this
/// clock. Drivers use the same clock for the timestamps of frames.
#[cfg(unix)]
pub(super) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the time since the first call in this process, in nanoseconds. On this system, safe Rust cannot read a clock that
/// two processes share. The receiver therefore rejects the timestamps of another process and uses the time of arrival instead.
#[cfg(not(unix))]
pub(super) fn monotonic_ns() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_nanos() as u64
}
