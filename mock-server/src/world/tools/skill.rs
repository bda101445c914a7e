//! `skill`: instructions that the server comes with, or that lie in the workspace, with the names of the files beside them.

use super::{Completed, Plan};
use crate::roster::Roster;
use crate::world::permission::Wish;
use crate::world::skill_lines;
use crate::world::{Effect, Found, Purpose, World};
use serde_json::{Value, json};

/// A skill: instructions that the agent can load, with files beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub description: Option<String>,
    /// The file that has it.
    pub location: String,
    /// The folder of that file.
    pub folder: String,
    /// The instructions.
    pub content: String,
}

/// A skill that may be loaded.
#[derive(Debug, Clone)]
pub(crate) struct SkillPlan {
    skill: Skill,
    /// The server comes with it.
    is_own: bool,
}

/// So many files beside it are named.
const NAMED: usize = 10;

impl World {
    /// All skills, each with the word whether the server comes with it. Of those with one name the last counts.
    fn skills(&self, directory: &str) -> Vec<(Skill, bool)> {
        let word = |told: &Value, key: &str| told[key].as_str().unwrap_or_default().to_owned();
        let own = Roster::of(self.profile.server).skills.iter().map(|told| Skill {
            name: word(told, "name"),
            description: told["description"].as_str().map(str::to_owned),
            location: word(told, "location"),
            folder: ".".to_owned(),
            content: word(told, "content"),
        });
        let mut all: Vec<(Skill, bool)> = own.map(|skill| (skill, true)).collect();
        for skill in &self.customs(directory).skills {
            match all.iter_mut().find(|(known, _)| known.name == skill.name) {
                Some(known) => *known = (skill.clone(), false),
                None => all.push((skill.clone(), false)),
            }
        }
        all
    }

    pub(in crate::world) fn all_skills(&self, directory: &str) -> Vec<Skill> {
        self.skills(directory).into_iter().map(|(skill, _)| skill).collect()
    }

    pub(super) fn has_skill(&self, session: &str, name: &str) -> bool {
        self.skills(self.folder_of(session)).iter().any(|(skill, _)| skill.name == name)
    }

    pub(super) fn start_skill(&mut self, session: &str, call: usize) {
        let Some(name) = self.text_argument(session, call, "name") else { return };
        let skills = self.skills(self.folder_of(session));
        let Some((skill, is_own)) = skills.iter().find(|(skill, _)| skill.name == name).cloned() else {
            let mut known: Vec<&str> = skills.iter().map(|(skill, _)| skill.name.as_str()).collect();
            known.sort_unstable();
            let message = format!("Skill \"{name}\" not found. Available skills: {}", known.join(", "));
            return self.fail_call(session, call, &message);
        };
        self.set_plan(session, call, Plan::Skill(Box::new(SkillPlan { skill, is_own })));
        let name = vec![name];
        let wish = Wish { permission: "skill", patterns: name.clone(), metadata: json!({}), always: name };
        self.ask_or_allow(session, call, &wish);
    }

    pub(super) fn load_skill(&mut self, session: &str, call: usize, plan: &SkillPlan) {
        if plan.is_own && self.profile.own_skills_stand_alone {
            let Skill { name, content, location, .. } = &plan.skill;
            let output = format!(
                "<skill_content name=\"{name}\">\n# Skill: {name}\n\n{}\n</skill_content>",
                content.trim()
            );
            let dir = location.clone();
            return self.skill_loaded(session, call, name.clone(), output, &dir);
        }
        let path = if plan.is_own { self.config.directory.clone() } else { plan.skill.folder.clone() };
        self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Search { path, chosen: None });
    }

    /// It is known what lies beside the skill.
    pub(super) fn skill_files_found(&mut self, session: &str, call: usize, plan: &SkillPlan, found: &Found) {
        let Skill { name, content, folder, .. } = &plan.skill;
        let content = match self.profile.distrusts_files && !plan.is_own {
            true => skill_lines::without_live(content),
            false => content.clone(),
        };
        let place = if plan.is_own { &self.config.directory } else { folder };
        let files = match found {
            Found::Tree(files) => files.as_slice(),
            _ => &[],
        };
        let is_other = |path: &&String| path.rsplit('/').next() != Some("SKILL.md");
        let paths = files.iter().map(|(path, _)| path).filter(is_other).take(NAMED);
        let listed: Vec<String> = paths.map(|path| format!("<file>{place}/{path}</file>")).collect();
        let output = format!(
            "<skill_content name=\"{name}\">\n# Skill: {name}\n\n{}\n\nBase directory for this skill: {folder}\nRelative paths in this skill (e.g., scripts/, reference/) are relative to this base directory.\nNote: file list is sampled.\n\n<skill_files>\n{}\n</skill_files>\n</skill_content>",
            content.trim(),
            listed.join("\n"),
        );
        let (name, dir) = (name.clone(), folder.clone());
        self.skill_loaded(session, call, name, output, &dir);
    }

    fn skill_loaded(&mut self, session: &str, call: usize, name: String, output: String, dir: &str) {
        let title = format!("Loaded skill: {name}");
        let metadata = json!({"name": name, "dir": dir, "truncated": false});
        self.complete_told_call(session, call, Completed { output, title, metadata, ..Completed::default() });
    }

    /// The skills of the workspace as commands.
    pub(in crate::world) fn skill_commands(&self, directory: &str) -> Vec<(String, Value)> {
        let told = |(skill, _): (Skill, bool)| {
            let template = format!(
                "{}\n\nBase directory for this skill: {}\nRelative paths in this skill (e.g., scripts/, references/) are relative to this base directory.",
                skill.content, skill.folder
            );
            let mut told = json!({"name": skill.name, "description": skill.description, "source": "skill"});
            if self.profile.distrusts_files {
                told["trusted"] = json!(self.config.trusts(&skill.location));
            }
            told["template"] = json!(template);
            told["hints"] = json!([]);
            (skill.name, told)
        };
        self.skills(directory).into_iter().filter(|(_, is_own)| !is_own).map(told).collect()
    }
}
