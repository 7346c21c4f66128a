//! Stable names of cameras. Finds the `/dev/video…` node of a camera by its stable name.
//!
//! Node numbers change when a camera is disconnected or the machine restarts. The stable name of a camera is the name of its
//! link in `/dev/v4l/by-id`, which contains the serial number. For a camera without a link, the stable name is the bus and the
//! card name, followed by a number if several nodes have the same bus and card name.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use v4l::Device;
use v4l::capability::Flags;

use crate::camera::fault::{Fault, FaultKind};

/// Folder with a link for each camera that has a serial number.
const LINKS: &str = "/dev/v4l/by-id";

/// A device node that captures frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::camera::worker) struct Node {
    pub(in crate::camera::worker) path: PathBuf,
    /// N of `/dev/videoN`; `None` for a node of another name.
    pub(in crate::camera::worker) number: Option<u32>,
    pub(super) card: String,
    pub(super) bus: String,
    pub(super) driver: String,
    /// Number among the nodes with the same bus and card name, counted from 1; 0 if unknown.
    pub(super) ordinal: usize,
    /// Link in `/dev/v4l/by-id`; `None` if the camera has no link.
    pub(super) by_id: Option<PathBuf>,
}

impl Node {
    /// Returns the name that finds this camera again.
    pub(super) fn stable_name(&self) -> String {
        match (&self.by_id, self.ordinal) {
            (Some(link), _) => link.display().to_string(),
            (None, 0 | 1) => format!("{} {}", self.bus, self.card),
            (None, ordinal) => format!("{} {} #{ordinal}", self.bus, self.card),
        }
    }
}

/// Returns the paths of all `/dev/videoN`, by number. Opens none of them.
fn paths() -> BTreeMap<u32, PathBuf> {
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_str()?.strip_prefix("video")?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect()
}

/// Returns all nodes that capture frames, by number. Nodes that cannot be queried are left out. Calls `before` before each
/// query, because a node may never answer.
pub(super) fn all(mut before: impl FnMut(&Path)) -> Vec<Node> {
    let links = links();
    let mut found: Vec<Node> = Vec::new();
    for (number, path) in paths() {
        before(&path);
        let Some(mut node) = query(&path) else {
            continue;
        };
        node.number = Some(number);
        node.by_id = links.get(&path).cloned();
        let same = |other: &&Node| (&other.bus, &other.card) == (&node.bus, &node.card);
        node.ordinal = 1 + found.iter().filter(same).count();
        found.push(node);
    }
    found
}

/// Queries the bus, card name and driver of a node. Returns `None` if the node does not capture frames.
fn query(path: &Path) -> Option<Node> {
    // The crate panics on names that are not UTF-8. Such a device must not hide the others.
    let caps = catch_unwind(AssertUnwindSafe(|| Device::with_path(path)?.query_caps()));
    let caps = caps.ok()?.ok()?;
    let pictures = caps.capabilities.contains(Flags::VIDEO_CAPTURE);
    pictures.then(|| Node {
        path: path.to_owned(),
        card: caps.card,
        bus: caps.bus,
        driver: caps.driver,
        ..Node::default()
    })
}

/// Returns the links in `/dev/v4l/by-id`; the key is the path of the node that a link points to.
fn links() -> BTreeMap<PathBuf, PathBuf> {
    let mut links = BTreeMap::new();
    for entry in std::fs::read_dir(LINKS).into_iter().flatten().flatten() {
        if let Ok(node) = entry.path().canonicalize() {
            let link = links.entry(node).or_insert_with(|| entry.path());
            // The order of entries in a folder is undefined, so take the first link in alphabetical order.
            if entry.path() < *link {
                *link = entry.path();
            }
        }
    }
    links
}

/// Finds the node of a camera by number, path or stable name.
pub(in crate::camera::worker) fn find(device: &str) -> Result<Node, Fault> {
    let nodes = all(|_| {});
    if device.starts_with('/') {
        let path = PathBuf::from(device);
        let real = path.canonicalize().map_err(|cause| {
            Fault::new(
                FaultKind::Absent,
                format!("{device}: the path of the camera cannot be resolved: {cause}; check the path and that the camera is connected"),
            )
        })?;
        // A path that is not in the list is opened too, because the error of the operating system is more helpful than ours.
        let known = nodes.into_iter().find(|node| node.path == real);
        return Ok(known.unwrap_or(Node {
            path: real,
            ..Node::default()
        }));
    }
    let Some(found) = pick(&nodes, device) else {
        let names: Vec<String> = nodes.iter().map(Node::stable_name).collect();
        let connected = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        let detail = format!("no camera '{device}' is connected; connected cameras: {connected}");
        return Err(Fault::new(FaultKind::Absent, detail));
    };
    Ok(found.clone())
}

/// Finds a node by number, stable name, bus or card name. If a camera was moved to another port, its old stable name still ends
/// with its card name, and finds it by the card name. Bus and card name find a node only if no other node matches.
fn pick<'a>(nodes: &'a [Node], device: &str) -> Option<&'a Node> {
    if let Ok(number) = device.parse::<u32>() {
        return nodes.iter().find(|node| node.number == Some(number));
    }
    let named = nodes.iter().find(|node| {
        let plain = Node {
            by_id: None,
            ..(*node).clone()
        };
        plain.stable_name() == device
    });
    let only = |same: &dyn Fn(&&Node) -> bool| {
        let mut some = nodes.iter().filter(same);
        some.next().filter(|_| some.next().is_none())
    };
    named
        .or_else(|| only(&|node| node.bus == device || node.card == device))
        .or_else(|| {
            only(&|node| !node.card.is_empty() && device.ends_with(&format!(" {}", node.card)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u32, bus: &str, card: &str, ordinal: usize) -> Node {
        Node {
            path: format!("/dev/video{number}").into(),
            number: Some(number),
            card: card.into(),
            bus: bus.into(),
            ordinal,
            ..Node::default()
        }
    }

    fn picked(nodes: &[Node], device: &str) -> Option<u32> {
        pick(nodes, device).and_then(|node| node.number)
    }

    #[test]
    fn stable_names_find_the_same_camera() {
        let mut nodes = vec![
            node(0, "usb-1", "Eye", 1),
            node(2, "usb-1", "Eye", 2),
            node(3, "usb-2", "Other", 1),
        ];
        nodes[2].by_id = Some("/dev/v4l/by-id/usb-other".into());
        assert_eq!(nodes[0].stable_name(), "usb-1 Eye");
        assert_eq!(nodes[1].stable_name(), "usb-1 Eye #2");
        assert_eq!(nodes[2].stable_name(), "/dev/v4l/by-id/usb-other");
        assert_eq!(picked(&nodes, "usb-1 Eye"), Some(0));
        assert_eq!(picked(&nodes, "usb-1 Eye #2"), Some(2));
        assert_eq!(picked(&nodes, "usb-2 Other"), Some(3));
        assert_eq!(picked(&nodes, "3"), Some(3));
        assert_eq!(picked(&nodes, "Other"), Some(3));
        assert_eq!(picked(&nodes, "usb-2"), Some(3));
    }

    #[test]
    fn a_camera_at_another_port_is_found_if_its_card_name_is_unique() {
        let moved = [node(5, "usb-7", "Eye", 1)];
        assert_eq!(picked(&moved, "usb-1 Eye"), Some(5));
        let two = [node(5, "usb-7", "Eye", 1), node(6, "usb-8", "Eye", 1)];
        assert_eq!(picked(&two, "usb-1 Eye"), None);
        assert_eq!(picked(&two, "Eye"), None);
    }

    #[test]
    fn an_absent_camera_is_not_found() {
        assert_eq!(picked(&[node(0, "usb-1", "", 1)], "usb-2 Eye"), None);
        assert_eq!(picked(&[], "0"), None);
    }
}
