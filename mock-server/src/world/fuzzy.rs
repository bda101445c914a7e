//! Names that are near to what somebody looks for, the nearest first.

/// The best names, no more than `limit`.
pub(super) fn best(query: &str, names: Vec<String>, limit: usize) -> Vec<String> {
    let wanted = query.to_lowercase();
    let mut fitting: Vec<(usize, String)> = names
        .into_iter()
        .filter_map(|name| Some((name.to_lowercase().rfind(&wanted)?, name)))
        .collect();
    fitting.sort_by(|(a_at, a), (b_at, b)| b_at.cmp(a_at).then(a.len().cmp(&b.len())));
    fitting.truncate(limit);
    fitting.into_iter().map(|(_, name)| name).collect()
}
