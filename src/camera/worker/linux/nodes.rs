//! Which `/dev/video…` is which camera: stable names, and finding a camera again by them.
//!
//! Numbers change when a camera is unplugged or the machine starts. A stable name is the link in `/dev/v4l/by-id` where
//! there is one (it holds the serial number), else bus and card name, with a number behind where one camera has several
//! pictures under the same name.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use v4l::Device;
use v4l::capability::Flags;

use crate::camera::live::FaultKind;
use crate::camera::worker::Trouble;

const LINKS: &str = "/dev/v4l/by-id";

/// A node that gives pictures.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::camera::worker) struct Node {
    pub(in crate::camera::worker) path: PathBuf,
    /// N of `/dev/videoN`; `None` for a node of another name.
    pub(in crate::camera::worker) number: Option<u32>,
    pub(super) card: String,
    pub(super) bus: String,
    pub(super) driver: String,
    /// Which one of those with the same bus and card, from 1.
    pub(super) ordinal: usize,
    pub(super) by_id: Option<PathBuf>,
}

impl Node {
    /// What finds this camera again.
    pub(super) fn stable_name(&self) -> String {
        match (&self.by_id, self.ordinal) {
            (Some(link), _) => link.display().to_string(),
            (None, 0 | 1) => format!("{} {}", self.bus, self.card),
            (None, ordinal) => format!("{} {} #{ordinal}", self.bus, self.card),
        }
    }
}

/// All `/dev/videoN`, by number, without opening any.
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

/// All nodes that give pictures, by number; those that cannot be asked are left out. `before` hears of each node before
/// it is asked, as one may never answer.
pub(super) fn all(mut before: impl FnMut(&Path)) -> Vec<Node> {
    let links = links();
    let mut found: Vec<Node> = Vec::new();
    for (number, path) in paths() {
        before(&path);
        let Some(mut node) = ask(&path) else { continue };
        node.number = Some(number);
        node.by_id = links.get(&path).cloned();
        let same = |other: &&Node| (&other.bus, &other.card) == (&node.bus, &node.card);
        node.ordinal = 1 + found.iter().filter(same).count();
        found.push(node);
    }
    found
}

/// Bus, card and driver of a node that gives pictures.
fn ask(path: &Path) -> Option<Node> {
    // The crate panics on names that are no UTF-8; one odd device must not hide the others.
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

/// Nodes by their links in `/dev/v4l/by-id`.
fn links() -> BTreeMap<PathBuf, PathBuf> {
    let mut links = BTreeMap::new();
    for entry in std::fs::read_dir(LINKS).into_iter().flatten().flatten() {
        if let Ok(node) = entry.path().canonicalize() {
            let link = links.entry(node).or_insert_with(|| entry.path());
            // The order of a folder is any; the first name by alphabet is always the same.
            if entry.path() < *link {
                *link = entry.path();
            }
        }
    }
    links
}

/// The node of a camera that is named by number, path or stable name.
pub(in crate::camera::worker) fn find(device: &str) -> Result<Node, Trouble> {
    let nodes = all(|_| {});
    if device.starts_with('/') {
        let path = PathBuf::from(device);
        let real = path.canonicalize().map_err(|cause| {
            Trouble::new(FaultKind::Absent, format!("{device}: not there: {cause}"))
        })?;
        // A path that is no camera is opened all the same: the system says best what it is.
        let known = nodes.into_iter().find(|node| node.path == real);
        return Ok(known.unwrap_or(Node {
            path: real,
            ..Node::default()
        }));
    }
    let Some(found) = pick(&nodes, device) else {
        let names: Vec<String> = nodes.iter().map(Node::stable_name).collect();
        let there = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        let told = format!("no camera '{device}' is plugged in; there are: {there}");
        return Err(Trouble::new(FaultKind::Absent, told));
    };
    Ok(found.clone())
}

/// The node that a number or a stable name means. A camera that moved to another socket is found by its card name, if
/// only one has it.
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
    fn a_camera_in_another_socket_is_found_if_it_is_the_only_one_of_its_name() {
        let moved = [node(5, "usb-7", "Eye", 1)];
        assert_eq!(picked(&moved, "usb-1 Eye"), Some(5));
        let two = [node(5, "usb-7", "Eye", 1), node(6, "usb-8", "Eye", 1)];
        assert_eq!(picked(&two, "usb-1 Eye"), None);
        assert_eq!(picked(&two, "Eye"), None);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert_eq!(picked(&[node(0, "usb-1", "", 1)], "usb-2 Eye"), None);
        assert_eq!(picked(&[], "0"), None);
    }
}
