//! The link between the sound stage and the thread of the device: orders in one direction through a bounded queue without locks, a meter
//! in the other. The thread of the device never waits and never allocates memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rtrb::{Consumer, Producer, RingBuffer};

use super::engine::Engine;
use super::event::{SoundEvent, Waters};
use super::level::Levels;

/// Largest number of orders that wait. The device takes all of them every few milliseconds.
const ORDERS_MAX: usize = 64;

/// What the device's thread is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Begin an event.
    Begin(SoundEvent),
    /// Change what is to be heard.
    Levels(Levels),
    /// Change to other waters.
    Waters(Waters),
    /// Play a test tone on a channel.
    Test(usize),
}

/// What the device's thread measures.
#[derive(Debug, Default)]
pub struct SoundMeter {
    /// Largest sample since the last reading. Floats that are not negative have the order of their bits.
    peak: AtomicU32,
    frames: AtomicU64,
}

impl SoundMeter {
    /// Returns the largest sample since the last call.
    pub fn take_peak(&self) -> f32 {
        f32::from_bits(self.peak.swap(0, Ordering::Relaxed))
    }

    /// Number of frames that the device took.
    pub fn frames(&self) -> u64 {
        self.frames.load(Ordering::Relaxed)
    }
}

/// The end of the stage.
#[derive(Debug)]
pub struct Orders {
    queue: Producer<Order>,
    meter: Arc<SoundMeter>,
}

impl Orders {
    /// Passes an order on. Returns false if the queue is full.
    pub fn send(&mut self, order: Order) -> bool {
        self.queue.push(order).is_ok()
    }

    /// What the device's thread measures.
    pub fn meter(&self) -> &SoundMeter {
        &self.meter
    }
}

/// The end of the device.
#[derive(Debug)]
pub struct Player {
    engine: Engine,
    queue: Consumer<Order>,
    meter: Arc<SoundMeter>,
}

impl Player {
    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.engine.channels()
    }

    /// Carries out the orders and fills `out` with the next samples.
    pub fn fill(&mut self, out: &mut [f32]) {
        while let Ok(order) = self.queue.pop() {
            match order {
                Order::Begin(event) => self.engine.begin(event),
                Order::Levels(levels) => self.engine.set_levels(levels),
                Order::Waters(waters) => self.engine.set_waters(waters),
                Order::Test(channel) => self.engine.test(channel),
            }
        }
        self.engine.render(out);
        let peak = out
            .iter()
            .fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
        self.meter.peak.fetch_max(peak.to_bits(), Ordering::Relaxed);
        let frames = out.len() / self.engine.channels();
        self.meter
            .frames
            .fetch_add(frames as u64, Ordering::Relaxed);
    }
}

/// Links an engine with the stage that sends it orders.
#[must_use]
pub fn sound_link(engine: Engine) -> (Orders, Player) {
    let (sender, receiver) = RingBuffer::new(ORDERS_MAX);
    let meter = Arc::<SoundMeter>::default();
    let player = Player {
        engine,
        queue: receiver,
        meter: Arc::clone(&meter),
    };
    (
        Orders {
            queue: sender,
            meter,
        },
        player,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sound::SoundKind;

    const SPLASH: SoundEvent = SoundEvent {
        kind: SoundKind::Splash,
        at_m: [1.0, 0.0],
        strength: 1.0,
        size_m: 0.05,
    };

    #[test]
    fn a_full_queue_rejects_and_the_device_goes_on() {
        let (mut orders, mut player) =
            sound_link(Engine::new(48_000, &[[-1.0, 0.0], [1.0, 0.0]], 1));
        assert!(orders.send(Order::Levels(Levels::default())));
        // The pool fades in.
        player.fill(&mut vec![0.0; 2 * 5 * 48_000]);
        let taken = (0..500)
            .filter(|_| orders.send(Order::Begin(SPLASH)))
            .count();
        assert_eq!(taken, ORDERS_MAX);
        let mut out = vec![0.0; 2 * 48_000];
        player.fill(&mut out);
        assert_eq!(orders.meter().frames(), 6 * 48_000);
        let peak = orders.meter().take_peak();
        assert!(peak > 0.01 && peak <= Levels::default().limit, "{peak}");
        assert_eq!(orders.meter().take_peak(), 0.0);
        assert!(orders.send(Order::Test(0)), "there is room again");
    }

    #[test]
    fn the_thread_of_the_device_allocates_nothing() {
        let (mut orders, mut player) =
            sound_link(Engine::new(48_000, &[[-1.0, 0.0], [1.0, 0.0]], 1));
        let mut out = vec![0.0; 2 * 480];
        let waters = Waters::new(1.0, [2.0, 1.5], []);
        let counted = allocation_counter::measure(|| {
            orders.send(Order::Levels(Levels::default()));
            orders.send(Order::Waters(waters));
            for n in 0..500 {
                if n % 3 == 0 {
                    for kind in [
                        SoundKind::Splash,
                        SoundKind::Gulp,
                        SoundKind::Swish,
                        SoundKind::Step,
                    ] {
                        orders.send(Order::Begin(SoundEvent { kind, ..SPLASH }));
                    }
                }
                if n % 100 == 0 {
                    orders.send(Order::Test(1));
                }
                player.fill(&mut out);
            }
        });
        assert_eq!(counted.count_total, 0, "number of allocations");
    }
}
