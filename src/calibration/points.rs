//! Measured points (positions of a target on the floor and in the camera frame), and the parser of a table of such points.
//!
//! Input: the text of a table with the columns [`POINT_COLUMNS`]. Output: points, or an error for every wrong line. This file
//! must not evaluate fits.

use glam::DVec2;

/// Columns of the table. Its first line contains these names in any order.
pub const POINT_COLUMNS: [&str; 4] = ["camera_x_px", "camera_y_px", "floor_x_m", "floor_z_m"];

/// Maximum number of points of one fit. More points would only cost time.
pub const POINTS_MAX: usize = 5000;

/// Maximum number of wrong lines that are reported. Then reading stops.
const LISTED_ERRORS_MAX: usize = 20;

/// One measured target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredPoint {
    /// Position in the camera frame; pixel centers are at whole numbers.
    pub camera_px: DVec2,
    /// Position on the floor, in floor space.
    pub floor_m: DVec2,
    /// Source of the point, which messages name.
    pub origin: PointOrigin,
}

/// Source of a point. Numbers start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointOrigin {
    /// Line of a table.
    Line(usize),
    /// Target of the touch procedure.
    Target(usize),
    /// Marker that was placed on the camera image, or a cell of a Gray code.
    Marker(usize),
}

/// Error for a table that cannot be read. It contains one message per problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct PointsError(pub Vec<String>);

/// Parses a table of points. The parser ignores a byte order mark, CRLF, spaces, quotation marks, empty lines and lines that
/// start with `#`.
///
/// # Errors
/// Returns a message for every wrong line, with the line number, the contents and the expected contents.
pub fn read_points(text: &str) -> Result<Vec<MeasuredPoint>, PointsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((number, header)) = lines.next() else {
        return Err(PointsError(vec![format!(
            "the table is empty; its first line must be {}",
            POINT_COLUMNS.join(",")
        )]));
    };
    let order =
        read_header(header).map_err(|e| PointsError(vec![format!("line {number}: {e}")]))?;
    let mut points = Vec::new();
    let mut errors = Vec::new();
    for (number, line) in lines {
        if points.len() == POINTS_MAX {
            errors.push(format!(
                "line {number}: more than {POINTS_MAX} points; remove some, 16 good points are enough"
            ));
            break;
        }
        match read_row(line, &order) {
            Ok([x_px, y_px, x_m, z_m]) => points.push(MeasuredPoint {
                camera_px: DVec2::new(x_px, y_px),
                floor_m: DVec2::new(x_m, z_m),
                origin: PointOrigin::Line(number),
            }),
            Err(e) => errors.push(format!("line {number}: {e}")),
        }
        if errors.len() == LISTED_ERRORS_MAX {
            errors.push("… reading stopped here; there may be more wrong lines".to_owned());
            break;
        }
    }
    if errors.is_empty() {
        Ok(points)
    } else {
        Err(PointsError(errors))
    }
}

/// Returns, for each of [`POINT_COLUMNS`], the index of its column in the table.
fn read_header(line: &str) -> Result<[usize; 4], String> {
    let names: Vec<String> = cells(line).map(str::to_lowercase).collect();
    let wanted = POINT_COLUMNS.join(",");
    if let [first, ..] = names.as_slice()
        && first.parse::<f64>().is_ok()
    {
        return Err(format!(
            "the column names are missing; put {wanted} above the numbers"
        ));
    }
    let mut order = [0; 4];
    for (at, column) in order.iter_mut().zip(POINT_COLUMNS) {
        *at = names.iter().position(|n| n == column).ok_or_else(|| {
            format!(
                "column {column} is missing in \"{}\"; the columns must be {wanted}",
                shown(line)
            )
        })?;
    }
    if let Some(other) = names.iter().find(|n| !POINT_COLUMNS.contains(&n.as_str())) {
        return Err(format!(
            "\"{}\" is not a known column; the columns must be {wanted}",
            shown(other)
        ));
    }
    if names.len() > POINT_COLUMNS.len() {
        return Err(format!(
            "a column appears twice; the columns must be {wanted}"
        ));
    }
    Ok(order)
}

fn read_row(line: &str, order: &[usize; 4]) -> Result<[f64; 4], String> {
    let values: Vec<&str> = cells(line).take(POINT_COLUMNS.len() + 1).collect();
    if values.len() != POINT_COLUMNS.len() {
        let hint = if line.contains(';') {
            "; separate them by commas, and use a decimal point, as in 1.5"
        } else {
            ""
        };
        return Err(format!(
            "\"{}\" does not have exactly {} values{hint}",
            shown(line),
            POINT_COLUMNS.len()
        ));
    }
    let mut numbers = [0.0_f64; 4];
    for ((number, at), column) in numbers.iter_mut().zip(order).zip(POINT_COLUMNS) {
        let value = values.get(*at).copied().unwrap_or_default();
        *number = value
            .parse()
            .map_err(|_| format!("{column} is \"{}\", which is not a number", shown(value)))?;
        if !number.is_finite() || number.abs() > 1e6 {
            return Err(format!(
                "{column} is {}; expected a finite number below a million",
                shown(value)
            ));
        }
    }
    Ok(numbers)
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',')
        .map(|cell| cell.trim().trim_matches('"').trim())
}

/// Returns a part of the user's text, shortened and without control characters.
fn shown(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(60)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(60).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        read_points(text).expect_err(text).to_string()
    }

    #[test]
    fn a_table_from_a_spreadsheet_is_read() {
        let text = "\u{feff}# measured by hand\r\nfloor_x_m, floor_z_m, Camera_X_px,\"camera_y_px\"\r\n\r\n 1.5 , -0.25,320, 1e2\r\n";
        let point = MeasuredPoint {
            camera_px: DVec2::new(320.0, 100.0),
            floor_m: DVec2::new(1.5, -0.25),
            origin: PointOrigin::Line(4),
        };
        assert_eq!(read_points(text), Ok(vec![point]));
    }

    #[test]
    fn every_wrong_line_is_reported() {
        let header = POINT_COLUMNS.join(",");
        let text = format!(
            "{header}\n1,2,3,4\n1,2,3\n1,2,x,4\n1,nan,3,4\n1,2,3,inf\n1;2;3;4\n1,2,3,4,5\n1,2,,4\n1,2,3,1e99\n"
        );
        let wanted = "line 3: \"1,2,3\" does not have exactly 4 values\n\
             line 4: floor_x_m is \"x\", which is not a number\n\
             line 5: camera_y_px is nan; expected a finite number below a million\n\
             line 6: floor_z_m is inf; expected a finite number below a million\n\
             line 7: \"1;2;3;4\" does not have exactly 4 values; separate them by commas, and use a decimal point, as in 1.5\n\
             line 8: \"1,2,3,4,5\" does not have exactly 4 values\n\
             line 9: floor_x_m is \"\", which is not a number\n\
             line 10: floor_z_m is 1e99; expected a finite number below a million";
        assert_eq!(error(&text), wanted);
    }

    #[test]
    fn a_wrong_header_is_reported() {
        assert!(error("").contains("the table is empty"));
        assert!(error("1,2,3,4\n").contains("column names are missing"));
        assert!(
            error("camera_x_px,camera_y_px,floor_x_m\n").contains("column floor_z_m is missing")
        );
        assert!(
            error("camera_x_px,camera_y_px,floor_x_m,floor_z_m,h\n")
                .contains("\"h\" is not a known column")
        );
        assert!(
            error("camera_x_px,camera_y_px,floor_x_m,floor_z_m,floor_z_m\n")
                .contains("appears twice")
        );
    }

    #[test]
    fn hostile_tables_are_rejected_quickly() {
        let header = POINT_COLUMNS.join(",");
        assert!(
            error(&format!("{header}\n{}", "1,2,3,4\n".repeat(100_000)))
                .contains("more than 5000 points")
        );
        assert!(
            error(&format!("{header}\n{}", "x\n".repeat(100_000))).ends_with("more wrong lines")
        );
        assert!(error(&format!("{header}\n{}", ",".repeat(1_000_000))).len() < 300);
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "\\PC{0,40}\n([0-9nai.,;\"# -]{0,20}\n){0,10}") {
            let _ = read_points(&text);
            let _ = read_points(&format!("{}\n{text}", POINT_COLUMNS.join(",")));
        }
    }
}
