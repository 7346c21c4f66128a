//! The question whether a machine can hold a population. It needs a clock, so `app` answers it.

use std::fmt;
use std::sync::Arc;

use crate::simulation::{SceneDescription, SimulationParams};

/// Returns why the machine cannot hold the population of a scene.
type TryPopulation =
    dyn Fn(&SceneDescription, &SimulationParams) -> Result<(), String> + Send + Sync;

/// A trial of populations. Copies share it.
#[derive(Clone)]
pub struct PopulationTrial(Arc<TryPopulation>);

impl PopulationTrial {
    /// Returns a trial with this answer.
    pub fn new(
        answer: impl Fn(&SceneDescription, &SimulationParams) -> Result<(), String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(answer))
    }

    /// Tries the population of a scene.
    ///
    /// # Errors
    /// Why the machine cannot hold it.
    pub(super) fn run(
        &self,
        scene: &SceneDescription,
        params: &SimulationParams,
    ) -> Result<(), String> {
        (self.0)(scene, params)
    }
}

impl fmt::Debug for PopulationTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PopulationTrial")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Editor;
    use super::*;
    use crate::control::{DocumentName, Edit, EditChange, PoolCommand, PoolEdit};

    /// A fixed bug: a typo in the population stopped the pool, and undo could not bring it back.
    #[test]
    fn a_population_that_the_floor_or_the_machine_cannot_hold_is_rejected() {
        let mut editor = Editor::open(None, None).unwrap();
        let shown = editor.site().scene_name.clone();
        let set = |scene: &str, count: u32| -> PoolCommand {
            let edit = Edit {
                document: DocumentName::Scene { name: scene.into() },
                path: "population.herring".into(),
                change: EditChange::Set {
                    value: count.into(),
                },
            };
            PoolEdit::Edit {
                edits: vec![edit],
                joins_last: false,
            }
            .into()
        };
        let before = editor.site().description();
        let problems = editor.apply(&set(&shown, 100_000), &|_| None).unwrap_err();
        assert!(
            problems.to_string().contains("are not possible"),
            "{problems}"
        );
        assert_eq!(editor.site().description(), before);
        assert_eq!(editor.undo_depths(), (0, 0));

        let trial = PopulationTrial::new(|scene, _| {
            let agents: u32 = scene.species.iter().map(|species| species.count).sum();
            if agents > 300 {
                Err("too many".to_owned())
            } else {
                Ok(())
            }
        });
        editor.try_populations(trial.clone()).unwrap();
        let problems = editor.apply(&set(&shown, 301), &|_| None).unwrap_err();
        assert!(
            problems.to_string().contains("population: too many"),
            "{problems}"
        );
        assert_eq!(editor.site().description(), before);
        editor.apply(&set(&shown, 30), &|_| None).unwrap();
    }
}
