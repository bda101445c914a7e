//! Where folders stand, and those that are not there. A server takes a session for any path, and stumbles only where it
//! needs the folder itself: so a request about another folder than the workspace has it looked for first.

use super::instance::is_of_instance;
use super::{ApiRequest, Effect, Footing, Purpose, Ticket, World};
use crate::mistakes::Mistake;
use crate::options::Standing;
use crate::workspace::{GLOBAL, Project};

/// Operations of the next generation that are about no folder.
const NOWHERE: &[&str] = &["v2.health.get", "v2.event.subscribe", "v2.session."];
/// The one among them that some servers answer in an instance.
pub(super) const CREATES: &str = "v2.session.create";

impl World {
    /// Is it to be found out first whether the folder is there that a request is about? The request waits for that.
    pub(super) fn looks_for_folder(&mut self, request: &ApiRequest, operation: &str) -> bool {
        let directory = self.directory_of(request);
        let is_other = directory != self.config.directory && !directory.contains('\0');
        let is_about_it = self.config.standing != Standing::BehindDesign
            && (operation.starts_with("v2.") || is_of_instance(operation));
        if is_other && is_about_it {
            let wish = Effect::Ground { folder: directory };
            self.effect(Purpose::Folder(Box::new(request.clone())), wish);
        }
        is_other && is_about_it
    }

    /// It is there, or not, and belongs to a project; the request that waited is answered.
    pub(super) fn folder_looked(&mut self, request: &ApiRequest, footing: Footing, project: Option<Project>) {
        let folder = self.directory_of(request);
        self.note_folder(&folder, footing, project);
        let operation = self.operations.find(&request.method, &request.path).map(|found| found.id.as_str());
        let is_about_it = operation.is_none_or(|operation| !is_about_none(operation));
        // No instance begins there.
        if !self.fails_if(footing == Footing::OnFile && is_about_it, request) {
            self.answer_in_folder(request);
        }
    }

    /// What is known of a folder.
    pub(super) fn note_folder(&mut self, folder: &str, footing: Footing, project: Option<Project>) {
        if footing == Footing::There {
            self.gone_folders.remove(folder);
        } else {
            self.gone_folders.insert(folder.to_owned());
        }
        match project {
            Some(project) => self.other_projects.insert(folder.to_owned(), project),
            None => self.other_projects.remove(folder),
        };
    }

    /// Is a folder known not to be there?
    pub(super) fn lacks_folder(&self, directory: &str) -> bool {
        self.gone_folders.contains(directory)
    }

    /// Nothing is kept of a repository's folder that is not there, and that is told.
    pub(super) fn tells_no_tree(&self, session: &str) -> bool {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.as_str()) else {
            return false;
        };
        self.lacks_folder(directory)
            && self.in_repository(directory).is_some()
            && self.keeps_snapshots(directory)
    }

    /// An instance that has once looked for its folder in vain does not look again.
    fn works_nowhere(&mut self, directory: &str) -> bool {
        let lacks = self.lacks_folder(directory);
        let Some(instance) = self.instances.get_mut(directory) else { return lacks };
        instance.is_nowhere |= lacks;
        instance.is_nowhere
    }

    /// Some servers find none of their agents where a repository has no such folder.
    pub(super) fn lacks_agents(&mut self, directory: &str) -> bool {
        self.profile.agents_need_folder
            && self.in_repository(directory).is_some()
            && self.works_nowhere(directory)
    }

    /// A prompt that can't be taken, because nobody is found to answer it.
    pub(super) fn stumbles_over_folder(&mut self, session: &str, waiting: Option<Ticket>) -> bool {
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone()).unwrap_or_default();
        let stumbles = self.lacks_agents(&directory);
        if stumbles {
            self.refuse_prompt(session, waiting, Mistake::Folder, &unreal(&directory));
        }
        stumbles
    }

    /// A step that can't begin, because its model can't be told about the folder.
    pub(super) fn breaks_off_nowhere(&mut self, session: &str) -> bool {
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone()).unwrap_or_default();
        // Who is to sum up is not told about it.
        let sums_up = self.run_mut(session).is_some_and(|run| run.compaction.is_some());
        let breaks = self.profile.steps_need_folder && !sums_up && self.works_nowhere(&directory);
        if breaks {
            self.break_off(session, Some((Mistake::Folder, unreal(&directory))));
        }
        breaks
    }

    /// Does an operation fail wherever its folder is not there?
    pub(super) fn fails_without_folder(&mut self, request: &ApiRequest, operation: &str) -> bool {
        let directory = self.directory_of(request);
        let needs = match operation {
            "app.agents" => {
                let lacks = self.lacks_agents(&directory);
                return self.fails_if(lacks, request);
            }
            "config.update" => !self.profile.project_config.contains('/'),
            "find.text" | "pty.create" => true,
            CREATES => self.profile.next_creates_in_instance,
            other => other.starts_with("v2.") && !is_about_none(other),
        };
        self.fails_if(needs && self.lacks_folder(&directory), request)
    }

    fn fails_if(&mut self, fails: bool, request: &ApiRequest) -> bool {
        if fails {
            self.unknown_error(request.ticket);
        }
        fails
    }

    /// The project of a folder that belongs to a repository.
    pub(super) fn repository_of(&self, directory: &str) -> Option<&Project> {
        let own = || Some(&self.config.project).filter(|own| own.is_repository);
        let project = self.other_projects.get(directory).or_else(own)?;
        within(directory, &project.worktree).map(|_| project)
    }

    pub(super) fn project_of(&self, directory: &str) -> String {
        self.repository_of(directory).map_or(GLOBAL, |project| &project.id).to_owned()
    }

    pub(super) fn directory_of_session(&self, session: &str) -> String {
        self.sessions.get(session).map(|owner| owner.directory.clone()).unwrap_or_default()
    }

    /// Where a folder stands in its repository, if it belongs to one.
    pub(super) fn in_repository<'a>(&self, directory: &'a str) -> Option<&'a str> {
        within(directory, &self.repository_of(directory)?.worktree)
    }

    /// Where a folder stands in the workspace, whose files have settings, in a repository or not.
    pub(super) fn in_workspace<'a>(&self, directory: &'a str) -> Option<&'a str> {
        within(directory, &self.config.directory)
    }

    /// Is a folder there, in the workspace or its repository?
    pub(super) fn is_known_folder(&self, directory: &str) -> bool {
        let is_known = self.in_workspace(directory).or_else(|| self.in_repository(directory)).is_some();
        is_known && !self.lacks_folder(directory)
    }

    /// A folder, relative to that of its project; what belongs to no project belongs to `/`.
    pub(super) fn path_in_project(&self, directory: &str) -> String {
        self.in_repository(directory).unwrap_or_else(|| directory.trim_start_matches('/')).to_owned()
    }
}

fn is_about_none(operation: &str) -> bool {
    NOWHERE.iter().any(|about| operation.starts_with(about))
}

/// Where `directory` stands in `folder`, if it does.
pub(in crate::world) fn within<'a>(directory: &'a str, folder: &str) -> Option<&'a str> {
    let rest = directory.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// What is said of a folder that is not there.
fn unreal(directory: &str) -> String {
    format!("PlatformError: NotFound: FileSystem.realPath ({directory})")
}
