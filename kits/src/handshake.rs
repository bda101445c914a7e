//! The first words with an adapter, before any case: one that fails here would fail in every case, each time after the
//! same wait.

use crate::gate::Subject;
use crate::kit::Kit;
use crate::scene::Scene;
use harness::clock::Limits;
use harness::handshake::NoAdapter;
use harness::history;

/// Starts a subject once, says hello and good-bye.
///
/// # Errors
/// It can't be started, or does not answer as an adapter of this kit does; the message tells all that went wrong.
pub async fn greet(kit: &'static dyn Kit, subject: &Subject, limits: &Limits) -> Result<(), NoAdapter> {
    let mut scene = Scene::start(kit, subject, limits).map_err(NoAdapter::CannotStart)?;
    let why = match scene.introduce().await {
        Ok(()) => return scene.end().await.map_err(|(_, why)| NoAdapter::DoesNotSpeak(why)),
        Err((_, why)) => why,
    };
    // Who is silent once is not waited for again.
    let ended = scene.give_up().await;
    let lines = scene.journal().lines();
    let troubles = history::troubles(&lines).map(|(_, what)| what.to_owned());
    let said = history::last_words(&lines);
    let all: Vec<String> = std::iter::once(why).chain(troubles).chain(ended.err()).chain(said).collect();
    Err(NoAdapter::DoesNotSpeak(all.join("\n")))
}
