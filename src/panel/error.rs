//! Errors as every route answers them: `{"error":{"code","message","problems":[…]}}`.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::access::NoSecret;
use crate::control::{Reason, Undelivered};

/// An answer other than success.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    /// Name of the error for programs.
    code: &'static str,
    /// The problem and its remedy, for people.
    message: String,
    problems: Vec<Reason>,
    /// Time after which it is worth to try again.
    retry_after: Option<Duration>,
    /// What was refused, if the sender had no right to it. For the audit trail.
    refused: Option<Refused>,
}

/// What was refused because the sender had no right to it, beside the path of the request. It travels with the answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refused(pub(crate) String);

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            problems: Vec::new(),
            retry_after: None,
            refused: (status == StatusCode::FORBIDDEN).then(Refused::default),
        }
    }

    /// Says what was refused.
    #[must_use]
    pub(crate) fn refusing(mut self, what: &str) -> Self {
        self.refused = Some(Refused(what.to_owned()));
        self
    }

    /// Returns the problem and its remedy, for people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Whether too many wrong attempts were the reason.
    pub(crate) fn is_throttled(&self) -> bool {
        self.status == StatusCode::TOO_MANY_REQUESTS
    }

    /// Whether a secret was wrong.
    pub(crate) fn is_of_wrong_secret(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    /// The request cannot be understood.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// There is no valid session or token.
    pub(crate) fn not_logged_in() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "not_logged_in", "log in first")
    }

    /// The password, the PIN or the code is wrong. Says nothing about which part.
    pub(crate) fn wrong_credentials(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "wrong_credentials", message)
    }

    /// The role of the sender is too low.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// The user has to enter the password again: `POST /api/v1/confirm`, and then the same request once more.
    pub(crate) fn password_needed() -> Self {
        let message = "enter your password again first";
        Self::new(StatusCode::FORBIDDEN, "password_needed", message)
    }

    /// The path does not exist.
    pub(crate) fn not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            "there is nothing at this address",
        )
    }

    /// The request is larger than allowed.
    pub(crate) fn too_large(bytes_max: usize) -> Self {
        let message = format!("the request is larger than {bytes_max} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// The request is understood, but a rule forbids it.
    pub(crate) fn rejected(message: impl Into<String>, problems: Vec<Reason>) -> Self {
        Self {
            problems,
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "rejected", message)
        }
    }

    /// There were too many wrong attempts.
    pub(crate) fn throttled(wait: Duration) -> Self {
        let secs = wait.as_secs() + 1;
        Self {
            retry_after: Some(Duration::from_secs(secs)),
            ..Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                "throttled",
                format!("too many wrong attempts; try again in {secs} s"),
            )
        }
    }

    /// Too much is going on at once.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self {
            retry_after: Some(Duration::from_secs(1)),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
        }
    }

    /// The requested value does not exist at present.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
    }
}

impl From<NoSecret> for ApiError {
    fn from(error: NoSecret) -> Self {
        Self::unavailable(error.to_string())
    }
}

impl ApiError {
    /// A command that may be from a time in which the program did not run.
    pub(crate) fn stopped() -> Self {
        let message = "Shoal did not run for some seconds, so this was not done; send it again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", message)
    }
}

impl From<Undelivered> for ApiError {
    fn from(error: Undelivered) -> Self {
        match error {
            Undelivered::Busy => Self::busy(error.to_string()),
            Undelivered::Gone => Self::unavailable(error.to_string()),
            Undelivered::Late => Self::new(StatusCode::GATEWAY_TIMEOUT, "late", error.to_string()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self {
            code,
            message,
            problems,
            refused,
            ..
        } = self;
        let body = json!({"error": {"code": code, "message": message, "problems": problems}});
        let mut response = (self.status, Json(body)).into_response();
        if let Some(wait) = self.retry_after {
            let secs = HeaderValue::from(wait.as_secs());
            response.headers_mut().insert(header::RETRY_AFTER, secs);
        }
        if let Some(refused) = refused {
            response.extensions_mut().insert(refused);
        }
        response
    }
}
