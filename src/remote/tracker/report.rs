//! What trackers report of the visitors, in one form for all protocols, and what follows from it.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use glam::Vec2;

use crate::geometry::{Sighting, Surface};

/// Largest number of trackers and kinds of report that are followed at the same time.
pub(super) const CHANNELS_MAX: usize = 16;
/// Largest number of visitors of a channel.
pub(super) const BODIES_MAX: usize = 128;
/// Time without a report of a visitor after which it is gone. Trackers report each at least once a second.
pub(super) const EXPIRY: Duration = Duration::from_secs(2);
/// Difference of frame numbers from which a tracker has begun to count again; smaller ones are datagrams that come late.
const RESTART_FRAMES: i32 = 100;
/// Longest name of a tracker, in bytes.
const NAME_MAX: usize = 64;
/// Positions that are accepted, as shares of the picture from its middle: also visitors beside it.
const SHARE_MAX: f32 = 2.5;
/// Positions that are accepted, in meters from the middle of the picture, which measures at most 100 m.
const METERS_MAX: f32 = 200.0;

/// What one datagram reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Report {
    /// Name that the tracker gives itself; empty if it has none.
    pub(super) source: String,
    /// How much this kind of report tells. Of several kinds of one tracker the one with the highest number is used.
    pub(super) detail: u8,
    /// Number of the frame; `None` if it has none, or does not count.
    pub(super) frame: Option<i32>,
    /// The visitors that are there; `None` if the report says nothing about others than `seen`.
    pub(super) alive: Option<Vec<i32>>,
    pub(super) seen: Vec<Seen>,
    /// Visitors that have left.
    pub(super) gone: Vec<i32>,
}

/// A place or a size: shares of the picture plus meters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spot {
    share: Vec2,
    meters: Vec2,
}

impl Spot {
    /// A size, or a place from the middle, as shares of the picture.
    pub(super) fn of_picture(share: Vec2) -> Self {
        Self {
            share,
            ..Self::default()
        }
    }

    /// A place as shares of the picture: from 0 at the left and at the top to 1.
    pub(super) fn from_corner(share: Vec2) -> Self {
        Self::of_picture(share - 0.5)
    }

    /// A size, or a place from the middle, in meters.
    pub(super) fn of_meters(meters: Vec2) -> Self {
        Self {
            meters,
            ..Self::default()
        }
    }

    fn in_meters(self, picture_m: Vec2) -> Vec2 {
        self.share * picture_m + self.meters
    }

    /// Whether it is on the floor or near it. NaN is not.
    fn is_near(self) -> bool {
        let share = self.share.abs().cmple(Vec2::splat(SHARE_MAX)).all();
        share && self.meters.abs().cmple(Vec2::splat(METERS_MAX)).all()
    }
}

impl std::ops::Add for Spot {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            share: self.share + other.share,
            meters: self.meters + other.meters,
        }
    }
}

/// A visitor from the middle of the picture: to the right, and downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) id: i32,
    pub(super) at: Spot,
    /// Width and height, and the angle from the right to the width, clockwise, in radians; `None` if they are not known.
    pub(super) shape: Option<(Spot, f32)>,
}

impl Seen {
    /// Returns the visitor.
    ///
    /// # Errors
    /// When its numbers are not those of a visitor on the floor or near it.
    pub(super) fn checked(self) -> Result<Self, String> {
        let is_size = |size: Spot| {
            let is_negative = size.share.min_element() < 0.0 || size.meters.min_element() < 0.0;
            size.is_near() && !is_negative
        };
        let is_shape = self
            .shape
            .is_none_or(|(size, angle)| is_size(size) && angle.is_finite());
        match self.at.is_near() && is_shape {
            true => Ok(self),
            false => Err("a visitor with numbers that no place has".to_owned()),
        }
    }
}

/// The visitors of all trackers.
#[derive(Debug, Default)]
pub(super) struct Table {
    channels: Vec<Channel>,
    /// Number of the last channel.
    last_channel: u32,
}

/// One kind of report of one tracker.
#[derive(Debug)]
struct Channel {
    number: u32,
    peer: IpAddr,
    source: String,
    detail: u8,
    frame: i32,
    heard_at: Instant,
    bodies: Vec<Body>,
}

#[derive(Debug)]
struct Body {
    id: i32,
    at: Spot,
    shape: Option<(Spot, f32)>,
    heard_at: Instant,
}

impl Table {
    /// Takes a report.
    ///
    /// # Errors
    /// When it is older than the last one, or there are too many trackers or visitors.
    pub(super) fn apply(
        &mut self,
        peer: IpAddr,
        report: &Report,
        now: Instant,
    ) -> Result<(), String> {
        self.channels
            .retain(|channel| now.saturating_duration_since(channel.heard_at) < EXPIRY);
        if report.source.len() > NAME_MAX {
            return Err(format!("a tracker's name of over {NAME_MAX} bytes"));
        }
        let is_same = |channel: &Channel| {
            channel.peer == peer
                && channel.detail == report.detail
                && channel.source == report.source
        };
        let index = match self.channels.iter().position(is_same) {
            Some(index) => index,
            None if self.channels.len() == CHANNELS_MAX => {
                return Err(format!("more than {CHANNELS_MAX} trackers"));
            }
            None => {
                self.last_channel = self.last_channel.wrapping_add(1);
                self.channels.push(Channel {
                    number: self.last_channel,
                    peer,
                    source: report.source.clone(),
                    detail: report.detail,
                    frame: i32::MIN,
                    heard_at: now,
                    bodies: Vec::new(),
                });
                self.channels.len() - 1
            }
        };
        self.channels[index].apply(report, now)
    }

    /// Writes the visitors that are there at the time `now` to `to`.
    pub(super) fn write(&mut self, surface: &Surface, now: Instant, to: &mut Vec<Sighting>) {
        to.clear();
        for channel in &mut self.channels {
            let is_there = |body: &Body| now.saturating_duration_since(body.heard_at) < EXPIRY;
            channel.bodies.retain(is_there);
        }
        let picture_m = Vec2::new(surface.width_m, surface.height_m);
        let used = self
            .channels
            .iter()
            .filter(|channel| !channel.bodies.is_empty() && self.is_best(channel));
        for channel in used {
            to.extend(channel.bodies.iter().map(|body| Sighting {
                key: u64::from(channel.number) << 32 | u64::from(body.id.cast_unsigned()),
                position_m: body.at.in_meters(picture_m),
                size_m: (body.shape).map_or(Vec2::ZERO, |(size, _)| size.in_meters(picture_m)),
                angle: body.shape.map_or(0.0, |(_, angle)| angle),
            }));
        }
    }

    /// Whether no other kind of report of the same tracker tells more.
    fn is_best(&self, channel: &Channel) -> bool {
        !self.channels.iter().any(|other| {
            other.peer == channel.peer
                && other.source == channel.source
                && other.detail > channel.detail
                && !other.bodies.is_empty()
        })
    }
}

impl Channel {
    fn apply(&mut self, report: &Report, now: Instant) -> Result<(), String> {
        if let Some(frame) = report.frame {
            let behind = self.frame.saturating_sub(frame);
            if (1..RESTART_FRAMES).contains(&behind) {
                return Err(LATE.to_owned());
            }
            self.frame = frame;
        }
        self.heard_at = now;
        if let Some(alive) = &report.alive {
            self.bodies.retain(|body| alive.contains(&body.id));
            self.bodies.iter_mut().for_each(|body| body.heard_at = now);
        }
        self.bodies.retain(|body| !report.gone.contains(&body.id));
        for seen in &report.seen {
            if report
                .alive
                .as_ref()
                .is_some_and(|ids| !ids.contains(&seen.id))
            {
                continue;
            }
            let known = self.bodies.iter().position(|body| body.id == seen.id);
            let index = match known {
                Some(index) => index,
                None if self.bodies.len() == BODIES_MAX => {
                    return Err(format!("more than {BODIES_MAX} visitors"));
                }
                None => {
                    self.bodies.push(Body {
                        id: seen.id,
                        at: seen.at,
                        shape: None,
                        heard_at: now,
                    });
                    self.bodies.len() - 1
                }
            };
            let body = &mut self.bodies[index];
            (body.at, body.heard_at) = (seen.at, now);
            body.shape = seen.shape.or(body.shape);
        }
        Ok(())
    }
}

/// The problem of a datagram that arrives after a newer one. That is usual, and no visitor is lost.
pub(super) const LATE: &str = "a datagram that came late";
