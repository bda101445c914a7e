//! The file in which the server keeps the keys of providers: when it is safe, and what becomes of what stands in it.

/// What is known of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialsFile {
    /// Who may read and write it, as the system has it.
    pub mode: u32,
    /// It lies in the workspace.
    pub in_workspace: bool,
}

/// Decides about the file of keys.
pub trait Keeping: Send {
    /// Is it safe there? Nobody else may read it, and nothing that is shared holds it.
    fn is_safe(&self, file: CredentialsFile) -> bool {
        file.mode & 0o077 == 0 && !file.in_workspace
    }

    /// Where it is a link: is it the file that counts?
    fn follows_links(&self) -> bool {
        true
    }

    /// What is said of the file beside its place: of what stands in it, nothing.
    fn quoted<'a>(&self, _content: &'a str) -> &'a str {
        ""
    }

    /// Is a copy put into the workspace, for the agent?
    fn copies(&self) -> bool {
        false
    }
}
