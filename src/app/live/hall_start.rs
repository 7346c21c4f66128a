//! Starts the node of a hall.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::hall::{HallBoard, HallDesk, HallLinks, HallStage, HallTicks, hall_ends};
use crate::cluster::{ClusterParams, Guard, KeyFolder, LinkPlace, Role, open_link};
use crate::control::{DeskClient, Journal};
use crate::operation::ShowControl;
use crate::runtime::{HangPolicy, SETTLE_TIME, Supervisor, print_message};
use crate::simulation::SimulationParams;

/// Time between two looks at the list of members.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// The node of a hall that this program is.
#[derive(Clone, Debug)]
pub struct HallConfig {
    /// The table `[cluster]`.
    pub params: ClusterParams,
    /// Place of this node in the list of nodes.
    pub node: usize,
    /// What this node does.
    pub roles: Vec<Role>,
    /// The state folder, with the keys of this node.
    pub state: PathBuf,
}

impl HallConfig {
    /// Whether the cameras are opened: always on a single machine.
    pub(super) fn tracks(config: Option<&Self>) -> bool {
        config.is_none_or(|config| config.roles.contains(&Role::Track))
    }
}

/// The ends of the hall in the other stages.
#[derive(Default)]
pub(super) struct HallParts {
    pub(super) desk: Option<HallDesk>,
    pub(super) ticks: Option<HallTicks>,
    pub(super) board: Option<Arc<HallBoard>>,
}

/// What the hall stage shares with the rest of the program.
pub(super) struct HallShare<'a> {
    pub(super) simulation: &'a SimulationParams,
    pub(super) show: &'a ShowControl,
    pub(super) client: &'a DeskClient,
    pub(super) journal: &'a Journal,
}

fn place(config: &HallConfig) -> LinkPlace {
    let nodes = config.params.nodes.iter().enumerate();
    let others = nodes.filter(|(index, _)| *index != config.node);
    let own = config.params.nodes.get(config.node);
    LinkPlace {
        hall: config.params.hall.clone(),
        listen: own.map(|node| node.address.clone()).unwrap_or_default(),
        connect: others.map(|(_, node)| node.address.clone()).collect(),
        discovery: config.params.discovery,
    }
}

/// Opens the network and starts the stage; nothing on a single machine.
pub(super) fn start_hall(
    supervisor: &mut Supervisor,
    config: Option<HallConfig>,
    share: &HallShare<'_>,
) -> anyhow::Result<HallParts> {
    let Some(config) = config else {
        return Ok(HallParts::default());
    };
    let keyring = KeyFolder::new(&config.state).open()?;
    let name = keyring.node().to_owned();
    let link = open_link(place(&config), &keyring.security())?;
    let mut guard = Guard::new(keyring, Arc::clone(&link))?;
    let roles: Vec<_> = config.roles.iter().map(|role| role.word()).collect();
    print_message(&format!(
        "hall: {}, node {name} ({})",
        config.params.hall,
        roles.join(", ")
    ));
    let (ends, desk, ticks) = hall_ends();
    let board = Arc::clone(&desk.board);
    let links = HallLinks {
        params: config.params,
        node: config.node,
        roles: config.roles,
        link,
        simulation: share.simulation.clone(),
        show: share.show.clone(),
        desk: share.client.clone(),
        journal: share.journal.clone(),
    };
    let mut stage = HallStage::new(links, ends);
    stage.subscribe()?;
    supervisor.start("hall", HangPolicy::WaitAtEnd, move |heartbeat| {
        stage.run(heartbeat);
    })?;
    let mut fault = share.journal.fault("hall").settling(SETTLE_TIME);
    supervisor.start("hall-keys", HangPolicy::WaitAtEnd, move |heartbeat| {
        while heartbeat.sleep(WATCH_INTERVAL) {
            match guard.watch() {
                Ok(_) => fault.clear(),
                Err(error) => {
                    fault.raise(&error);
                }
            }
        }
    })?;
    Ok(HallParts {
        desk: Some(desk),
        ticks: Some(ticks),
        board: Some(board),
    })
}
