//! The shortest path through a sequence of portals. **Source**: Mononen 2010, "Simple stupid funnel algorithm"; Lischka
//! 2014, §7.5.

use glam::Vec2;

/// Writes to `path` the corners of the shortest path from a start through portals (left end, right end) to a goal. The
/// start is not included.
pub(super) fn funnel_path(start: Vec2, goal: Vec2, portals: &[(Vec2, Vec2)], path: &mut Vec<Vec2>) {
    path.clear();
    let end = (goal, goal);
    let portal = |n: usize| *portals.get(n).unwrap_or(&end);
    let mut apex = start;
    let (mut left, mut right) = (start, start);
    let (mut left_at, mut right_at) = (0, 0);
    let mut n = 0;
    // Every restart moves the apex to an end of a later portal, so the number of portals limits the number of restarts.
    let mut restarts = 0;
    while n <= portals.len() && restarts <= 2 * portals.len() + 2 {
        let (new_left, new_right) = portal(n);
        if turn(apex, right, new_right) >= 0.0 {
            if apex == right || turn(apex, left, new_right) < 0.0 {
                (right, right_at) = (new_right, n);
            } else {
                path.push(left);
                (apex, n) = (left, left_at + 1);
                (left, right) = (apex, apex);
                (left_at, right_at) = (n - 1, n - 1);
                restarts += 1;
                continue;
            }
        }
        if turn(apex, left, new_left) <= 0.0 {
            if apex == left || turn(apex, right, new_left) > 0.0 {
                (left, left_at) = (new_left, n);
            } else {
                path.push(right);
                (apex, n) = (right, right_at + 1);
                (left, right) = (apex, apex);
                (left_at, right_at) = (n - 1, n - 1);
                restarts += 1;
                continue;
            }
        }
        n += 1;
    }
    path.push(goal);
    path.dedup();
    if path.first() == Some(&start) && path.len() > 1 {
        path.remove(0);
    }
}

/// Returns a positive number if `b` is to the left of the line from `apex` to `a`.
fn turn(apex: Vec2, a: Vec2, b: Vec2) -> f32 {
    (a - apex).perp_dot(b - apex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_touches_both_corners() {
        // A corridor that leads up, then bends right, then left.
        let portals = [
            (Vec2::new(0.0, 1.0), Vec2::new(1.0, 1.0)),
            (Vec2::new(1.0, 2.0), Vec2::new(1.0, 1.0)),
            (Vec2::new(3.0, 2.0), Vec2::new(3.0, 1.0)),
            (Vec2::new(3.0, 2.0), Vec2::new(4.0, 2.0)),
        ];
        let mut path = Vec::new();
        funnel_path(
            Vec2::new(0.5, 0.0),
            Vec2::new(3.5, 3.0),
            &portals,
            &mut path,
        );
        assert_eq!(
            path,
            [
                Vec2::new(1.0, 1.0),
                Vec2::new(3.0, 2.0),
                Vec2::new(3.5, 3.0)
            ]
        );
        funnel_path(Vec2::new(0.5, 0.0), Vec2::new(0.5, 0.9), &[], &mut path);
        assert_eq!(path, [Vec2::new(0.5, 0.9)]);
    }
}
