//! Mistakes of hand-written files, with their messages.

use super::*;
use shoal_testing::rows;
use toml::de::DeTable;

fn explained(text: &str) -> String {
    let (_, errors) = DeTable::parse_recoverable(text);
    let found = explain(text, &errors);
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let all = found
        .iter()
        .map(|(span, message)| format!("{}: {message}", line(span.start)));
    all.collect::<Vec<_>>().join(" + ")
}

/// A fixed bug: the messages were those of the parser, and some were wrong: "string values must be quoted" about a quoted text.
#[test]
fn what_a_text_program_or_a_habit_puts_into_a_file_is_explained() {
    let table = r##"
        [surface]\nwidth_m = 4,0\nb = 1 | 2: a number has a decimal point, not a comma; write 4.0
        a = 1.000,5 | 1: a number has a decimal point, not a comma; write 1000.5
        a = { x = 0,5, y = 1 } | 1: a number has a decimal point, not a comma; write 0.5
        width_m = 4.0 m | 1: a number has no unit, the name width_m contains it; write 4.0
        width_m = 400 cm | 1: a number has no unit; write the number in m without "cm"
        width_m = 4.0 m # wide | 1: a number has no unit, the name width_m contains it; write 4.0
        share = 50% | 1: a number has no unit; write 50, or put a text in quotation marks
        kind = “floor” | 1: “floor” has typographic quotation marks; write "floor"
        kind = „floor“ # x | 1: „floor“ has typographic quotation marks; write "floor"
        kind = ‘floor’ | 1: ‘floor’ has typographic quotation marks; write "floor"
        days = [“monday”] | 1: “monday” has typographic quotation marks; write "monday"
        days = ["monday"]\nkind = ”floor" | 2: ”floor" has typographic quotation marks; write "floor"
        “a” = 1 | 1: “a” has typographic quotation marks; write a
        h = −3.0 | 1: −3.0 begins with a typographic dash (U+2212); write a minus sign: -3.0
        at = [–1, 2] | 1: –1 begins with a typographic dash (U+2013); write a minus sign: -1
        h = ３.０ | 1: ３.０ has full-width characters; write 3.0
        h = 4.0; | 1: ";" after the value is not allowed; remove the semicolon
        h = "a", | 1: "," after the value is not allowed; remove the comma
        h = 4.0 // wide | 1: "// wide" after the value is not allowed; a comment begins with "#"
        // wide\nh = 1 | 1: a comment begins with "#"
        h: 4.0 | 1: an equals sign is missing; write h = 4.0
        h 4.0 | 1: an equals sign is missing; write h = 4.0
        h == 4 | 1: write one equals sign: h = 4
        h = | 1: the value is missing after h =
        h =\n"x" | 1: the value is missing after h =
        = 4 | 1: the name before the equals sign is missing
        fast = True | 1: write true in lower case
        fast = yes | 1: yes is no value; write true, or "yes" for a text
        a = null | 1: an empty value does not exist; remove the line
        a = koi | 1: a text stands in quotation marks: "koi"
        a = rtsp://10.0.0.5/x | 1: a text stands in quotation marks: "rtsp://10.0.0.5/x"
        a = "koi | 1: the closing quotation mark is missing
        a = koi" | 1: the opening quotation mark is missing
        a = "a"b" | 1: the text contains a quotation mark; write 'a"b'
        a = 'it's' | 1: the text contains an apostrophe; write "it's"
        a = "C:\Users\x" | 1: a backslash begins an escape; write single quotation marks: 'C:\Users\x', or slashes: "C:/Users/x"
        a = 007 | 1: 007 is no number; write 7
        a = .5 | 1: .5 is no number; write 0.5
        a = 1'000 | 1: 1'000 is no number; write 1000
        a b = 3 | 1: "a b" cannot be a name: a name has no blanks; did you mean a_b?
        größe = 3 | 1: "größe" cannot be a name: such a name stands in quotation marks: "größe"
        a = 1, b = 2 | 1: each value stands on a line of its own
        [surface\nb = 1 | 1: this is no heading of a table; write [surface]
        [[outputs]\nb = 1 | 1: this is no heading of a table; write [[outputs]]
        [surface] b = 1 | 1: only a comment can follow a heading; write "b = 1" on the next line
        a = (1, 2) | 1: a list stands in brackets: [ … ]
        a = [monday, tuesday] | 1: a text stands in quotation marks: "monday"
        a = ["a" "b"] | 1: a comma is missing in ""a" "b""
        a = { x = 1 y = 2 } | 1: a comma is missing in "x = 1 y = 2"
        a = { x: 1, y: 2 } | 1: write x = 1
        a = [\n[0.1, 4 m],\n[1, 2]]\n | 2: a number has no unit; write 4, or put a text in quotation marks
        a = ["a", "b"\nb = 1\nc = 2 | 1: this list is not closed: "]" is missing at its end
        a = [\n"a",\n"b"\n[surface]\nb = 2 | 1: this list is not closed: "]" is missing at its end
        a = [1\n[surface]\nb = 2,5 | 1: this list is not closed: "]" is missing at its end
        a = { x = 1\n[surface]\nb = 2 | 1: this table is not closed: "}" is missing at its end
        a = 1\na = 2 | 2: duplicate key: a is already on line 1; remove one of them
        [[x]]\na = 1\n[[x]]\na = 1\na = 2 | 5: duplicate key: a is already on line 4; remove one of them
        [a]\nx=1\n[b]\n[a]\nx=2\ny=1 | 4: duplicate table: [a] is already on line 1; move the lines below this heading there, and remove the heading
        [[a]]\nx=1\n[a]\nx=2 | 3: a is already [[a]] on line 1; write the same brackets
        a = {x=1,x=2} | 1: duplicate key: x is already in this table; remove one of them
        width_m = 4 m\nheight_m = 3,0 | 1: a number has no unit, the name width_m contains it; write 4 + 2: a number has a decimal point, not a comma; write 3.0
        { "surface": { "width_m": 4 } } | 1: this is JSON; write TOML: a heading [name], and below it lines name = value"##;
    for [text, wanted] in rows(table) {
        assert_eq!(explained(&text), wanted, "{text}");
    }
}
