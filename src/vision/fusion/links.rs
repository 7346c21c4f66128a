//! Links between the tracks of the cameras and the visitors: which track belongs to whom, and when that changes.

use super::{Camera, CameraTracks, Estimate, Fused, Fusion, Link, tracks_of};
use crate::geometry::Visitor;
use crate::vision::assignment::FORBIDDEN;

/// Largest squared Mahalanobis distance between two estimates of one visitor. The square is exceeded by chance in 1 % of all cases (χ²,
/// two degrees of freedom).
const GATE: f32 = 9.2;
/// Squared distance below which two visitors are at the same place. Far below [`GATE`], so that visitors that were separated are not
/// merged again at once.
const SAME_PLACE: f32 = 3.0;
/// Time for which a track contradicts the other cameras before it leaves its visitor, in seconds. Longer than a leg swings.
const SPLIT_SECS: f64 = 0.6;
/// Time for which two visitors that different cameras see are at the same place before they become one, in seconds.
const MERGE_SECS: f64 = 0.6;
/// Longest time for which a track that no visitor explains waits for one, in seconds, if another camera watches its place: the
/// foot points of a visitor who enters a view become right only when the whole body is inside.
const WAIT_SECS: f64 = 0.8;
/// Time for which a visitor that no camera sees is expected in another view, in seconds.
const EXPECT_SECS: f64 = 2.0;
/// Speed with which a visitor goes on where no camera sees it, in m/s, as a standard deviation.
const UNSEEN_MPS: f32 = 0.5;
/// Time for which ids of visitors and tracks that are gone are remembered, in seconds. A camera gives an id back after at most
/// `tracking.return_secs`, which is shorter.
const REMEMBER_SECS: f64 = 60.0;

impl Camera {
    /// Replaces the tracks by those of a new frame, and updates the links.
    pub(super) fn see(&mut self, seen: &CameraTracks<'_>) {
        let now_secs = seen.time_secs;
        let before_secs = self.time_secs.replace(now_secs);
        Visitor::copy_all(&mut self.tracks, seen.tracks);
        self.covariances_m2.clear();
        self.covariances_m2.extend_from_slice(seen.covariances_m2);
        self.covariances_m2
            .resize(seen.tracks.len(), super::variance(super::BIAS_M));
        for link in &mut self.links {
            link.index = None;
        }
        for (index, track) in seen.tracks.iter().enumerate() {
            match self.links.iter_mut().find(|link| link.track == track.id) {
                Some(link) => {
                    link.is_back = Some(link.seen_secs) != before_secs;
                    (link.index, link.seen_secs) = (Some(index), now_secs);
                }
                None => self.links.push(Link {
                    track: track.id,
                    index: Some(index),
                    visitor: None,
                    since_secs: now_secs,
                    seen_secs: now_secs,
                    is_back: false,
                    apart_since_secs: None,
                }),
            }
        }
        self.links
            .retain(|link| now_secs - link.seen_secs < REMEMBER_SECS);
    }

    /// Whether the camera watches a place and its surroundings, so that it should see a visitor there.
    fn watches(&self, estimate: &Estimate) -> bool {
        self.time_secs.is_some() && self.watched.margin_m(estimate.position_m) > super::BORDER_M
    }
}

impl Fused {
    /// Returns the expected estimate of a visitor who may be out of sight.
    fn expected(&self, now_secs: f64) -> Estimate {
        let secs = (now_secs - self.seen_secs).max(0.0);
        let spread_m = UNSEEN_MPS * secs as f32;
        Estimate {
            position_m: self.estimate.position_m + self.estimate.velocity_mps * secs as f32,
            covariance_m2: self.estimate.covariance_m2 + super::variance(spread_m),
            ..self.estimate
        }
    }
}

impl Fusion {
    /// Gives every track of a camera a visitor: one that other cameras see at its place, one that has just left another view, or a new
    /// one.
    pub(super) fn link(&mut self, camera: usize, now_secs: f64) {
        self.forget(now_secs);
        self.release_strangers(camera, now_secs);
        self.release_taken(camera, now_secs);
        self.assign(camera, now_secs);
        self.begin(camera, now_secs);
    }

    /// Forgets visitors that were not seen for a long time.
    fn forget(&mut self, now_secs: f64) {
        let cameras = &mut self.cameras;
        self.fused.retain(|fused| {
            let is_kept = now_secs - fused.seen_secs < REMEMBER_SECS;
            let links = cameras.iter_mut().flat_map(|camera| &mut camera.links);
            for link in links.filter(|link| !is_kept && link.visitor == Some(fused.id)) {
                link.visitor = None;
            }
            is_kept
        });
    }

    /// Removes the link to a visitor from a track that was lost and has come back far from the visitor, whom another camera sees.
    fn release_strangers(&mut self, camera: usize, now_secs: f64) {
        for fused in &self.fused {
            let is_seen = tracks_of(&self.cameras, fused.id).any(|(other, ..)| other != camera);
            if !is_seen {
                continue;
            }
            let expected = fused.expected(now_secs);
            let camera = &mut self.cameras[camera];
            for index in 0..camera.links.len() {
                let link = camera.links[index];
                let (Some(track), true) = (link.index, link.visitor == Some(fused.id)) else {
                    continue;
                };
                let is_far = || expected.distance2(&camera.estimate(track, now_secs)) > GATE;
                if link.is_back && is_far() {
                    camera.links[index].release(now_secs);
                }
            }
        }
    }

    /// Lets at most one track of a camera be the same visitor: the one nearest to where the visitor is expected.
    fn release_taken(&mut self, camera: usize, now_secs: f64) {
        let camera = &mut self.cameras[camera];
        for fused in &self.fused {
            let expected = fused.expected(now_secs);
            let mut nearest: Option<(usize, f32)> = None;
            for index in 0..camera.links.len() {
                let link = camera.links[index];
                let (Some(track), true) = (link.index, link.visitor == Some(fused.id)) else {
                    continue;
                };
                let far = expected.distance2(&camera.estimate(track, now_secs));
                let released = match nearest {
                    Some((_, least)) if least <= far => index,
                    _ => {
                        let Some((before, _)) = nearest.replace((index, far)) else {
                            continue;
                        };
                        before
                    }
                };
                camera.links[released].release(now_secs);
            }
        }
    }

    /// Assigns tracks without a visitor to the visitors that other cameras see or have seen at their places.
    fn assign(&mut self, camera: usize, now_secs: f64) {
        let Self {
            cameras,
            fused,
            waiting,
            free,
            assignment,
            ..
        } = self;
        let links = &cameras[camera].links;
        waiting.clear();
        waiting.extend((0..links.len()).filter(|&index| {
            let link = &links[index];
            link.index.is_some() && link.visitor.is_none()
        }));
        if waiting.is_empty() {
            return;
        }
        free.clear();
        free.extend((0..fused.len()).filter(|&index| {
            let visitor = &fused[index];
            // A track that contradicts the other cameras gives way to one that does not.
            let mut seen_by = tracks_of(cameras, visitor.id).filter_map(|(number, link, _)| {
                let gives_way = number == camera && link.apart_since_secs.is_some();
                (!gives_way).then_some(number)
            });
            match seen_by.next() {
                Some(first) => first != camera && seen_by.all(|other| other != camera),
                // The tracker of the same camera has already looked for visitors who return.
                None => visitor.shown != camera && now_secs - visitor.seen_secs < EXPECT_SECS,
            }
        }));
        let cost = |row: usize, column: usize| {
            let Some(index) = links[waiting[row]].index else {
                return FORBIDDEN;
            };
            let found = cameras[camera].estimate(index, now_secs);
            let cost = found.distance2(&fused[free[column]].expected(now_secs));
            if cost < GATE { cost } else { FORBIDDEN }
        };
        let assigned = assignment.solve(waiting.len(), free.len(), cost);
        for (&link, column) in waiting.iter().zip(assigned) {
            if let &Some((column, _)) = column {
                let link = &mut cameras[camera].links[link];
                link.visitor = Some(fused[free[column]].id);
                link.apart_since_secs = None;
            }
        }
    }

    /// Creates visitors for tracks that belong to no other one.
    fn begin(&mut self, camera: usize, now_secs: f64) {
        for index in 0..self.cameras[camera].links.len() {
            let link = self.cameras[camera].links[index];
            let (Some(track), None) = (link.index, link.visitor) else {
                continue;
            };
            let estimate = self.cameras[camera].estimate(track, now_secs);
            let mut others = self.cameras.iter().enumerate();
            let is_watched = others.any(|(other, c)| other != camera && c.watches(&estimate));
            if is_watched && now_secs - link.since_secs < WAIT_SECS {
                continue;
            }
            let seen = &self.cameras[camera].tracks[track];
            self.fused.push(Fused {
                id: self.next_id,
                estimate,
                seen_secs: now_secs,
                since_secs: now_secs - seen.age_secs,
                shown: camera,
                still_secs: seen.still_secs,
                same_as: None,
            });
            self.cameras[camera].links[index].visitor = Some(self.next_id);
            self.next_id = self.next_id.wrapping_add(1);
        }
    }

    /// Finds tracks that contradict the other cameras, and removes the visitor from those that do so for long. Of the tracks of a
    /// visitor, the one nearest to the expected position is right, unless it is where another visitor is whom its camera does not see:
    /// then its tracker has gone on with that one.
    pub(super) fn find_contradictions(&mut self, now_secs: f64) {
        for fused in &self.fused {
            let expected = fused.expected(now_secs);
            let candidates = tracks_of(&self.cameras, fused.id).map(|(camera, _, index)| {
                let found = self.cameras[camera].estimate(index, now_secs);
                let is_other = self.is_another(fused.id, camera, &found, now_secs);
                (is_other, expected.distance2(&found), found)
            });
            let nearest = candidates.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let Some((.., right)) = nearest else {
                continue;
            };
            for camera in &mut self.cameras {
                for index in 0..camera.links.len() {
                    let link = camera.links[index];
                    let (Some(track), true) = (link.index, link.visitor == Some(fused.id)) else {
                        continue;
                    };
                    let is_apart = right.distance2(&camera.estimate(track, now_secs)) > GATE;
                    let since_secs = link.apart_since_secs.unwrap_or(now_secs);
                    let link = &mut camera.links[index];
                    link.apart_since_secs = is_apart.then_some(since_secs);
                    if is_apart && now_secs - since_secs > SPLIT_SECS {
                        link.release(now_secs);
                    }
                }
            }
        }
    }

    /// Whether a track of a camera that counts as one visitor is at the place of another one, whom this camera does not see.
    fn is_another(&self, visitor: u32, camera: usize, found: &Estimate, now_secs: f64) -> bool {
        let is_there = |other: &Fused| {
            let mut seen_by = tracks_of(&self.cameras, other.id).map(|(camera, ..)| camera);
            let is_seen_elsewhere = seen_by.next().is_some_and(|first| first != camera)
                && seen_by.all(|other| other != camera);
            is_seen_elsewhere && other.expected(now_secs).distance2(found) < SAME_PLACE
        };
        (self.fused.iter()).any(|other| other.id != visitor && is_there(other))
    }

    /// Merges visitors that different cameras see at the same place for long. The older id stays.
    pub(super) fn merge(&mut self, now_secs: f64) {
        let mut index = 1;
        while index < self.fused.len() {
            let same = (0..index).find(|&older| self.are_at_same_place(older, index, now_secs));
            let younger = &mut self.fused[index];
            let Some(older) = same else {
                younger.same_as = None;
                index += 1;
                continue;
            };
            let (id, older_id) = (younger.id, self.fused[older].id);
            let younger = &mut self.fused[index];
            let since_secs = match younger.same_as {
                Some((same, since_secs)) if same == older_id => since_secs,
                _ => now_secs,
            };
            younger.same_as = Some((older_id, since_secs));
            if now_secs - since_secs < MERGE_SECS {
                index += 1;
                continue;
            }
            let links = self.cameras.iter_mut().flat_map(|camera| &mut camera.links);
            for link in links.filter(|link| link.visitor == Some(id)) {
                link.visitor = Some(older_id);
            }
            self.fused.remove(index);
        }
    }

    /// Whether two visitors are at the same place and no camera sees both.
    fn are_at_same_place(&self, one: usize, other: usize, now_secs: f64) -> bool {
        let [one, other] = [one, other].map(|index| &self.fused[index]);
        let estimate = |fused: &Fused| super::fused_estimate(&self.cameras, fused.id, now_secs);
        let (Some(a), Some(b)) = (estimate(one), estimate(other)) else {
            return false;
        };
        let is_seen_by = |visitor: u32, camera: usize| {
            tracks_of(&self.cameras, visitor).any(|(seen_by, ..)| seen_by == camera)
        };
        a.distance2(&b) < SAME_PLACE
            && (0..self.cameras.len())
                .all(|camera| !is_seen_by(one.id, camera) || !is_seen_by(other.id, camera))
    }
}
