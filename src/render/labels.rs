//! Places the text labels of the overlay so that no two overlap. Where many fish are close together, some get no label.
//!
//! In: anchor points in the order of the fish. Out: the upper left corner of each label, or `None` if there is no room.

use glam::Vec2;

/// Rows to which a label may move, in order of preference. Row 0 is the row of the anchor; positive rows are below it.
const ROWS: [i8; 5] = [0, -1, 1, -2, 2];
/// Free space around a label, as a share of its height.
const MARGIN: f32 = 0.3;

/// The labels of this picture and of the one before.
#[derive(Debug, Default)]
pub(super) struct LabelLayout {
    half_m: Vec2,
    /// Rectangles of the labels of this picture: upper left and lower right corner.
    taken: Vec<[Vec2; 2]>,
    /// Rectangles of the labels of the picture before.
    taken_before: Vec<[Vec2; 2]>,
    /// Anchor and row of each label of this picture; the row is `None` if there was no room.
    rows: Vec<(Vec2, Option<i8>)>,
    /// Anchor and row of each label of the picture before.
    rows_before: Vec<(Vec2, Option<i8>)>,
}

impl LabelLayout {
    /// Starts the layout of the next picture. `half_m` is half the size of the surface.
    pub(super) fn clear(&mut self, half_m: Vec2) {
        self.half_m = half_m;
        std::mem::swap(&mut self.taken, &mut self.taken_before);
        self.taken.clear();
        std::mem::swap(&mut self.rows, &mut self.rows_before);
        self.rows.clear();
    }

    /// Places a label of this size beside its anchor, within the surface. Returns the upper left corner of the label,
    /// or `None` if there is no room.
    ///
    /// A label keeps its row as long as that row is free, and a new label needs extra free space around it, because a label
    /// that jumps or flickers cannot be read. Labels are placed in the order of the calls: earlier labels have priority.
    pub(super) fn place(&mut self, anchor: Vec2, size_m: Vec2) -> Option<Vec2> {
        let height_m = size_m.y;
        let size = size_m + MARGIN * height_m;
        let first = anchor + Vec2::splat(0.5 * height_m);
        let half = self.half_m;
        let corner = |row: i8| {
            let low = first + Vec2::Y * f32::from(row) * size.y;
            low.min(half - size).max(-half)
        };
        let is_clear = |row: i8, of: &[[Vec2; 2]], spare_m: f32| {
            let (low, high) = (corner(row) - spare_m, corner(row) + size + spare_m);
            let over = |[a, b]: &[Vec2; 2]| low.cmplt(*b).all() && high.cmpgt(*a).all();
            !of.iter().any(over)
        };
        // Labels come in the order of the fish, so the same index means the same fish, unless the anchor has moved far.
        let near_m = 3.0 * size.x.max(size.y);
        let before = self.rows_before.get(self.rows.len());
        let same = before.filter(|(before, _)| before.distance(anchor) < near_m);
        let kept = same.and_then(|&(_, row)| row);
        // A label that was not shown in the last picture must also keep clear of the labels of that picture.
        let is_new = |row: &i8| {
            let spare_m = 0.5 * height_m;
            is_clear(*row, &self.taken, spare_m) && is_clear(*row, &self.taken_before, 0.0)
        };
        let row = kept
            .filter(|&row| is_clear(row, &self.taken, 0.0))
            .or_else(|| ROWS.into_iter().find(is_new));
        self.rows.push((anchor, row));
        let low = corner(row?);
        self.taken.push([low, low + size]);
        Some(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Vec2 = Vec2::new(2.0, 1.5);
    const SIZE_M: Vec2 = Vec2::new(0.341_25, 0.06);

    #[test]
    fn labels_do_not_overlap_stay_on_the_surface_and_the_first_ones_are_shown() {
        let mut room = LabelLayout::default();
        room.clear(HALF);
        let all = |i: u8| Vec2::new(HALF.x - 0.02 * f32::from(i), 0.2);
        let shown: Vec<_> = (0..12).map(|i| room.place(all(i), SIZE_M)).collect();
        assert!(shown[0].is_some());
        let count = shown.iter().flatten().count();
        assert!(
            (2..12).contains(&count),
            "{count} of 12 labels with almost the same anchor are shown"
        );
        assert_eq!(room.taken.len(), count);
        for (i, [low, high]) in room.taken.iter().enumerate() {
            assert!(low.abs().cmple(HALF).all() && high.abs().cmple(HALF).all());
            for [a, b] in &room.taken[i + 1..] {
                assert!(!(low.cmplt(*b).all() && high.cmpgt(*a).all()), "{low} {a}");
            }
        }
        // Fish that are far apart all get a label.
        room.clear(HALF);
        let apart = |i: u8| Vec2::new(f32::from(i % 3) - 1.5, f32::from(i / 3) * 0.5 - 1.0);
        assert!((0..12).all(|i| room.place(apart(i), SIZE_M).is_some()));
    }

    /// Fish move by 2 cm around one spot. Without memory of the last picture, labels would change rows in most pictures.
    #[test]
    fn labels_keep_their_rows_between_pictures() {
        let place = |i: usize, time: f32| {
            let angle = i as f32 * 2.4 + time;
            let trembling = Vec2::new(angle.sin(), (1.7 * angle).cos()) * 0.02;
            Vec2::new((i % 4) as f32 * 0.22, (i / 4) as f32 * 0.05) + trembling
        };
        let rows = |room: &LabelLayout| room.rows.iter().map(|r| r.1).collect::<Vec<_>>();
        let changed =
            |a: &[Option<i8>], b: &[Option<i8>]| a.iter().zip(b).filter(|(a, b)| a != b).count();
        let (mut kept, mut jumps, mut jumps_without_memory) = (LabelLayout::default(), 0, 0);
        let (mut before, mut before_without_memory) = (Vec::new(), Vec::new());
        for tick in 0..240 {
            let mut without_memory = LabelLayout::default();
            for room in [&mut kept, &mut without_memory] {
                room.clear(HALF);
                for i in 0..12 {
                    room.place(place(i, tick as f32 / 10.0), SIZE_M);
                }
            }
            jumps += changed(&before, &rows(&kept));
            jumps_without_memory += changed(&before_without_memory, &rows(&without_memory));
            (before, before_without_memory) = (rows(&kept), rows(&without_memory));
        }
        assert!(
            jumps_without_memory > 200 && 4 * jumps < jumps_without_memory,
            "{jumps} row changes with memory, {jumps_without_memory} without"
        );
    }
}
