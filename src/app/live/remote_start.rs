//! Starts the stages that talk to other machines.

use std::sync::Arc;

use super::LivePool;
use crate::remote::{
    MqttEndpoint, OscEndpoint, PositionSender, ProjectorEndpoint, RemoteStatus, SacnEndpoint,
    WebhookEndpoint,
};
use crate::runtime::HangPolicy;
use crate::site::SiteFile;

impl LivePool {
    /// Starts the stages that communicate with other machines, and returns their status. A second instance of the program starts none.
    pub(super) fn start_remote(&mut self, site: &SiteFile) -> anyhow::Result<RemoteStatus> {
        let (status, params) = (RemoteStatus::default(), &site.remote);
        if !self.keeps_state {
            return Ok(status);
        }
        let fault = self.journal.fault("remote.osc");
        let osc = Arc::clone(&status.osc);
        if let Some(mut endpoint) = OscEndpoint::new(&params.osc, self.client.clone(), osc, fault) {
            self.supervisor
                .start("osc", HangPolicy::WaitAtEnd, move |heartbeat| {
                    endpoint.run(heartbeat);
                })?;
        }
        let fault = self.journal.fault("remote.sacn");
        let sacn = Arc::clone(&status.sacn);
        if let Some(mut endpoint) =
            SacnEndpoint::new(&params.sacn, self.client.clone(), sacn, fault)
        {
            self.supervisor
                .start("sacn", HangPolicy::WaitAtEnd, move |heartbeat| {
                    endpoint.run(heartbeat);
                })?;
        }
        let mqtt = Arc::clone(&status.mqtt);
        let fault = self.journal.fault("remote.mqtt");
        if let Some(mut endpoint) =
            MqttEndpoint::new(&params.mqtt, self.client.clone(), mqtt, fault)
        {
            self.supervisor
                .start("mqtt", HangPolicy::WaitAtEnd, move |heartbeat| {
                    endpoint.run(heartbeat).map_err(anyhow::Error::from)
                })?;
        }
        let (shared, positions) = (Arc::clone(&self.shared), Arc::clone(&status.positions));
        if let Some(mut sender) = PositionSender::new(params, &site.surface, shared, positions) {
            self.supervisor
                .start("positions", HangPolicy::WaitAtEnd, move |heartbeat| {
                    sender.run(heartbeat).map_err(anyhow::Error::from)
                })?;
        }
        for mut endpoint in WebhookEndpoint::all(
            &params.webhooks,
            &self.client,
            &status.webhooks,
            &self.journal,
        ) {
            self.supervisor
                .start("webhooks", HangPolicy::WaitAtEnd, move |heartbeat| {
                    endpoint.run(heartbeat);
                })?;
        }
        for mut endpoint in ProjectorEndpoint::all(
            &params.projectors,
            &self.client,
            &status.projectors,
            &self.journal,
        ) {
            self.supervisor
                .start("projectors", HangPolicy::WaitAtEnd, move |heartbeat| {
                    endpoint.run(heartbeat);
                })?;
        }
        Ok(status)
    }
}
