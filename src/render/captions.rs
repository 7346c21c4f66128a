//! Which words at fish are shown, and where: they must be read, so none lies on another, and where many fish are close
//! together some say nothing.
//!
//! In: places in the order of their fish. Out: where each one's words begin, or that there is no room.

use glam::Vec2;

use super::letters;

/// Lines above and below its own that words may move to.
const ROWS: [i8; 5] = [0, -1, 1, -2, 2];
/// Room around words, as a share of their height.
const MARGIN: f32 = 0.3;

/// What words of this frame fill, and where those of the one before stood.
#[derive(Debug, Default)]
pub(super) struct Room {
    half_m: Vec2,
    /// Rectangles, low and high corner: in this frame and in the one before.
    taken: Vec<[Vec2; 2]>,
    taken_before: Vec<[Vec2; 2]>,
    /// What words are about, and how many lines below it they stand; `None` where there was no room.
    rows: Vec<(Vec2, Option<i8>)>,
    rows_before: Vec<(Vec2, Option<i8>)>,
}

impl Room {
    /// Begins a frame on a surface of these half extents.
    pub(super) fn clear(&mut self, half_m: Vec2) {
        self.half_m = half_m;
        std::mem::swap(&mut self.taken, &mut self.taken_before);
        self.taken.clear();
        std::mem::swap(&mut self.rows, &mut self.rows_before);
        self.rows.clear();
    }

    /// Where so many letters about a place begin: beside it, within the surface, clear of what was written before. They
    /// stay in their line while they can, and others begin only where there is room to spare: nobody reads words that
    /// jump or flicker. The first fish have the first choice.
    pub(super) fn take(&mut self, at: Vec2, height_m: f32, letters: usize) -> Option<Vec2> {
        let size =
            Vec2::new(letters as f32 * height_m * letters::width(), height_m) + MARGIN * height_m;
        let first = at + Vec2::splat(0.5 * height_m);
        let half = self.half_m;
        let place = |row: i8| {
            let low = first + Vec2::Y * f32::from(row) * size.y;
            low.min(half - size).max(-half)
        };
        let is_clear = |row: i8, of: &[[Vec2; 2]], spare_m: f32| {
            let (low, high) = (place(row) - spare_m, place(row) + size + spare_m);
            let over = |[a, b]: &[Vec2; 2]| low.cmplt(*b).all() && high.cmpgt(*a).all();
            !of.iter().any(over)
        };
        // Marks come in the order of their fish: the same number is the same fish, unless it is somewhere else.
        let near_m = 3.0 * size.x.max(size.y);
        let before = self.rows_before.get(self.rows.len());
        let same = before.filter(|(place, _)| place.distance(at) < near_m);
        let kept = same.and_then(|&(_, row)| row);
        // Who was not heard waits until all who were have ended.
        let is_new = |row: &i8| {
            let spare_m = 0.5 * height_m;
            is_clear(*row, &self.taken, spare_m) && is_clear(*row, &self.taken_before, 0.0)
        };
        let row = kept
            .filter(|&row| is_clear(row, &self.taken, 0.0))
            .or_else(|| ROWS.into_iter().find(is_new));
        self.rows.push((at, row));
        let low = place(row?);
        self.taken.push([low, low + size]);
        Some(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Vec2 = Vec2::new(2.0, 1.5);
    const HEIGHT_M: f32 = 0.06;
    const LETTERS: usize = 13;

    #[test]
    fn words_keep_clear_of_each_other_and_inside_and_the_first_fish_are_heard() {
        let mut room = Room::default();
        room.clear(HALF);
        let all = |i: u8| Vec2::new(HALF.x - 0.02 * f32::from(i), 0.2);
        let shown: Vec<_> = (0..12)
            .map(|i| room.take(all(i), HEIGHT_M, LETTERS))
            .collect();
        assert!(shown[0].is_some());
        let count = shown.iter().flatten().count();
        assert!((2..12).contains(&count), "{count} of twelve on one spot");
        assert_eq!(room.taken.len(), count);
        for (i, [low, high]) in room.taken.iter().enumerate() {
            assert!(low.abs().cmple(HALF).all() && high.abs().cmple(HALF).all());
            for [a, b] in &room.taken[i + 1..] {
                assert!(!(low.cmplt(*b).all() && high.cmpgt(*a).all()), "{low} {a}");
            }
        }
        // Fish far apart all speak.
        room.clear(HALF);
        let apart = |i: u8| Vec2::new(f32::from(i % 3) - 1.5, f32::from(i / 3) * 0.5 - 1.0);
        assert!((0..12).all(|i| room.take(apart(i), HEIGHT_M, LETTERS).is_some()));
    }

    /// Fish that tremble on the spot: their words, placed anew in every frame, would change lines all the time.
    #[test]
    fn words_stay_in_their_lines_while_they_can() {
        let place = |i: usize, time: f32| {
            let angle = i as f32 * 2.4 + time;
            let trembling = Vec2::new(angle.sin(), (1.7 * angle).cos()) * 0.02;
            Vec2::new((i % 4) as f32 * 0.22, (i / 4) as f32 * 0.05) + trembling
        };
        let rows = |room: &Room| room.rows.iter().map(|r| r.1).collect::<Vec<_>>();
        let changed =
            |a: &[Option<i8>], b: &[Option<i8>]| a.iter().zip(b).filter(|(a, b)| a != b).count();
        let (mut kept, mut jumps, mut jumps_anew) = (Room::default(), 0, 0);
        let (mut before, mut before_anew) = (Vec::new(), Vec::new());
        for tick in 0..240 {
            let mut anew = Room::default();
            for room in [&mut kept, &mut anew] {
                room.clear(HALF);
                for i in 0..12 {
                    room.take(place(i, tick as f32 / 10.0), HEIGHT_M, LETTERS);
                }
            }
            jumps += changed(&before, &rows(&kept));
            jumps_anew += changed(&before_anew, &rows(&anew));
            (before, before_anew) = (rows(&kept), rows(&anew));
        }
        assert!(
            jumps_anew > 200 && 4 * jumps < jumps_anew,
            "{jumps} of {jumps_anew}"
        );
    }
}
