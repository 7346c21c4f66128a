//! What a program needs that runs for months: supervised threads, a slot between threads in which the latest value wins, pauses
//! after failures, clocks and dates, measured durations, child processes, signals, and what the system reports about the machine.
//!
//! Knows no other room. Must not: know what a thread works on.

mod backoff;
mod child;
mod child_guard;
mod clock;
mod date;
mod duration_meter;
mod fault;
mod heartbeat;
mod latest;
mod machine;
mod message;
mod message_queue;
mod parent_process;
mod process;
mod service;
mod supervisor;
mod timing;

pub use backoff::{Backoff, FailureLimit};
pub use child::{foreign_program, kill, run_command, wait_for_exit};
#[cfg(target_os = "linux")]
pub use child_guard::become_guarded_program;
pub use child_guard::run_child_guard;
pub use clock::{AwakeClock, monotonic_ns, processor_secs};
pub use date::{iso_from_time, now, now_iso, now_iso_millis, numbers_of, parse_date};
pub use duration_meter::{DurationMeter, DurationStatus};
pub use fault::{Fault, FaultChange, FaultLedger, FaultStatus, SETTLE_TIME};
pub use heartbeat::{HangPolicy, Heartbeat, StageBoard, StageStatus, StopFlag};
pub use latest::Latest;
pub use machine::{MachineStatus, free_bytes, kernel_release, machine_status};
pub use message::{VisibleText, is_hidden, print_message, text_output};
pub use message_queue::{MessageFlow, MessageWriter, flush_messages, message_flow, queue_messages};
pub use parent_process::{EXIT_NO_WINDOW, EXIT_REPORTED, end_with_parent, run_child};
pub use process::{ensure_runtime_dir, replace_process, stop_on_signals};
pub use service::{Pulse, ServiceManager};
pub use supervisor::{StageEnd, Supervisor};
pub use timing::{FramePacer, TickClock, TickDue};
