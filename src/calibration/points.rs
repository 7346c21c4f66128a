//! Measured points (positions of a target on the floor and in the camera frame), and the parser of a table of such points.
//!
//! Input: the text of a table with the columns [`POINT_COLUMNS`]. Output: points, or an error for every wrong line. This file
//! must not evaluate fits.

use glam::DVec2;

use crate::config::shown;

/// Columns of the table. Its first line contains these names in any order.
const POINT_COLUMNS: [&str; 4] = ["camera_x_px", "camera_y_px", "floor_x_m", "floor_z_m"];

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
    /// Marker that was placed on the camera image.
    Marker(usize),
    /// Cell of a Gray code.
    Cell(usize),
}

impl MeasuredPoint {
    /// Whether a person or another program wrote the coordinates of the point, so that columns can be swapped.
    pub(super) fn is_typed(&self) -> bool {
        matches!(self.origin, PointOrigin::Line(_) | PointOrigin::Marker(_))
    }
}

/// Error for a table that cannot be read. It contains one message per problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct PointsError(pub Vec<String>);

/// Characters that can separate columns, in the order in which they are tried. A comma comes last, because it is also a decimal
/// mark.
const SEPARATORS: [Separator; 4] = [
    Separator::Character(';'),
    Separator::Character('\t'),
    Separator::Character(','),
    Separator::Spaces,
];

/// Maximum number of cells that are read from one line. More cells are wrong in any case.
const CELLS_MAX: usize = 16;

/// Separator of the columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Character(char),
    /// One or more spaces or tabs.
    Spaces,
}

impl Separator {
    fn splits_at(self, c: char) -> bool {
        match self {
            Self::Character(separator) => c == separator,
            Self::Spaces => c == ' ' || c == '\t',
        }
    }
}

impl std::fmt::Display for Separator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Character('\t') => "tabs",
            Self::Character(';') => "semicolons",
            Self::Character(_) => "commas",
            Self::Spaces => "spaces",
        })
    }
}

/// Layout of a table, from its first lines.
struct Layout {
    separator: Separator,
    /// For each of [`POINT_COLUMNS`], the index of its column in the table.
    order: [usize; 4],
    /// Decimal mark of the table and the line where it was first used; `None` before the first fraction.
    decimal_mark: Option<(char, usize)>,
}

/// Parses a table of points, as spreadsheets and text editors save it. Commas, semicolons, tabs or spaces separate the columns.
/// Unless commas separate unquoted columns, a number can have a decimal comma. The parser ignores a byte order mark, a line
/// `sep=;`, CRLF, spaces, quotation marks, empty lines, empty columns at the end and lines that start with `#`. A Unicode minus
/// is a minus.
///
/// # Errors
/// Returns a message for every wrong line, with the line number, the contents and the expected contents.
pub fn read_points(text: &str) -> Result<Vec<MeasuredPoint>, PointsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Old programs end lines with a carriage return only.
    let line_end = if text.contains('\n') { '\n' } else { '\r' };
    let mut lines = (text.split(line_end).zip(1..))
        .filter(|(line, _)| !is_empty(line) && !line.trim_start().starts_with('#'));
    let mut layout = Layout::read(&mut lines)?;
    let mut points = Vec::new();
    let mut errors = Vec::new();
    for (line, number) in lines {
        if points.len() == POINTS_MAX {
            errors.push(format!(
                "line {number}: more than {POINTS_MAX} points; remove some, 16 good points are enough"
            ));
            break;
        }
        match layout.read_row(line, number) {
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

/// Whether a line contains no value, as the rows that a spreadsheet saves below a table.
fn is_empty(line: &str) -> bool {
    line.chars()
        .all(|c| c.is_whitespace() || matches!(c, ';' | ',' | '"'))
}

impl Layout {
    /// Reads the layout from the line with the column names, and from a line `sep=` before it, if there is one.
    fn read<'t>(lines: &mut impl Iterator<Item = (&'t str, usize)>) -> Result<Self, PointsError> {
        let wanted = POINT_COLUMNS.join(",");
        let empty = || {
            PointsError(vec![format!(
                "the table is empty; its first line must be {wanted}"
            )])
        };
        let wrong = |number: usize, e: String| PointsError(vec![format!("line {number}: {e}")]);
        let (mut header, mut number) = lines.next().ok_or_else(empty)?;
        let mut separator = None;
        if let Some(named) = named_separator(header) {
            separator = Some(named.map_err(|e| wrong(number, e))?);
            (header, number) = lines.next().ok_or_else(empty)?;
        }
        let candidates = match &separator {
            Some(named) => std::slice::from_ref(named),
            None => &SEPARATORS[..],
        };
        let mut tried = candidates.iter().map(|&separator| -> Result<Self, String> {
            let order = column_order(header, separator)?;
            Ok(Self {
                separator,
                order,
                decimal_mark: None,
            })
        });
        if let Some(layout) = tried.by_ref().find_map(Result::ok) {
            return Ok(layout);
        }
        // The message is about the separator that the line contains.
        let separator = candidates
            .iter()
            .find(|s| header.chars().any(|c| s.splits_at(c)))
            .or(candidates.first());
        let error = separator.and_then(|&s| column_order(header, s).err());
        Err(wrong(number, error.unwrap_or_default()))
    }

    fn read_row(&mut self, line: &str, number: usize) -> Result<[f64; 4], String> {
        let cells = cells(line, self.separator)?;
        if cells.len() != POINT_COLUMNS.len() {
            let mut message = format!(
                "\"{}\" does not have exactly {} values",
                shown(line),
                POINT_COLUMNS.len()
            );
            let is_comma = self.separator == Separator::Character(',');
            let are_numbers = cells.iter().all(|cell| parse_number(cell).is_ok());
            if is_comma && are_numbers && cells.len() > POINT_COLUMNS.len() {
                message += "; if the comma is also the decimal mark, it is not clear where a number ends: save the table with \
                            semicolons between the columns, or with decimal points";
            } else if cells.len() < POINT_COLUMNS.len() {
                message += &format!(
                    "; according to the first line, {} separate the columns",
                    self.separator
                );
            }
            return Err(message);
        }
        let mut numbers = [0.0_f64; 4];
        for ((value, at), column) in numbers.iter_mut().zip(self.order).zip(POINT_COLUMNS) {
            let cell = cells.get(at).map_or("", String::as_str);
            let (parsed, mark) = parse_number(cell)
                .map_err(|why| format!("{column} is \"{}\", which {why}", shown(cell)))?;
            if !parsed.is_finite() || parsed.abs() > 1e6 {
                return Err(format!(
                    "{column} is {}; expected a finite number below a million",
                    shown(cell)
                ));
            }
            if let Some(mark) = mark {
                let (first, line) = *self.decimal_mark.get_or_insert((mark, number));
                if first != mark {
                    return Err(format!(
                        "{column} is \"{}\", but line {line} has the decimal mark '{first}'; it is not clear whether '{mark}' is a \
                         decimal mark too: use one mark in the whole table, and no thousands separator",
                        shown(cell)
                    ));
                }
            }
            *value = parsed;
        }
        Ok(numbers)
    }
}

/// Returns the separator that a line `sep=` names; `None` if the line is no such line.
fn named_separator(line: &str) -> Option<Result<Separator, String>> {
    let line = line.trim_start().trim_start_matches('"');
    let named = line
        .get(..4)
        .filter(|start| start.eq_ignore_ascii_case("sep="))
        .and(line.get(4..))?;
    let character = named.chars().next().unwrap_or(' ');
    Some(match character {
        ';' | ',' | '\t' => Ok(Separator::Character(character)),
        ' ' => Ok(Separator::Spaces),
        other => Err(format!(
            "the separator '{}' is not known; use a comma, a semicolon or a tab",
            shown(&other.to_string())
        )),
    })
}

/// Returns, for each of [`POINT_COLUMNS`], the index of its column in the table.
fn column_order(line: &str, separator: Separator) -> Result<[usize; 4], String> {
    let names: Vec<String> = (cells(line, separator)?.iter())
        .map(|name| name.to_lowercase())
        .collect();
    let wanted = POINT_COLUMNS.join(",");
    if let [first, ..] = names.as_slice()
        && parse_number(first).is_ok()
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

/// Splits a line into cells, without the quotation marks, the spaces around a cell, and empty cells after the last column. A
/// separator between quotation marks belongs to its cell; two quotation marks there are one.
fn cells(line: &str, separator: Separator) -> Result<Vec<String>, String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '"' && !(is_quoted && rest.next_if_eq(&'"').is_some()) {
            is_quoted = !is_quoted;
        } else if !is_quoted && separator.splits_at(c) {
            if cells.len() == CELLS_MAX {
                break;
            }
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
    }
    if is_quoted && rest.peek().is_none() {
        return Err(format!(
            "a quotation mark is not closed in \"{}\"",
            shown(line)
        ));
    }
    for cell in &mut cells {
        *cell = cell.trim().to_owned();
    }
    if separator == Separator::Spaces {
        cells.retain(|cell| !cell.is_empty());
    }
    while cells.len() > POINT_COLUMNS.len() && cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    Ok(cells)
}

/// Parses a number and returns it with its decimal mark; `None` if it has no fraction.
fn parse_number(text: &str) -> Result<(f64, Option<char>), &'static str> {
    let minus = |c| {
        let is_minus = matches!(
            c,
            '\u{2212}' | '\u{2010}' | '\u{2011}' | '\u{2013}' | '\u{fe63}' | '\u{ff0d}'
        );
        if is_minus { '-' } else { c }
    };
    let plain: String = text.chars().map(minus).collect();
    let mark = match (plain.contains('.'), plain.matches(',').count()) {
        (has_point, 0) => has_point.then_some('.'),
        (false, 1) => Some(','),
        _ => return Err("has several decimal marks; write it without thousands separators"),
    };
    let number = plain.replace(',', ".").parse();
    Ok((number.map_err(|_| "is not a number")?, mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shoal_testing::{assert_message, rows};

    fn error(text: &str) -> String {
        read_points(text).unwrap_err().to_string()
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

    /// Two points as different programs save them. All tables contain the same numbers.
    #[test]
    fn tables_of_different_programs_give_the_same_points() {
        let wanted = [
            ([77.4476, 56.4048], [-1.8, -1.35], 2),
            ([320.0, 100.5], [1.5, 0.0], 3),
        ]
        .map(|(camera, floor, line)| MeasuredPoint {
            camera_px: DVec2::from_array(camera),
            floor_m: DVec2::from_array(floor),
            origin: PointOrigin::Line(line),
        });
        let table = "camera_x_px,camera_y_px,floor_x_m,floor_z_m\n77.4476,56.4048,-1.8,-1.35\n320,100.5,1.5,0\n";
        let semicolons = table.replace(',', ";");
        let german = semicolons.replace('.', ",");
        let quoted = german.replace(';', "\";\"").replace('\n', "\"\n\"");
        let mut quoted = format!("\"{quoted}");
        quoted.pop();
        for (name, text) in [
            ("plain", table.to_owned()),
            ("semicolons", semicolons.clone()),
            ("tabs", table.replace(',', "\t")),
            ("aligned with spaces", table.replace(',', "   ")),
            (
                "German Excel",
                format!("\u{feff}{}", german.replace('\n', "\r\n")),
            ),
            ("tabs and decimal commas", german.replace(';', "\t")),
            ("all fields quoted", quoted.clone()),
            (
                "commas around quoted decimal commas",
                quoted.replace(';', ","),
            ),
            ("Unicode minus", german.replace('-', "\u{2212}")),
            ("en dash", table.replace('-', "\u{2013}")),
            ("spaces around the values", table.replace(',', " ,\u{a0} ")),
            (
                "header in capitals",
                table.replace("px", "PX").replace("floor", "FLOOR"),
            ),
            (
                "empty columns and rows at the end",
                format!("{};;;;\n", german.replace('\n', ";;\n")),
            ),
            ("carriage returns only", table.replace('\n', "\r")),
            ("no line feed at the end", table.trim_end().to_owned()),
        ] {
            assert_eq!(read_points(&text).as_deref(), Ok(&wanted[..]), "{name}");
        }
        let lower = wanted.map(|point| MeasuredPoint {
            origin: match point.origin {
                PointOrigin::Line(line) => PointOrigin::Line(line + 1),
                other => other,
            },
            ..point
        });
        for text in [
            format!("sep=;\n{german}"),
            format!("\u{feff}SEP=\t\r\n{}", german.replace(';', "\t")),
            format!("\"sep=,\"\n{table}"),
            format!("# measured by hand\n{table}"),
        ] {
            assert_eq!(read_points(&text).as_deref(), Ok(&lower[..]), "{text}");
        }
    }

    #[test]
    fn ambiguous_numbers_are_rejected_with_the_reason() {
        let header = POINT_COLUMNS.join(",");
        let other = POINT_COLUMNS.join(";");
        let table = r#"
            {header}\n77,4476,56,4048,-1,8000,-1,3500\n | line 2: "77,4476,56,4048,-1,8000,-1,3500" does not have exactly 4 values; if the comma is also the decimal mark
            {header}\n77,4476,56,-1,8\n | it is not clear where a number ends
            {other}\n1.234,5;2;3;4\n | camera_x_px is "1.234,5", which has several decimal marks
            {other}\n1,234,567;2;3;4\n | which has several decimal marks
            {other}\n1;2;3.5;4\n1,234;2;3;4\n | line 3: camera_x_px is "1,234", but line 2 has the decimal mark '.'
            {other}\n1,5;2;3;4.5\n | floor_z_m is "4.5", but line 2 has the decimal mark ','
            {other}\n1,2,3,4\n | according to the first line, semicolons separate the columns
            sep=!\n{header}\n | line 1: the separator '!' is not known
            sep=;\n{header}\n1,2,3,4\n | line 2: column camera_x_px is missing
            sep=;\n\n | the table is empty
            {header}\n1,"2,3,4\n | a quotation mark is not closed
            {header}\n1,--2,3,4\n | camera_y_px is "--2", which is not a number"#;
        for [text, wanted] in rows(table) {
            let text = text.replace("{header}", &header).replace("{other}", &other);
            assert_message(error(&text), &[&wanted]);
        }
    }

    #[test]
    fn every_wrong_line_is_reported() {
        let header = POINT_COLUMNS.join(",");
        let text = format!(
            "{header}\n1,2,3,4\n1,2,3\n1,2,x,4\n1,nan,3,4\n1,2,3,inf\n1;2;3;4\n1,2,3,4,5\n1,2,,4\n1,2,3,1e99\n"
        );
        let wanted = "line 3: \"1,2,3\" does not have exactly 4 values; according to the first line, commas separate the columns\n\
             line 4: floor_x_m is \"x\", which is not a number\n\
             line 5: camera_y_px is nan; expected a finite number below a million\n\
             line 6: floor_z_m is inf; expected a finite number below a million\n\
             line 7: \"1;2;3;4\" does not have exactly 4 values; according to the first line, commas separate the columns\n\
             line 8: \"1,2,3,4,5\" does not have exactly 4 values; if the comma is also the decimal mark, it is not clear where a \
             number ends: save the table with semicolons between the columns, or with decimal points\n\
             line 9: floor_x_m is \"\", which is not a number\n\
             line 10: floor_z_m is 1e99; expected a finite number below a million";
        assert_eq!(error(&text), wanted);
    }

    #[test]
    fn a_wrong_header_is_reported() {
        let table = r#"
            | the table is empty
            1,2,3,4 | column names are missing
            camera_x_px,camera_y_px,floor_x_m | column floor_z_m is missing
            camera_x_px,camera_y_px,floor_x_m,floor_z_m,h | "h" is not a known column
            camera_x_px,camera_y_px,floor_x_m,floor_z_m,floor_z_m | appears twice"#;
        for [text, wanted] in rows(table) {
            assert_message(error(&text), &[&wanted]);
        }
    }

    #[test]
    fn hostile_tables_are_rejected_quickly() {
        let header = POINT_COLUMNS.join(",");
        assert_message(
            error(&format!("{header}\n{}", "1,2,3,4\n".repeat(100_000))),
            &["more than 5000 points"],
        );
        assert!(
            error(&format!("{header}\n{}", "x\n".repeat(100_000))).ends_with("more wrong lines")
        );
        assert!(error(&format!("{header}\n{}", "x,".repeat(1_000_000))).len() < 300);
        assert!(error(&format!("{header}\n{}", "x\"".repeat(999_999))).len() < 300);
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "\\PC{0,40}\n([0-9nai.,;\"# -]{0,20}\n){0,10}") {
            let _ = read_points(&text);
            let _ = read_points(&format!("{}\n{text}", POINT_COLUMNS.join(",")));
        }
    }
}
