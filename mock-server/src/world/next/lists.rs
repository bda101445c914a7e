//! Agents, commands and skills of the next generation: those of the release, with what files say. They are read for
//! each directory when somebody first asks.

use super::super::{ApiRequest, Effect, Purpose, ReplyBody, World};
use crate::project_files::NextFiles;
use std::sync::Arc;

impl World {
    pub(super) fn list_next(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        if let Some(files) = self.next_files.get(&directory).cloned() {
            self.boot_next(&directory);
            let request = Box::new(request.clone());
            return self.reply(request.ticket, 200, ReplyBody::NextList { request, directory, files });
        }
        let settings = self.global_settings();
        self.effect(Purpose::NextFiles(Box::new(request.clone())), Effect::ReadNext { directory, settings });
    }

    /// What files say has been read; the request that waited for it is answered.
    pub(in super::super) fn next_learns(&mut self, request: &ApiRequest, files: Option<Arc<NextFiles>>) {
        let Some(files) = files else { return self.unknown_error(request.ticket) };
        self.next_files.insert(self.directory_of(request), files);
        self.list_next(request);
    }
}
