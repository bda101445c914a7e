//! The page.
use super::GateReport;
/// Renders.
pub fn render(_report: &GateReport) -> Result<String, minijinja::Error> { Ok(String::new()) }
