//! The capture worker: a process that captures frames from one camera and writes them to a pipe.
//!
//! Drivers and the crates that use them may hang, panic or leak memory. In a process of their own they do not affect Shoal: the
//! parent process ([`super::feed`]) checks timeouts, kills the worker and restarts it. Input: the requested camera and
//! settings. Output: messages and frames on standard output, in the protocol of [`super::pipe`]. The worker ends when its
//! standard input closes, so it never outlives its parent. Each function of this module must be the only task of its process.

#[cfg(target_os = "linux")]
mod linux;
mod luma;
mod nokhwa;
mod request;
mod serve;

pub use self::request::CaptureRequest;
use self::serve::{end_with_standard_input, send};

use super::Backend;
#[cfg(not(target_os = "linux"))]
use super::fault::{Fault, FaultKind};
use super::pipe::Message;

/// Opens the camera and writes its frames to standard output until the camera fails. Then writes the fault too, and returns its
/// description.
///
/// Ends the whole process when standard input closes, or when standard output is no longer read.
pub fn run_capture_worker(request: &CaptureRequest) -> String {
    end_with_standard_input();
    let fault = match request.backend {
        #[cfg(target_os = "linux")]
        Backend::V4l2 => linux::capture(request),
        #[cfg(not(target_os = "linux"))]
        Backend::V4l2 => Fault::new(
            FaultKind::OpenFailed,
            "v4l2: is available on Linux only; use nokhwa: instead",
        ),
        Backend::Nokhwa => nokhwa::capture(request),
    };
    let detail = fault.detail.clone();
    send(&Message::Fault(fault));
    detail
}

/// Writes a description of each camera of this machine to standard output.
pub fn run_list_worker() {
    end_with_standard_input();
    #[cfg(target_os = "linux")]
    linux::list();
    #[cfg(not(target_os = "linux"))]
    nokhwa::list();
    send(&Message::ListEnd);
}
