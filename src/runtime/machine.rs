//! Reads what the system reports about this process and the disk.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The machine. A value is `None` where the system does not report it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineStatus {
    /// Number of the process.
    pub process: u32,
    /// Memory of the process, in bytes.
    pub memory_bytes: Option<u64>,
    /// Largest memory of the process since the start, in bytes.
    pub memory_max_bytes: Option<u64>,
    /// Free space on the disk with the site, in bytes.
    pub disk_free_bytes: Option<u64>,
}

/// Returns memory, free disk space and process number. `folder` is a folder on the disk; `None` or an empty path is the working
/// folder.
pub fn machine_status(folder: Option<&Path>) -> MachineStatus {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    MachineStatus {
        process: std::process::id(),
        memory_bytes: kilobytes(&status, "VmRSS:"),
        memory_max_bytes: kilobytes(&status, "VmHWM:"),
        disk_free_bytes: free_bytes(folder.unwrap_or(Path::new("."))),
    }
}

/// Returns the release of the kernel; empty if the system does not report it.
pub fn kernel_release() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    text.trim().to_owned()
}

/// Returns the value in bytes of a line `NAME: VALUE kB`.
fn kilobytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let value: u64 = line.split_whitespace().next()?.parse().ok()?;
    value.checked_mul(1024)
}

/// Returns the free space on the disk with a folder, in bytes; `None` if the system does not report it.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_process_status_are_read() {
        let text = "Name:\tshoal\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\nVmX:\tmany kB\n";
        assert_eq!(kilobytes(text, "VmRSS:"), Some(1 << 20));
        assert_eq!(kilobytes(text, "VmX:"), None);
        assert_eq!(kilobytes(text, "VmY:"), None);
    }
}
