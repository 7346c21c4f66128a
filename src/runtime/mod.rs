//! What a program needs that runs for months: supervised threads, a slot between threads in which the latest value wins, pauses
//! after failures, clocks and dates, measured durations, child processes, signals, and what the system reports about the machine.
//!
//! Knows no other room. Must not: know what a thread works on.

mod clock;
mod date;
mod duration_meter;
mod heartbeat;
mod latest;
mod machine;
mod message;
mod parent_process;
mod process;
mod program_wait;
mod supervisor;
mod timing;

pub use clock::{AwakeClock, monotonic_ns};
pub use date::{iso_from_time, now_iso};
pub use duration_meter::{DurationMeter, DurationStatus, DurationSummary};
pub use heartbeat::{HangPolicy, Heartbeat, StageBoard, StageStatus, StopFlag};
pub use latest::Latest;
pub use machine::{MachineStatus, free_bytes, kernel_release, machine_status};
pub use message::print_message;
pub use parent_process::{EXIT_NO_WINDOW, EXIT_REPORTED, end_with_parent, run_child};
pub use process::{ensure_runtime_dir, stop_on_signals};
pub use program_wait::wait_for_program;
pub use supervisor::Supervisor;
pub use timing::{Backoff, FailureLimit, FramePacer, TickClock, TickDue};
