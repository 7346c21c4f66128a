//! The body of an answer on its way to the client. It counts for its user until it is sent or the client is gone, and a client that
//! takes it too slowly loses it. Must not: copy the body.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use http_body::{Frame, SizeHint};

use super::user_requests::UserRequest;

/// Bytes that are given to the connection at once, so that the rest waits here, and counts, until the client has taken most of them.
const PIECE_BYTES: usize = 16 << 10;
/// Time that a client has for an answer, beside that for its bytes.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Slowest rate at which a client may take an answer for longer than [`ANSWER_TIME`], in bytes per second.
const BYTES_PER_SEC: f64 = 16_384.0;

/// Returns an answer whose body counts for its user until it is sent.
pub(super) fn hold(response: Response, going_on: Option<Arc<UserRequest>>) -> Response {
    response.map(|body| {
        Body::new(Answer {
            body,
            piece: Bytes::new(),
            given: 0,
            begun: Instant::now(),
            _going_on: going_on,
        })
    })
}

struct Answer {
    body: Body,
    /// What the body has given and the connection has not taken.
    piece: Bytes,
    /// Bytes that the connection has taken.
    given: usize,
    begun: Instant,
    _going_on: Option<Arc<UserRequest>>,
}

impl Answer {
    fn is_late(&self) -> bool {
        let for_bytes = Duration::from_secs_f64(self.given as f64 / BYTES_PER_SEC);
        self.begun.elapsed() > ANSWER_TIME + for_bytes
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.is_late() {
            let error = io::Error::from(io::ErrorKind::TimedOut);
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        if this.piece.is_empty() {
            let Some(frame) = ready!(Pin::new(&mut this.body).poll_frame(context)?) else {
                return Poll::Ready(None);
            };
            match frame.into_data() {
                Ok(data) => this.piece = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let piece = this.piece.split_to(PIECE_BYTES.min(this.piece.len()));
        this.given += piece.len();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.piece.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, piece) = (self.body.size_hint(), self.piece.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + piece);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + piece);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::{Identity, Role};
    use super::super::user_requests::UserRequests;
    use super::*;
    use axum::response::IntoResponse as _;
    use http_body_util::BodyExt as _;

    fn vera() -> Identity {
        Identity {
            name: "vera".to_owned(),
            role: Role::View,
            csrf: None,
        }
    }

    /// A fixed bug: a request counted until its answer was made, so a user who read no answer could let the server keep any number.
    #[tokio::test]
    async fn an_answer_counts_until_it_is_sent_or_dropped() {
        let requests: Arc<UserRequests> = Arc::default();
        let text = "x".repeat(3 * PIECE_BYTES + 1);
        let answer = |text: &str| {
            let going_on = requests.begin(&vera()).ok().map(Arc::new)?;
            Some(hold(text.to_owned().into_response(), Some(going_on)).into_body())
        };
        let mut unread = Vec::new();
        while let Some(mut body) = answer(&text) {
            assert_eq!(body.size_hint().exact(), Some(text.len() as u64));
            let frame = body.frame().await.unwrap().unwrap();
            assert_eq!(frame.into_data().unwrap().len(), PIECE_BYTES);
            assert!(!body.is_end_stream());
            unread.push(body);
        }
        assert!((20..100).contains(&unread.len()), "{}", unread.len());
        let sent = unread.pop().unwrap().collect().await.unwrap();
        assert_eq!(sent.to_bytes().len(), text.len() - PIECE_BYTES);
        let again = answer(&text).unwrap();
        assert!(answer(&text).is_none());
        drop(again);
        assert!(answer(&text).is_some());
    }

    /// A fixed bug: a client that took a byte every ten seconds kept an answer indefinitely.
    #[tokio::test]
    async fn a_client_that_takes_an_answer_too_slowly_loses_it() {
        let answer = |secs: u64| Answer {
            body: Body::from(vec![0; 4 << 20]),
            piece: Bytes::new(),
            given: 0,
            begun: Instant::now()
                .checked_sub(Duration::from_secs(secs))
                .unwrap(),
            _going_on: None,
        };
        let late = ANSWER_TIME.as_secs() + 5;
        assert!(Body::new(answer(late)).frame().await.unwrap().is_err());
        let mut steady = answer(late);
        steady.given = 10 * BYTES_PER_SEC as usize;
        let sent = Body::new(steady).collect().await.unwrap();
        assert_eq!(sent.to_bytes().len(), 4 << 20);
    }
}
