use std::sync::atomic::AtomicBool;

use super::*;
use crate::runtime::FaultLedger;
use crate::sound::{Player, SoundKind};

/// A simulated sound device that can be plugged in and out.
#[derive(Clone, Default)]
struct FakeOutput {
    is_there: Arc<AtomicBool>,
    players: Arc<Mutex<Vec<Player>>>,
    opened: Arc<AtomicU64>,
}

struct FakeDevice(Arc<AtomicBool>);

impl OpenOutput for FakeDevice {
    fn name(&self) -> &str {
        "fake"
    }

    fn problem(&self) -> Option<String> {
        let is_there = self.0.load(Ordering::Relaxed);
        (!is_there).then(|| "it was unplugged".to_owned())
    }
}

impl SoundOutput for FakeOutput {
    fn open(
        &self,
        _: &WantedOutput,
        player: &mut dyn FnMut(u32) -> Player,
    ) -> Result<Box<dyn OpenOutput>, OutputError> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        if !self.is_there.load(Ordering::Relaxed) {
            return Err(OutputError::NoDevice(String::new()));
        }
        self.players.lock().push(player(48_000));
        Ok(Box::new(FakeDevice(Arc::clone(&self.is_there))))
    }
}

struct Bench {
    output: FakeOutput,
    ledger: FaultLedger,
    board: Arc<SoundBoard>,
    show: ShowControl,
    stage: SoundStage,
    run: Run,
    now: Instant,
    sender: SoundSender,
}

impl Bench {
    fn new(params: SoundParams) -> Self {
        let (output, ledger, show) = (
            FakeOutput::default(),
            FaultLedger::default(),
            ShowControl::default(),
        );
        let board = Arc::<SoundBoard>::default();
        board.want(WantedSound {
            speakers: params.all_speakers([2.0, 1.5]),
            waters: Waters::new(1.0, [2.0, 1.5], []),
            params,
        });
        let (sender, events) = sound_queue(&board);
        let stage = SoundStage::new(SoundLinks {
            board: Arc::clone(&board),
            events,
            show: show.clone(),
            fault: Fault::new("sound", &ledger),
            output: Box::new(output.clone()),
        });
        Self {
            output,
            ledger,
            board,
            show,
            stage,
            run: Run::new(false),
            now: Instant::now(),
            sender,
        }
    }

    /// Lets time pass in steps. The device takes samples. Returns the largest sample of each channel.
    fn pass(&mut self, secs: f32) -> [f32; 2] {
        let mut peaks = [0.0_f32; 2];
        for _ in 0..(secs / STEP_INTERVAL.as_secs_f32()).round() as u32 {
            while let Ok(event) = self.stage.links.events.try_recv() {
                self.run.begin(event, &self.board);
            }
            self.stage.step(&mut self.run, self.now);
            self.now += STEP_INTERVAL;
            if let Some(player) = self.output.players.lock().last_mut() {
                let mut out = [0.0; 2 * 2400];
                player.fill(&mut out);
                for frame in out.chunks(2) {
                    peaks = [peaks[0].max(frame[0].abs()), peaks[1].max(frame[1].abs())];
                }
            }
        }
        peaks
    }

    fn faults(&self) -> Vec<String> {
        let active = self.ledger.active(self.now);
        active.into_iter().map(|fault| fault.detail).collect()
    }
}

#[test]
fn a_machine_without_a_device_runs_silent_without_a_fault_and_tries_again() {
    let mut bench = Bench::new(SoundParams::default());
    bench.pass(150.0);
    assert_eq!(
        bench.output.opened.load(Ordering::Relaxed),
        3,
        "at 0, 60 and 120 s"
    );
    assert_eq!(bench.faults(), [""; 0]);
    let status = bench.board.status();
    assert!(
        status.device.is_empty() && status.problem.contains("no sound device"),
        "{status:?}"
    );
    bench.output.is_there.store(true, Ordering::Relaxed);
    bench.pass(40.0);
    assert_eq!(bench.board.status().device, "fake");
}

#[test]
fn a_site_that_demands_sound_has_a_fault_without_a_device() {
    let mut bench = Bench::new(SoundParams {
        required: true,
        ..SoundParams::default()
    });
    bench.pass(1.0);
    assert!(
        bench.faults()[0].contains("connect a sound device"),
        "{:?}",
        bench.faults()
    );
    bench.output.is_there.store(true, Ordering::Relaxed);
    bench.pass(61.0);
    assert_eq!(bench.faults(), [""; 0]);
}

#[test]
fn a_lost_device_is_a_fault_until_it_is_back() {
    let mut bench = Bench::new(SoundParams::default());
    bench.output.is_there.store(true, Ordering::Relaxed);
    let peaks = bench.pass(8.0);
    assert!(peaks[0] > 0.001 && peaks[1] > 0.001, "{peaks:?}");
    bench.output.is_there.store(false, Ordering::Relaxed);
    bench.pass(1.0);
    let faults = bench.faults();
    assert!(
        faults.len() == 1 && faults[0].contains("it was unplugged")
            || faults[0].contains("no sound device"),
        "{faults:?}"
    );
    bench.pass(30.0);
    bench.output.is_there.store(true, Ordering::Relaxed);
    bench.pass(16.0);
    assert_eq!(
        (bench.faults(), bench.board.status().device.as_str()),
        (vec![], "fake")
    );
    assert!(bench.pass(5.0)[0] > 0.001, "it plays again");
}

#[test]
fn a_device_that_takes_no_samples_is_opened_again() {
    let mut bench = Bench::new(SoundParams::default());
    bench.output.is_there.store(true, Ordering::Relaxed);
    bench.pass(1.0);
    bench.output.players.lock().clear();
    let opened = bench.output.opened.load(Ordering::Relaxed);
    for _ in 0..100 {
        bench.stage.step(&mut bench.run, bench.now);
        bench.now += STEP_INTERVAL;
    }
    assert!(bench.output.opened.load(Ordering::Relaxed) > opened);
}

#[test]
fn a_dark_pool_and_one_that_stands_still_are_silent() {
    let mut bench = Bench::new(SoundParams::default());
    bench.output.is_there.store(true, Ordering::Relaxed);
    bench.pass(6.0);
    for state in [ShowState::Dark, ShowState::Closed] {
        bench.show.set(ShowState::Open, bench.now);
        assert!(bench.pass(6.0)[0] > 0.001);
        bench.show.set(state, bench.now);
        bench.pass(5.0);
        bench.sender.send(SoundEvent {
            kind: SoundKind::Splash,
            at_m: [0.0, 0.0],
            strength: 1.0,
            size_m: 0.1,
        });
        assert_eq!(bench.pass(2.0), [0.0, 0.0], "digital zero");
        assert!(!bench.board.status().is_heard);
    }
    bench.show.set(ShowState::Attract, bench.now);
    let quiet = bench.pass(10.0)[0];
    bench.show.set(ShowState::Open, bench.now);
    bench.pass(1.0);
    let usual = bench.pass(10.0)[0];
    assert!(quiet > 0.0 && quiet < 0.6 * usual, "{quiet} {usual}");
    bench
        .show
        .pause(Some(crate::control::HandEnd::Never), bench.now)
        .unwrap();
    bench.pass(5.0);
    assert_eq!(bench.pass(1.0), [0.0, 0.0]);
}

#[test]
fn a_test_tone_comes_from_one_loudspeaker_after_the_other() {
    let mut bench = Bench::new(SoundParams::default());
    bench.pass(1.0);
    assert!(
        bench
            .board
            .request_test(None)
            .unwrap_err()
            .contains("no sound device")
    );
    bench.output.is_there.store(true, Ordering::Relaxed);
    bench.pass(61.0);
    bench.show.set(ShowState::Closed, bench.now);
    bench.pass(5.0);
    let unknown = bench.board.request_test(Some("top")).unwrap_err();
    assert!(unknown.contains("`left`, `right`"), "{unknown}");
    bench.board.request_test(Some("right")).unwrap();
    let [left, right] = bench.pass(1.9);
    assert!(left == 0.0 && right > 0.05, "{left} {right}");
    bench.board.request_test(None).unwrap();
    let [left, right] = bench.pass(1.9);
    assert!(left > 0.05 && right == 0.0, "{left} {right}");
    let [left, right] = bench.pass(1.9);
    assert!(left < 0.05 && right > 0.05, "{left} {right}");
}

#[test]
fn a_stage_that_hangs_does_not_hold_up_the_pool() {
    let bench = Bench::new(SoundParams::default());
    let event = SoundEvent {
        kind: SoundKind::Step,
        at_m: [0.0, 0.0],
        strength: 1.0,
        size_m: 0.1,
    };
    let begun = Instant::now();
    for _ in 0..1000 {
        bench.sender.send(event);
    }
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(bench.board.status().rejected, 1000 - EVENTS_MAX as u64);
}
