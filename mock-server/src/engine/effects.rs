//! What the world wants done outside it is done: at once, after a moment, or by whoever drives the engine.

use super::{Engine, Mind};
use crate::performer::Act;
use crate::profile::TitleTiming;
use crate::project_files::{NextFiles, ProjectFiles, Reach};
use crate::world::{Beside, Effect, EffectId, EffectResult, Input, PlaceFound};
use fixtures::recording::ModelPurpose;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

impl Engine {
    /// Does it now, or when the pause of what takes a moment is over.
    pub(super) fn perform(
        &mut self,
        id: EffectId,
        effect: Effect,
        now_ms: u64,
        queue: &mut VecDeque<Input>,
        acts: &mut Vec<Act>,
    ) {
        match self.moment_ms(&effect) {
            0 => self.perform_at_once(id, effect, now_ms, queue, acts),
            moment_ms => {
                self.paused.insert(id, effect);
                acts.push(Act::WakeAt(now_ms + moment_ms, id));
            }
        }
    }

    /// How long something takes. A title that is wanted beside the first step is asked for at once, while the step is
    /// being prepared: a model that answers fast is first. What a prompt has changed is known behind the first words of
    /// a step that begins meanwhile, and before its end.
    fn moment_ms(&self, effect: &Effect) -> u64 {
        let pause = self.model_pause_ms;
        match effect {
            Effect::AskModel(request)
                if self.profile.title == TitleTiming::AtFirstPrompt
                    && request.purpose() == ModelPurpose::Title =>
            {
                0
            }
            Effect::AskModel(_) => pause,
            Effect::Snapshot { beside, .. } | Effect::Changes { beside, .. } => match beside {
                Beside::Nothing => 0,
                Beside::Title => pause,
                Beside::NextStep => pause * 3 / 2,
                Beside::Summary => pause * 3 / 4,
            },
            _ => 0,
        }
    }

    /// What follows when a pause is over; none if that is not what the wait was for.
    pub(super) fn pause_over(&mut self, id: EffectId, now: &dyn Fn() -> u64) -> Option<Vec<Act>> {
        let effect = self.paused.remove(&id)?;
        let (mut queue, mut acts) = (VecDeque::new(), Vec::new());
        self.perform_at_once(id, effect, now(), &mut queue, &mut acts);
        acts.extend(self.settle(queue, now));
        Some(acts)
    }

    fn perform_at_once(
        &mut self,
        id: EffectId,
        effect: Effect,
        now_ms: u64,
        queue: &mut VecDeque<Input>,
        acts: &mut Vec<Act>,
    ) {
        let result = match effect {
            Effect::AskModel(request) => return self.ask(id, request, now_ms, queue, acts),
            Effect::Wait { until_ms } => {
                acts.push(Act::WakeAt(until_ms, id));
                return;
            }
            Effect::Fetch(wish) => {
                acts.push(Act::Fetch(id, wish));
                return;
            }
            Effect::Run(line) => {
                acts.push(Act::Run(id, line));
                return;
            }
            Effect::Start(server) => {
                acts.push(Act::Start(id, server));
                return;
            }
            Effect::Look { paths } => EffectResult::Looked(
                paths.into_iter().map(|path| (path.clone(), Path::new(&path).is_dir())).collect(),
            ),
            Effect::ReadProject { directory, project, settings } => {
                let own = self.grounds.own();
                // A link leads nowhere else than its folder may.
                let may_go =
                    |to: &Path| own.lets_into(to) && to.canonicalize().is_ok_and(|real| own.lets_into(&real));
                let reach = Reach::of(self.profile.server, Path::new(&directory), &project, may_go);
                let files = ProjectFiles::read(self.profile, &reach, &self.elsewhere, &settings);
                self.pages.exhibits.learn(&directory, &files);
                EffectResult::Project(Box::new(files))
            }
            Effect::ReadNext { directory, settings } => {
                let home = self.elsewhere.home.as_deref().unwrap_or(Path::new("/"));
                let root = self.grounds.own().root();
                let files = NextFiles::read(self.profile, (root, Path::new(&directory)), home, settings);
                EffectResult::NextFiles(files.map(Arc::new))
            }
            Effect::Ground { folder } => {
                let (footing, project) = self.grounds.look(&folder, self.profile.server.word());
                EffectResult::Ground(footing, project.map(Box::new))
            }
            Effect::Tui(wish) => {
                let own = self.pages.exhibits.tui_settings();
                let ground = self.grounds.of(&wish.directory);
                let home = self.elsewhere.home.as_deref();
                PlaceFound::Tui(ground.tui_settings(&wish, self.profile, &own, home)).into()
            }
            Effect::Place(wish) => {
                let ground = self.grounds.of(wish.place().unwrap_or_default());
                ground.around(wish, self.elsewhere.home.as_deref()).into()
            }
            Effect::Snapshot { directory, .. } => {
                EffectResult::Snapshot(self.grounds.of(&directory).snapshot(&directory))
            }
            Effect::Changes { from, to, .. } => EffectResult::Changes(self.grounds.changes(&from, &to)),
            Effect::Read { path } => EffectResult::Read(self.grounds.of(&path).read(&path)),
            Effect::Study { path } => EffectResult::Studied(Box::new(self.grounds.of(&path).study(&path))),
            Effect::Search { path, chosen } => {
                EffectResult::Read(self.grounds.of(&path).search(&path, chosen))
            }
            Effect::Write { path, content } => {
                EffectResult::Written(self.grounds.of(&path).put(&path, content))
            }
            Effect::Restore { directory, files } => {
                EffectResult::Written(self.grounds.of(&directory).restore(&files))
            }
            Effect::Begin { within } => match self.mind {
                Mind::Remote { call_wait_ms, .. } if self.answering.contains(&within) => {
                    self.delayed.insert(id, within);
                    acts.push(Act::WakeAt(now_ms + call_wait_ms, id));
                    return;
                }
                _ => EffectResult::Yielded,
            },
            Effect::Yield => EffectResult::Yielded,
        };
        queue.push_back(Input::Done(id, result));
    }
}

#[cfg(test)]
mod tests;
