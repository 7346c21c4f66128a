//! A key exchange that a short code authenticates: SPAKE2 (Abdalla and Pointcheval 2005).
//!
//! Both sides get the same key only if both know the code. Each attempt tests one code, and nothing that is sent allows to test more
//! of them later.

/// The side of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The node that joins.
    Joiner,
    /// The machine with the authority.
    Inviter,
}

#[cfg(feature = "zenoh")]
pub(super) use with_spake2::Exchange;
#[cfg(not(feature = "zenoh"))]
pub(super) use without::Exchange;

#[cfg(feature = "zenoh")]
mod with_spake2 {
    use spake2::{Ed25519Group, Identity, Password, Spake2};

    use super::Side;

    const JOINER: &[u8] = b"shoal joiner";
    const INVITER: &[u8] = b"shoal inviter";

    /// A key exchange that waits for the message of the other side.
    pub(in crate::cluster) struct Exchange(Spake2<Ed25519Group>);

    impl Exchange {
        /// Begins an exchange. Returns also the message for the other side; `None` if this Shoal was built without clusters.
        pub(in crate::cluster) fn begin(code: &str, side: Side) -> Option<(Self, Vec<u8>)> {
            let (joiner, inviter) = (Identity::new(JOINER), Identity::new(INVITER));
            let code = Password::new(code);
            let (state, message) = match side {
                Side::Joiner => Spake2::<Ed25519Group>::start_a(&code, &joiner, &inviter),
                Side::Inviter => Spake2::<Ed25519Group>::start_b(&code, &joiner, &inviter),
            };
            Some((Self(state), message))
        }

        /// Returns the key; `None` if the message is not one of this exchange.
        pub(in crate::cluster) fn finish(self, message: &[u8]) -> Option<Vec<u8>> {
            self.0.finish(message).ok()
        }
    }
}

#[cfg(not(feature = "zenoh"))]
mod without {
    use super::Side;

    /// No exchange: this Shoal was built without clusters.
    pub(in crate::cluster) struct Exchange;

    impl Exchange {
        pub(in crate::cluster) fn begin(_code: &str, _side: Side) -> Option<(Self, Vec<u8>)> {
            None
        }

        pub(in crate::cluster) fn finish(self, _message: &[u8]) -> Option<Vec<u8>> {
            None
        }
    }
}
