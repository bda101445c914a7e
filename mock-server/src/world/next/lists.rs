//! Agents, commands and skills of the next generation: those of the release, with what files say. They are read for
//! each directory when somebody first asks the next generation about it.

use super::super::{ApiRequest, Effect, Purpose, ReplyBody, World};
use crate::project_files::NextFiles;
use std::sync::Arc;

impl World {
    pub(super) fn list_next(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let Some(files) = self.next_files.get(&directory).cloned() else {
            return self.read_next(&directory, Some(request));
        };
        self.boot_next(&directory);
        let request = Box::new(request.clone());
        self.reply(request.ticket, 200, ReplyBody::NextList { request, directory, files });
    }

    /// Reads the files, and answers then.
    pub(in super::super) fn read_next(&mut self, directory: &str, request: Option<&ApiRequest>) {
        let (directory, settings) = (directory.to_owned(), self.global_settings());
        let purpose = Purpose::NextFiles(directory.clone(), request.cloned().map(Box::new));
        self.effect(purpose, Effect::ReadNext { directory, settings });
    }

    pub(in super::super) fn next_learns(
        &mut self,
        directory: &str,
        request: Option<&ApiRequest>,
        files: Option<Arc<NextFiles>>,
    ) {
        let is_folder = files.is_some();
        if let Some(files) = files {
            self.next_files.insert(directory.to_owned(), files);
        }
        match request {
            Some(request) if is_folder => self.list_next(request),
            Some(request) => self.unknown_error(request.ticket),
            None => {}
        }
    }
}
