//! Limits the number of wrong passwords, PINs and codes. Each address and each account has a bucket of attempts that refills
//! slowly.
//!
//! An attacker can use up the attempts of his own address, but not those of the owner: the bucket of an account refills faster
//! than one address can empty it, and a device on which the owner has logged in before, and a session, have a bucket of their own
//! and no other. A bucket never has a key that a client can make as many of as it wants: the attempts with PINs count for the user
//! who remembered the device, and for all PINs together. Must not: read a clock.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::secrets::SecretHash;

/// Largest number of buckets. The least recently used one is removed; it has refilled most.
const BUCKETS_MAX: usize = 4096;

/// What the attempts are counted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Attempt {
    /// An address.
    Address(IpAddr),
    /// The network of an IPv6 address. A client can have all addresses in it, but others of the same house are in it too.
    Network(IpAddr),
    /// An account, from devices that are not known for it. Unknown names have buckets too, so they answer the same.
    Account(String),
    /// The password of an account from a known device.
    Device(SecretHash),
    /// The password of a user who has logged in, from this session.
    Session(SecretHash),
    /// A PIN, from the devices that this user remembered. Short PINs need slow attempts.
    Pins(String),
    /// The same, for a long time: nobody mistypes so many.
    PinsOfDay(String),
    /// A PIN from any device.
    AllPins,
}

impl Attempt {
    /// Returns the attempts of an address.
    pub(crate) fn of_address(address: IpAddr) -> Vec<Self> {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                let network = IpAddr::from([a, b, c, d, 0, 0, 0, 0]);
                vec![Self::Address(address.into()), Self::Network(network)]
            }
            address => vec![Self::Address(address)],
        }
    }

    /// Returns the attempts with PINs on the devices of a user.
    pub(crate) fn of_pins(user: &str) -> Vec<Self> {
        let user = || user.to_owned();
        vec![Self::Pins(user()), Self::PinsOfDay(user()), Self::AllPins]
    }

    /// Returns the name of the widest of these for people: an IPv4 address, or an IPv6 network.
    pub(crate) fn place_name(address: IpAddr) -> String {
        match Self::of_address(address).pop() {
            Some(Self::Network(network)) => format!("{network}/64"),
            _ => address.to_canonical().to_string(),
        }
    }

    /// Returns the number of attempts at once, and the time for one more.
    fn limits(&self) -> (f64, Duration) {
        match self {
            Self::Address(_) => (10.0, Duration::from_secs(30)),
            Self::Account(_) => (30.0, Duration::from_secs(5)),
            Self::Network(_) => (100.0, Duration::from_secs(3)),
            Self::Device(_) | Self::Session(_) => (10.0, Duration::from_secs(10)),
            Self::Pins(_) => (10.0, Duration::from_secs(300)),
            Self::PinsOfDay(_) => (50.0, Duration::from_secs(1800)),
            // Refills faster than one user can empty it.
            Self::AllPins => (30.0, Duration::from_secs(60)),
        }
    }
}

#[derive(Debug)]
struct Bucket {
    /// Attempts that are left at `at`.
    left: f64,
    at: Instant,
}

/// The buckets of all addresses, accounts and devices.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    buckets: HashMap<Attempt, Bucket>,
}

impl Throttle {
    /// Takes an attempt out of every bucket, or none.
    ///
    /// # Errors
    /// The time until the next attempt is allowed.
    pub(crate) fn take(&mut self, attempts: &[Attempt], now: Instant) -> Result<(), Duration> {
        let wait = attempts.iter().map(|a| self.wait(a, now)).max();
        match wait {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => {
                attempts
                    .iter()
                    .for_each(|attempt| self.change(attempt, -1.0, now));
                Ok(())
            }
        }
    }

    /// Gives an attempt that succeeded back.
    pub(crate) fn give_back(&mut self, attempts: &[Attempt], now: Instant) {
        attempts
            .iter()
            .for_each(|attempt| self.change(attempt, 1.0, now));
    }

    fn left(&self, attempt: &Attempt, now: Instant) -> f64 {
        let (most, refill) = attempt.limits();
        self.buckets.get(attempt).map_or(most, |bucket| {
            let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.left + passed / refill.as_secs_f64()).min(most)
        })
    }

    fn wait(&self, attempt: &Attempt, now: Instant) -> Duration {
        let (_, refill) = attempt.limits();
        let missing = (1.0 - self.left(attempt, now)).clamp(0.0, 1.0);
        // Less than a microsecond is an error of rounding.
        Duration::from_micros((refill.as_secs_f64() * missing * 1e6) as u64)
    }

    fn change(&mut self, attempt: &Attempt, by: f64, now: Instant) {
        let (most, _) = attempt.limits();
        let left = (self.left(attempt, now) + by).min(most);
        if !self.buckets.contains_key(attempt) && self.buckets.len() >= BUCKETS_MAX {
            let oldest = self.buckets.iter().min_by_key(|(_, bucket)| bucket.at);
            if let Some(oldest) = oldest.map(|(attempt, _)| attempt.clone()) {
                self.buckets.remove(&oldest);
            }
        }
        self.buckets
            .insert(attempt.clone(), Bucket { left, at: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Vec<Attempt> {
        Attempt::of_address(text.parse().unwrap())
    }

    fn with(mut attempts: Vec<Attempt>, further: Attempt) -> Vec<Attempt> {
        attempts.push(further);
        attempts
    }

    #[test]
    fn one_address_cannot_lock_the_owner_out() {
        let mut throttle = Throttle::default();
        let start = Instant::now();
        let account = Attempt::Account("ada".into());
        let attacker = with(address("10.0.0.66"), account.clone());
        let mut tried = 0;
        // An hour of an attempt every second.
        for second in 0..3600 {
            let now = start + Duration::from_secs(second);
            tried += u32::from(throttle.take(&attacker, now).is_ok());
            let owner = with(address("10.0.0.1"), account.clone());
            assert!(
                throttle.take(&owner, now).is_ok(),
                "locked out after {second} s"
            );
            throttle.give_back(&owner, now);
        }
        assert!((10..=131).contains(&tried), "{tried} attempts in an hour");
    }

    #[test]
    fn a_known_device_is_not_affected_by_attacks_from_everywhere() {
        let mut throttle = Throttle::default();
        let now = Instant::now();
        let mut tried = 0;
        for host in 0..200_u8 {
            let attempt = with(
                Attempt::of_address(IpAddr::from([10, 0, 1, host])),
                Attempt::Account("ada".into()),
            );
            tried += u32::from(throttle.take(&attempt, now).is_ok());
        }
        assert_eq!(tried, 30);
        let owner = [Attempt::Device([7; 32])];
        assert_eq!(throttle.take(&owner, now), Ok(()));
    }

    #[test]
    fn memory_is_bounded() {
        assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
        let mut throttle = Throttle::default();
        let now = Instant::now();
        for n in 0..BUCKETS_MAX as u32 + 50 {
            let attempt = Attempt::of_address(IpAddr::from(n.to_be_bytes()));
            assert_eq!(throttle.take(&attempt, now), Ok(()));
        }
        assert_eq!(throttle.buckets.len(), BUCKETS_MAX);
    }

    /// A fixed bug: all hosts of a network share its first 64 bits, so one of them locked the others out.
    #[test]
    fn one_host_of_an_ipv6_network_locks_no_other_one_out() {
        let mut throttle = Throttle::default();
        let start = Instant::now();
        let mut tried = 0;
        for second in 0..600 {
            let now = start + Duration::from_secs(second);
            tried += u32::from(throttle.take(&address("fe80::66"), now).is_ok());
            assert_eq!(
                throttle.take(&address("fe80::1"), now).is_ok(),
                second < 10 || second % 30 == 0
            );
            assert_eq!(throttle.take(&address("2001:db8::1"), start), Ok(()));
            throttle.give_back(&address("2001:db8::1"), start);
        }
        assert!((10..=31).contains(&tried), "{tried}");
        // A host that takes all addresses of its network is limited too.
        let now = start + Duration::from_secs(3600);
        let hosts = (0..1000_u16).map(|n| address(&format!("fe80::{n:x}")));
        let tried = hosts
            .filter(|host| throttle.take(host, now).is_ok())
            .count();
        assert_eq!(tried, 100);
    }

    /// A fixed bug: a device on which one user had logged in was good for 288 wrong PINs of all users a day.
    #[test]
    fn a_device_is_good_for_few_wrong_pins_a_day() {
        let mut throttle = Throttle::default();
        let start = Instant::now();
        let pins = Attempt::of_pins("vera");
        let tried = |throttle: &mut Throttle, day: u64| {
            let minutes =
                (day * 1440..(day + 1) * 1440).map(|n| start + Duration::from_secs(60 * n));
            minutes
                .filter(|now| throttle.take(&pins, *now).is_ok())
                .count()
        };
        assert!((50..=98).contains(&tried(&mut throttle, 0)));
        assert!(tried(&mut throttle, 1) <= 49);
        assert_eq!(throttle.take(&Attempt::of_pins("otto"), start), Ok(()));
    }

    #[test]
    fn the_wait_is_the_time_until_the_next_attempt() {
        let mut throttle = Throttle::default();
        let now = Instant::now();
        let pin = [Attempt::Pins("vera".into())];
        for _ in 0..10 {
            assert_eq!(throttle.take(&pin, now), Ok(()));
        }
        let wait = throttle.take(&pin, now).unwrap_err();
        assert!(throttle.take(&pin, now + wait / 2).is_err());
        assert_eq!(throttle.take(&pin, now + wait), Ok(()));
    }
}
