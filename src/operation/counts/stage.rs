//! The counting stage: counts the visitors that the vision stage finds, once for all: for the status and its clients, for the
//! events, and for the file.
//!
//! In: the visitors on the surface, four times per second. Out: the numbers of visitors, events, the file with the sums. Vision
//! never waits for this stage: visitors that come while the disk is slow are replaced by newer ones, and sums that cannot be
//! stored are kept for two days.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::civil::Date;
use parking_lot::Mutex;

use super::counter::VisitorCounter;
use super::writer::{CountFile, CountWriter};
use crate::control::{EventKind, Journal, TrackStatus, VisitorStatus};
use crate::geometry::Visitor;
use crate::operation::hours::{EARLIEST_SECS, ScheduleBoard};
use crate::operation::show::ShowControl;
use crate::runtime::{Heartbeat, Latest, now};

/// Time between two samples of the visitors.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);

/// Time after a rehearsal in which visitors are not new: the tracks of the recording end, and who was there before was counted then.
const AFTER_REHEARSAL: Duration = Duration::from_secs(10);

/// The visitors and their number, from the counting stage to the status.
#[derive(Debug, Default)]
pub struct VisitorBoard(Mutex<(Vec<TrackStatus>, VisitorStatus)>);

impl VisitorBoard {
    /// Returns the visitors on the surface, and their number.
    pub fn read(&self) -> (Vec<TrackStatus>, VisitorStatus) {
        self.0.lock().clone()
    }
}

/// Inputs and outputs of the counting stage.
#[derive(Default)]
pub struct CountingLinks {
    /// The visitors on the surface, from the vision stage.
    pub visitors: Arc<Latest<Vec<Visitor>>>,
    /// Receives the visitors and their number.
    pub board: Arc<VisitorBoard>,
    /// State of the show. Visitors are not counted while it is closed or a recording is replayed.
    pub show: ShowControl,
    /// Time zone of the days.
    pub schedule: Arc<ScheduleBoard>,
    /// Receives events and faults.
    pub journal: Journal,
}

/// The counting stage.
pub struct CountingStage {
    links: CountingLinks,
    file: Option<CountFile>,
}

impl CountingStage {
    /// Creates the stage. Without a file the visitors are counted for the status only.
    pub fn new(links: CountingLinks, file: Option<CountFile>) -> Self {
        Self { links, file }
    }

    /// Counts until the program ends.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        let mut counting = Counting::new(&self.links, self.file.clone());
        while heartbeat.sleep(SAMPLE_INTERVAL) {
            counting.step(now(), Instant::now());
        }
        counting.end(now());
    }
}

/// The count while the stage runs.
struct Counting<'a> {
    links: &'a CountingLinks,
    counter: VisitorCounter,
    writer: Option<CountWriter>,
    started: Instant,
    /// The newest visitors on the surface.
    visitors: Vec<Visitor>,
    /// Time until which all visitors are taken for those of a rehearsal; `None` before the first rehearsal.
    rehearsal_until: Option<Instant>,
    /// Ids of visitors of a rehearsal, each with the time at which it was last seen.
    replayed: BTreeMap<u32, Instant>,
    /// The day to which `today` belongs.
    date: Option<Date>,
    /// Number of arrivals of this day.
    today: u32,
}

impl<'a> Counting<'a> {
    fn new(links: &'a CountingLinks, file: Option<CountFile>) -> Self {
        Self {
            links,
            counter: VisitorCounter::default(),
            writer: file.map(|file| CountWriter::new(file, &links.journal)),
            started: Instant::now(),
            visitors: Vec::new(),
            rehearsal_until: None,
            replayed: BTreeMap::new(),
            date: None,
            today: 0,
        }
    }

    /// Counts the visitors of a moment.
    fn step(&mut self, time: Timestamp, now: Instant) {
        self.links.visitors.take(&mut self.visitors, Duration::ZERO);
        self.begin_day(time);
        self.follow_rehearsal(now);
        // While visitors are not counted, the visits end.
        let counts = self.links.show.counts_visitors();
        let is_counted = |visitor: &&Visitor| counts && !self.replayed.contains_key(&visitor.id);
        let counted = self.visitors.iter().filter(is_counted);
        let secs = now.saturating_duration_since(self.started).as_secs_f64();
        self.counter.observe(secs, time.as_second(), counted);
        self.report_events();
        let tracks = self.visitors.iter().map(TrackStatus::from).collect();
        let count = VisitorStatus {
            now: self.counter.present(),
            today: self.today,
        };
        *self.links.board.0.lock() = (tracks, count);
        self.store(time, now);
    }

    /// Remembers the visitors of a rehearsal until they are gone. They do not end with it: the last tracks of the recording last a moment.
    fn follow_rehearsal(&mut self, now: Instant) {
        if self.links.show.rehearsal().is_some() {
            self.rehearsal_until = Some(now + AFTER_REHEARSAL);
        }
        let is_rehearsal = self.rehearsal_until.is_some_and(|until| now < until);
        for visitor in &self.visitors {
            if is_rehearsal || self.replayed.contains_key(&visitor.id) {
                self.replayed.insert(visitor.id, now);
            }
        }
        let is_here = |seen: Instant| now.saturating_duration_since(seen) < AFTER_REHEARSAL;
        self.replayed.retain(|_, seen| is_here(*seen));
    }

    /// Begins the count of a day at midnight, and at the start of the program with what the file knows of this day.
    fn begin_day(&mut self, time: Timestamp) {
        let zone = self.links.schedule.zone();
        let date = zone.to_datetime(time).date();
        if self.date == Some(date) {
            return;
        }
        self.date = Some(date);
        let midnight = zone.to_timestamp(date.into()).unwrap_or(time).as_second();
        let file = self.writer.as_ref().filter(|_| midnight > EARLIEST_SECS);
        self.today = file.map_or(0, |file| file.arrivals_since(midnight));
    }

    fn report_events(&mut self) {
        for event in self.counter.take_events() {
            if matches!(event, EventKind::VisitorArrived { .. }) {
                self.today = self.today.saturating_add(1);
            }
            self.links.journal.add(event);
        }
    }

    fn store(&mut self, time: Timestamp, now: Instant) {
        match &mut self.writer {
            // Without a clock, nothing is known about the interval.
            Some(writer) if time.as_second() >= EARLIEST_SECS => {
                writer.write_if_due(&mut self.counter, time.as_second(), now);
            }
            _ => self.counter.clear_pending(),
        }
    }

    /// Ends all visits, at the end of the program.
    fn end(mut self, time: Timestamp) {
        self.counter.end_all(time.as_second());
        self.report_events();
        if let Some(writer) = &mut self.writer
            && time.as_second() >= EARLIEST_SECS
        {
            writer.write(&mut self.counter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Board;
    use crate::control::HandEnd;
    use crate::operation::CountStore;

    fn visitor(id: u32) -> Visitor {
        Visitor {
            id,
            ..Visitor::default()
        }
    }

    /// Steps through seconds of a day from 2026-06-01, 12:00 UTC. `present` says which visitors are there.
    fn steps(
        counting: &mut Counting<'_>,
        secs: std::ops::Range<u32>,
        present: impl Fn(f64) -> Vec<u32>,
    ) {
        let noon: Timestamp = "2026-06-01T12:00:00Z".parse().unwrap();
        for quarter in secs.start * 4..secs.end * 4 {
            let secs = f64::from(quarter) / 4.0;
            let mut visitors = present(secs).into_iter().map(visitor).collect();
            counting.links.visitors.put(&mut visitors);
            let time = Timestamp::from_second(noon.as_second() + secs as i64).unwrap();
            let now = counting.started + Duration::from_secs_f64(secs);
            counting.step(time, now);
        }
    }

    fn file(folder: &tempfile::TempDir) -> CountFile {
        CountFile {
            path: folder.path().join("visitors.sqlite"),
            keep_days: 400,
        }
    }

    /// A fixed bug: the status counted every new track at once, and the file only visitors who stayed for a second, so the page
    /// *Now* showed two different numbers of visitors.
    #[test]
    fn status_events_and_file_have_one_number_of_visitors() {
        let folder = tempfile::tempdir().unwrap();
        let board: Arc<Board> = Arc::default();
        let links = CountingLinks {
            journal: Journal::new(Arc::clone(&board)),
            ..CountingLinks::default()
        };
        let mut counting = Counting::new(&links, Some(file(&folder)));
        // One visitor for 20 s who is hidden for 5 s, and three flickers of half a second.
        let present = |secs: f64| {
            let mut ids = Vec::new();
            ids.extend((!(8.0..13.0).contains(&secs) && secs < 20.0).then_some(1));
            ids.extend(
                [3.0, 7.0, 15.0]
                    .iter()
                    .zip(2..)
                    .filter_map(|(begin, id)| (*begin..begin + 0.5).contains(&secs).then_some(id)),
            );
            ids
        };
        steps(&mut counting, 0..17, present);
        let (tracks, count) = links.board.read();
        assert_eq!((tracks.len(), count.now, count.today), (1, 1, 1));
        steps(&mut counting, 17..40, present);
        let (tracks, count) = links.board.read();
        assert_eq!((tracks.len(), count.now, count.today), (0, 0, 1));
        let store = CountStore::open_to_read(&file(&folder).path).unwrap();
        let sums = &store.intervals(0, i64::MAX).unwrap()[0].sums;
        assert_eq!((sums.arrivals, sums.departures), (1, 1));
        let events = board.events.after(0, Duration::ZERO).events;
        let events: Vec<&EventKind> = events.iter().map(|event| &event.kind).collect();
        assert!(
            matches!(
                events[..],
                [
                    EventKind::VisitorArrived { id: 1 },
                    EventKind::VisitorLeft { id: 1, .. }
                ]
            ),
            "{events:?}"
        );
    }

    #[test]
    fn a_program_that_starts_again_goes_on_with_the_number_of_the_day() {
        let folder = tempfile::tempdir().unwrap();
        let links = CountingLinks::default();
        let mut first = Counting::new(&links, Some(file(&folder)));
        steps(&mut first, 0..5, |_| vec![1, 2]);
        first.end(now());
        let mut second = Counting::new(&links, Some(file(&folder)));
        steps(&mut second, 60..63, |_| vec![3]);
        assert_eq!(links.board.read().1.today, 3);
        steps(&mut second, 86_400..86_401, |_| vec![]);
        assert_eq!(links.board.read().1.today, 0, "the next day");
    }

    /// A fixed bug: a visitor of a recording whose track outlived the rehearsal was counted, and one who had been there before was counted
    /// twice.
    #[test]
    fn a_visitor_of_a_rehearsal_is_not_counted_after_it_and_a_real_one_only_once() {
        let links = CountingLinks::default();
        let mut counting = Counting::new(&links, None);
        steps(&mut counting, 0..5, |_| vec![1]);
        let recording = ("a.y4m".into(), HandEnd::Never);
        links.show.set_rehearsal(Some(recording), Instant::now());
        steps(&mut counting, 5..30, |_| vec![2, 3]);
        links.show.set_rehearsal(None, Instant::now());
        // Track 3 of the recording lasts. Visitor 1, who has stayed, is a new track.
        steps(&mut counting, 30..50, |_| vec![3, 4]);
        let (_, count) = links.board.read();
        assert_eq!((count.now, count.today), (0, 1));
        steps(&mut counting, 50..55, |_| vec![3, 5]);
        assert_eq!(links.board.read().1.today, 2);
        // A number that comes again after it was gone is somebody else.
        steps(&mut counting, 55..70, |_| vec![]);
        steps(&mut counting, 70..75, |_| vec![3]);
        assert_eq!(links.board.read().1.today, 3);
    }

    #[test]
    fn nothing_is_counted_in_a_rehearsal_or_stored_while_the_clock_is_not_set() {
        let folder = tempfile::tempdir().unwrap();
        let links = CountingLinks::default();
        let mut counting = Counting::new(&links, Some(file(&folder)));
        let recording = ("a.y4m".into(), HandEnd::Never);
        links.show.set_rehearsal(Some(recording), Instant::now());
        steps(&mut counting, 0..5, |_| vec![1]);
        let (tracks, count) = links.board.read();
        assert_eq!((tracks.len(), count), (1, VisitorStatus::default()));
        links.show.set_rehearsal(None, Instant::now());
        let in_1970 = Timestamp::from_second(100).unwrap();
        // After the last tracks of the recording.
        for quarter in 64..84 {
            let now = counting.started + Duration::from_millis(250 * quarter);
            links.visitors.put(&mut vec![visitor(2)]);
            counting.step(in_1970, now);
        }
        assert_eq!(links.board.read().1.today, 1);
        counting.end(in_1970);
        assert!(!file(&folder).path.exists());
    }
}
