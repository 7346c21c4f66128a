//! Names in configuration files that were renamed. For an old name, the message contains the new name instead of a
//! similar name.
//!
//! In: an unknown name, and the names that are allowed at the same path. Out: the new name. Must not: accept the old
//! name.

/// Renamed keys and values of configuration files: old name, new name.
///
/// A row applies only where the new name is allowed. The same old name can therefore have several rows, one for each
/// table in which it was renamed differently.
const RENAMED: &[(&str, &str)] = &[
    // behavior
    ("use_hulk", "can_turn_in_place"),
    // calibration

    // camera

    // navigation, simulation

    // render

    // site

    // vision

    // world, steering

    // Entries for the unit tests of this module.
    #[cfg(test)]
    ("deepness_m", "depth_m"),
    #[cfg(test)]
    ("deepness_m", "height_m"),
    #[cfg(test)]
    ("calm", "still"),
];

/// Returns the new name of `old` if it is one of the allowed names; `None` if `old` was not renamed to one of these
/// names.
pub(super) fn new_name<'n>(
    old: &str,
    allowed: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    allowed
        .into_iter()
        .find(|new| RENAMED.contains(&(old, *new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_applies_only_where_its_new_name_is_allowed() {
        assert_eq!(
            new_name("deepness_m", ["title", "depth_m"]),
            Some("depth_m")
        );
        assert_eq!(new_name("deepness_m", ["height_m"]), Some("height_m"));
        assert_eq!(new_name("deepness_m", ["title"]), None);
        assert_eq!(new_name("title", ["depth_m"]), None);
    }

    #[test]
    fn no_name_is_renamed_twice() {
        for (old, new) in RENAMED {
            assert_ne!(old, new);
            assert!(
                RENAMED.iter().all(|(other, _)| other != new),
                "\"{old}\" must lead to the newest name, not to \"{new}\""
            );
        }
    }
}
