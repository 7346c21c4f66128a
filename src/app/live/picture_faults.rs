//! Reports the faults of the picture that vision detects to log and journal, each when it begins and when it ends.

use crate::vision::{Vision, VisionFault};

use crate::control::Journal;
use crate::runtime::{Fault, SETTLE_TIME};

/// The faults of the picture, one reporter per name.
pub(crate) struct PictureFaults {
    reporters: [(&'static str, Fault); VisionFault::NAMES.len()],
    is_calibrated: bool,
}

impl PictureFaults {
    /// Creates inactive faults. Places are also reported in floor meters if the camera is calibrated.
    pub(crate) fn new(is_calibrated: bool, journal: &Journal) -> Self {
        Self {
            reporters: VisionFault::NAMES
                .map(|name| (name, journal.fault(name).settling(SETTLE_TIME))),
            is_calibrated,
        }
    }

    /// Reports the faults that began or ended with the last frame.
    pub(crate) fn observe(&mut self, vision: &Vision) {
        for (name, reporter) in &mut self.reporters {
            match vision.faults().find(|fault| fault.name() == *name) {
                Some(fault) if !reporter.is_present() => {
                    reporter.raise(&fault.sentence(self.is_calibrated));
                }
                Some(_) => {}
                None => reporter.clear(),
            }
        }
    }
}
