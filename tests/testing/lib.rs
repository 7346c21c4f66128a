//! Assertions and tables that the tests of all crates share.

#![allow(clippy::panic, reason = "only tests use it")]

use std::fmt::{Debug, Display};

/// Asserts that a text contains all these key words, in any order.
///
/// # Panics
///
/// Panics with the text and the missing words.
#[track_caller]
pub fn assert_message(text: impl Display, words: &[&str]) {
    let text = text.to_string();
    let missing: Vec<_> = words.iter().filter(|word| !text.contains(**word)).collect();
    assert!(missing.is_empty(), "{missing:?} are missing in: {text}");
}

/// Asserts that two values differ by less than a tolerance. Not-a-number is near nothing.
///
/// # Panics
///
/// Panics with both values.
#[track_caller]
pub fn assert_near<T: Distance>(found: T, wanted: T, tolerance: f64) {
    let distance = found.distance_to(wanted);
    assert!(
        distance < tolerance,
        "found {found:?}, wanted {wanted:?} ± {tolerance}"
    );
}

/// A value with a distance to another one.
pub trait Distance: Copy + Debug {
    /// Returns the absolute difference, or the length of the difference.
    fn distance_to(self, other: Self) -> f64;
}

impl Distance for f32 {
    fn distance_to(self, other: Self) -> f64 {
        f64::from((self - other).abs())
    }
}

impl Distance for f64 {
    fn distance_to(self, other: Self) -> f64 {
        (self - other).abs()
    }
}

impl Distance for glam::Vec2 {
    fn distance_to(self, other: Self) -> f64 {
        f64::from(self.distance(other))
    }
}

impl Distance for glam::Vec3 {
    fn distance_to(self, other: Self) -> f64 {
        f64::from(self.distance(other))
    }
}

impl Distance for glam::DVec2 {
    fn distance_to(self, other: Self) -> f64 {
        self.distance(other)
    }
}

impl Distance for glam::DVec3 {
    fn distance_to(self, other: Self) -> f64 {
        self.distance(other)
    }
}

/// Splits a table with one row in each line and `|` between its columns. Lines that are empty or begin with `#` are left out.
/// `\n` in a column stands for a new line.
///
/// # Panics
///
/// Panics if a row does not have `N` columns.
#[track_caller]
pub fn rows<const N: usize>(table: &str) -> Vec<[String; N]> {
    let lines = table.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &str| {
        let columns = line
            .split('|')
            .map(|column| column.trim().replace("\\n", "\n"));
        let columns: Vec<String> = columns.collect();
        let columns = columns.try_into();
        columns.unwrap_or_else(|columns| panic!("{line}: {columns:?} are not {N} columns"))
    };
    lines.map(row).collect()
}
