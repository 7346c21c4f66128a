//! Measured points: where a target lies on the floor, and where the camera sees it. Reads their table.
//!
//! In: the text of a table with the columns [`COLUMNS`]. Out: points, or every line that is wrong. Must not: judge fits.

use glam::DVec2;

/// The columns of the table; the first line names them, in any order.
pub const COLUMNS: [&str; 4] = ["camera_x_px", "camera_y_px", "floor_x_m", "floor_z_m"];

/// More points than these are no calibration by hand, and would only cost time.
pub const POINTS_MAX: usize = 5000;

/// More wrong lines than these are counted, not listed.
const ERRORS_MAX: usize = 20;

/// One target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredPoint {
    /// Where the camera sees it; pixel centers are whole numbers.
    pub camera_px: DVec2,
    /// Where it lies, floor space.
    pub floor_m: DVec2,
    /// Where it comes from, for sentences that name it.
    pub origin: PointOrigin,
}

/// Where a point comes from. Numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointOrigin {
    /// A line of a table.
    Line(usize),
    /// A target of the procedure.
    Target(usize),
    /// A marker that was dragged onto the camera's picture.
    Marker(usize),
}

/// A table that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct PointsError(pub Vec<String>);

/// Reads a table of points. Byte order mark, CRLF, spaces, quotation marks, empty lines and lines that begin with `#`
/// are understood.
///
/// # Errors
/// Every line that is wrong, with its number, what it holds and what it should.
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
            COLUMNS.join(",")
        )]));
    };
    let order =
        read_header(header).map_err(|e| PointsError(vec![format!("line {number}: {e}")]))?;
    let mut points = Vec::new();
    let mut errors = Vec::new();
    for (number, line) in lines {
        if points.len() == POINTS_MAX {
            errors.push(format!(
                "line {number}: more than {POINTS_MAX} points; 16 good ones are enough"
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
        if errors.len() == ERRORS_MAX {
            errors.push("… and perhaps more".to_owned());
            break;
        }
    }
    if errors.is_empty() {
        Ok(points)
    } else {
        Err(PointsError(errors))
    }
}

/// In which column of the table each of [`COLUMNS`] stands.
fn read_header(line: &str) -> Result<[usize; 4], String> {
    let names: Vec<String> = cells(line).map(str::to_lowercase).collect();
    let wanted = COLUMNS.join(",");
    if let [first, ..] = names.as_slice()
        && first.parse::<f64>().is_ok()
    {
        return Err(format!(
            "the names of the columns are missing; put {wanted} above the numbers"
        ));
    }
    let mut order = [0; 4];
    for (at, column) in order.iter_mut().zip(COLUMNS) {
        *at = names.iter().position(|n| n == column).ok_or_else(|| {
            format!(
                "column {column} is missing in '{}'; the columns are {wanted}",
                shown(line)
            )
        })?;
    }
    if let Some(other) = names.iter().find(|n| !COLUMNS.contains(&n.as_str())) {
        return Err(format!(
            "'{}' is no column; the columns are {wanted}",
            shown(other)
        ));
    }
    if names.len() > COLUMNS.len() {
        return Err(format!("a column is named twice; the columns are {wanted}"));
    }
    Ok(order)
}

fn read_row(line: &str, order: &[usize; 4]) -> Result<[f64; 4], String> {
    let values: Vec<&str> = cells(line).take(COLUMNS.len() + 1).collect();
    if values.len() != COLUMNS.len() {
        let hint = if line.contains(';') {
            "; separate them by commas, and write 1.5 with a point"
        } else {
            ""
        };
        return Err(format!(
            "'{}' does not hold exactly {} values{hint}",
            shown(line),
            COLUMNS.len()
        ));
    }
    let mut numbers = [0.0_f64; 4];
    for ((number, at), column) in numbers.iter_mut().zip(order).zip(COLUMNS) {
        let value = values.get(*at).copied().unwrap_or_default();
        *number = value
            .parse()
            .map_err(|_| format!("{column} is '{}', which is no number", shown(value)))?;
        if !number.is_finite() || number.abs() > 1e6 {
            return Err(format!(
                "{column} is {}; a finite number below a million is wanted",
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

/// A piece of the user's own text, fit to be printed.
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

    fn refused(text: &str) -> String {
        read_points(text).expect_err(text).to_string()
    }

    #[test]
    fn a_table_as_spreadsheets_write_it() {
        let text = "\u{feff}# measured by hand\r\nfloor_x_m, floor_z_m, Camera_X_px,\"camera_y_px\"\r\n\r\n 1.5 , -0.25,320, 1e2\r\n";
        let point = MeasuredPoint {
            camera_px: DVec2::new(320.0, 100.0),
            floor_m: DVec2::new(1.5, -0.25),
            origin: PointOrigin::Line(4),
        };
        assert_eq!(read_points(text), Ok(vec![point]));
    }

    #[test]
    fn every_wrong_line_is_named() {
        let header = COLUMNS.join(",");
        let text = format!(
            "{header}\n1,2,3,4\n1,2,3\n1,2,x,4\n1,nan,3,4\n1,2,3,inf\n1;2;3;4\n1,2,3,4,5\n1,2,,4\n1,2,3,1e99\n"
        );
        let wanted = "line 3: '1,2,3' does not hold exactly 4 values\n\
             line 4: floor_x_m is 'x', which is no number\n\
             line 5: camera_y_px is nan; a finite number below a million is wanted\n\
             line 6: floor_z_m is inf; a finite number below a million is wanted\n\
             line 7: '1;2;3;4' does not hold exactly 4 values; separate them by commas, and write 1.5 with a point\n\
             line 8: '1,2,3,4,5' does not hold exactly 4 values\n\
             line 9: floor_x_m is '', which is no number\n\
             line 10: floor_z_m is 1e99; a finite number below a million is wanted";
        assert_eq!(refused(&text), wanted);
    }

    #[test]
    fn a_wrong_header_is_told() {
        assert!(refused("").contains("the table is empty"));
        assert!(refused("1,2,3,4\n").contains("names of the columns are missing"));
        assert!(
            refused("camera_x_px,camera_y_px,floor_x_m\n").contains("column floor_z_m is missing")
        );
        assert!(
            refused("camera_x_px,camera_y_px,floor_x_m,floor_z_m,h\n").contains("'h' is no column")
        );
        assert!(
            refused("camera_x_px,camera_y_px,floor_x_m,floor_z_m,floor_z_m\n")
                .contains("named twice")
        );
    }

    #[test]
    fn hostile_tables_end() {
        let header = COLUMNS.join(",");
        assert!(
            refused(&format!("{header}\n{}", "1,2,3,4\n".repeat(100_000)))
                .contains("more than 5000 points")
        );
        assert!(
            refused(&format!("{header}\n{}", "x\n".repeat(100_000))).ends_with("and perhaps more")
        );
        assert!(refused(&format!("{header}\n{}", ",".repeat(1_000_000))).len() < 300);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}\n([0-9nai.,;\"# -]{0,20}\n){0,10}") {
            let _ = read_points(&text);
            let _ = read_points(&format!("{}\n{text}", COLUMNS.join(",")));
        }
    }
}
