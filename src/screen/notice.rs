//! The text on the floor: what the calibration waits for, its result, the question before the program ends, and how to open the
//! operator's panel until a password is set.
//!
//! In: texts from the vision stage, from the keys and from the panel. Out: the text to draw now. The render stage copies a reference,
//! so a text costs the picture nothing but its letters.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::render::FloorNotice;
use crate::site::Language;

/// Time within which the program ends if the second key is pressed.
const END_TIME: Duration = Duration::from_secs(3);

/// The texts on the floor. Copies share their content.
#[derive(Clone, Debug, Default)]
pub struct NoticeBoard(Arc<Mutex<Notices>>);

#[derive(Debug, Default)]
struct Notices {
    language: Language,
    /// Text of the calibration, and the time until which it is shown; `None` for no limit.
    calibration: Option<(Arc<FloorNotice>, Option<Instant>)>,
    /// Question before the end of the program, and the time until which it can be answered.
    end: Option<(Arc<FloorNotice>, Instant)>,
    /// How to open the panel.
    setup: Option<Arc<FloorNotice>>,
}

impl NoticeBoard {
    /// Sets the language of all later texts.
    pub fn set_language(&self, language: Language) {
        self.0.lock().language = language;
    }

    /// Returns the language.
    pub fn language(&self) -> Language {
        self.0.lock().language
    }

    /// Shows a text of the calibration, for at most `time`. An empty text removes it.
    pub fn show(&self, notice: FloorNotice, time: Option<Duration>) {
        let mut notices = self.0.lock();
        let until = time.map(|time| Instant::now() + time);
        notices.calibration = match &notices.calibration {
            _ if notice.text.is_empty() => None,
            Some((shown, _)) if **shown == notice => Some((Arc::clone(shown), until)),
            _ => Some((Arc::new(notice), until)),
        };
    }

    /// Shows how to open the panel, while no other text is shown; `None` removes it.
    pub fn show_setup(&self, notice: Option<FloorNotice>) {
        self.0.lock().setup = notice.map(Arc::new);
    }

    /// Asks for the second key that ends the program.
    pub fn ask_for_end(&self, now: Instant) {
        let mut notices = self.0.lock();
        let text = notices.language.choose(
            "End Shoal? Press Q within 3 seconds.",
            "Shoal beenden? Innerhalb von 3 Sekunden Q drücken.",
        );
        let notice = FloorNotice {
            text: text.to_owned(),
            ..FloorNotice::default()
        };
        notices.end = Some((Arc::new(notice), now + END_TIME));
    }

    /// Whether the question before the end is being asked.
    pub fn is_end_asked(&self, now: Instant) -> bool {
        let notices = self.0.lock();
        notices.end.as_ref().is_some_and(|(_, until)| now < *until)
    }

    /// Returns the text to draw; `None` if there is none.
    pub fn current(&self, now: Instant) -> Option<Arc<FloorNotice>> {
        let notices = self.0.lock();
        if let Some((notice, until)) = &notices.end
            && now < *until
        {
            return Some(Arc::clone(notice));
        }
        if let Some((notice, until)) = &notices.calibration
            && until.is_none_or(|until| now < until)
        {
            return Some(Arc::clone(notice));
        }
        notices.setup.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(board: &NoticeBoard, now: Instant) -> String {
        board
            .current(now)
            .map_or(String::new(), |notice| notice.text.clone())
    }

    #[test]
    fn the_question_before_the_end_covers_the_calibration_for_three_seconds() {
        let board = NoticeBoard::default();
        let now = Instant::now();
        let notice = FloorNotice {
            text: "Target 1".to_owned(),
            ..FloorNotice::default()
        };
        board.show(notice.clone(), None);
        board.set_language(Language::De);
        board.ask_for_end(now);
        assert!(board.is_end_asked(now + Duration::from_millis(2900)));
        assert!(text(&board, now).contains("Q drücken"));
        let later = now + END_TIME;
        assert!(!board.is_end_asked(later));
        assert_eq!(text(&board, later), "Target 1");
        let setup = FloorNotice {
            text: "Open the panel".to_owned(),
            ..FloorNotice::default()
        };
        board.show_setup(Some(setup));
        assert_eq!(text(&board, later), "Target 1");
        board.show(notice, Some(Duration::ZERO));
        assert_eq!(text(&board, later), "Open the panel");
        board.show_setup(None);
        assert_eq!(text(&board, later), "");
    }
}
