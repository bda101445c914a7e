//! Which names are like one that nobody knows, as the servers find them: letters in their order, the better the closer
//! together, the nearer to the beginnings of words and the nearer to the beginning of the name. The weights are those of
//! the library that the servers carry; another measure would name others.

/// So many are told.
const TOLD: usize = 3;
/// After so many returns a strict match is given up.
const RETURNS_MAX: u32 = 200;
/// From so many words on a name is a bad one.
const WORDS_MAX: usize = 24;

/// Models like a name; when no letters fit, those that share most words with it.
pub(super) fn models(name: &str, known: &[String]) -> Vec<String> {
    let found = names(name, known);
    if !found.is_empty() {
        return found;
    }
    let name = name.to_lowercase();
    let words: Vec<&str> = name
        .split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        .filter(|word| word.len() > 1)
        .collect();
    let shared = |id: &str| words.iter().filter(|word| id.to_lowercase().contains(**word)).count();
    let mut found: Vec<(usize, &String)> =
        known.iter().map(|id| (shared(id), id)).filter(|(shared, _)| *shared > 0).collect();
    found.sort_by(|(left, a), (right, b)| right.cmp(left).then_with(|| a.cmp(b)));
    found.into_iter().take(TOLD).map(|(_, id)| id.clone()).collect()
}

/// The names most like one, the most like first.
pub(super) fn names(name: &str, known: &[String]) -> Vec<String> {
    let name = name.trim();
    let mut best = Best::default();
    for target in known {
        let mut target_letters = Target::new(target);
        let score = if name.contains(' ') {
            target_letters.score_of_words(name)
        } else {
            target_letters.score(&letters(name)).map(|(score, _)| score)
        };
        if let Some(score) = score {
            best.offer(score, target);
        }
    }
    best.in_order()
}

fn letters(text: &str) -> Vec<char> {
    text.to_lowercase().chars().collect()
}

/// The best few. Which of equals stay, and in which order, follows from the heap.
#[derive(Default)]
struct Best<'a>(Vec<(f64, &'a str)>);

impl<'a> Best<'a> {
    fn offer(&mut self, score: f64, name: &'a str) {
        if self.0.len() < TOLD {
            self.0.push((score, name));
            self.rise(self.0.len() - 1);
        } else if score > self.0[0].0 {
            self.0[0] = (score, name);
            self.sink();
        }
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let above = (place - 1) / 2;
            if self.0[place].0 >= self.0[above].0 {
                break;
            }
            self.0.swap(place, above);
            place = above;
        }
    }

    /// The first goes all the way down by the lesser side, and from there up again as far as it may.
    fn sink(&mut self) {
        let mut place = 0;
        while 2 * place + 1 < self.0.len() {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let lesser = if right < self.0.len() && self.0[right].0 < self.0[left].0 { right } else { left };
            self.0.swap(place, lesser);
            place = lesser;
        }
        self.rise(place);
    }

    fn in_order(mut self) -> Vec<String> {
        let mut names = Vec::new();
        while !self.0.is_empty() {
            names.push(self.0.swap_remove(0).1.to_owned());
            if self.0.len() > 1 {
                self.sink();
            }
        }
        names.reverse();
        names
    }
}

/// A name that may be meant.
struct Target {
    letters: Vec<char>,
    /// For each place, where the next word begins behind it.
    next_word: Vec<usize>,
}

impl Target {
    fn new(name: &str) -> Self {
        let original: Vec<char> = name.chars().collect();
        let mut next_word = vec![original.len(); original.len()];
        let mut next = original.len();
        for place in (0..original.len()).rev() {
            next_word[place] = next;
            if begins_word(&original, place) {
                next = place;
            }
        }
        Self { letters: letters(name), next_word }
    }

    /// How well the letters fit, and where; none when some are missing.
    fn score(&self, wanted: &[char]) -> Option<(f64, Vec<usize>)> {
        let loose = self.loose(wanted)?;
        let strict = self.strict(wanted, loose[0]);
        let from = loose[0];
        let whole = if wanted.len() > 1 { self.whole(wanted, from) } else { None };
        let as_whole = |start: usize| (start..start + wanted.len()).collect::<Vec<usize>>();
        let (places, is_strict) = match (strict, whole) {
            (None, Some((start, _))) => (as_whole(start), false),
            (None, None) => (loose, false),
            (Some(_), Some((start, true))) => (as_whole(start), true),
            (Some(places), _) => (places, true),
        };
        let length = wanted.len();
        let mut score = 0.0;
        let mut gaps = 0;
        for pair in places.windows(2).filter(|pair| pair[1] - pair[0] != 1) {
            score -= number(pair[1]);
            gaps += 1;
        }
        let between = number(places[length - 1] - places[0]) - number(length - 1);
        score -= (12.0 + between) * f64::from(gaps);
        score -= number(places[0]) * number(places[0]) * 0.2;
        if is_strict {
            let words = self.words();
            if words > WORDS_MAX {
                score *= number(words - WORDS_MAX) * 10.0;
            }
        } else {
            score *= 1000.0;
        }
        let longer = (number(self.letters.len()) - number(length)) / 2.0;
        score -= longer;
        let bonus = 1.0 + number(length) * number(length);
        if let Some((_, at_word)) = whole {
            score /= bonus;
            if at_word {
                score /= bonus;
            }
        }
        Some((score - longer, places))
    }

    /// One letter after the other, wherever they are.
    fn loose(&self, wanted: &[char]) -> Option<Vec<usize>> {
        let mut places = Vec::with_capacity(wanted.len());
        let mut from = 0;
        for letter in wanted {
            let place = from + self.letters.get(from..)?.iter().position(|known| known == letter)?;
            places.push(place);
            from = place + 1;
        }
        (!places.is_empty()).then_some(places)
    }

    /// Each letter beside the one before or at the beginning of a word.
    fn strict(&self, wanted: &[char], first: usize) -> Option<Vec<usize>> {
        let end = self.letters.len();
        let mut place = if first == 0 { 0 } else { self.next_word[first - 1] };
        let mut places: Vec<usize> = Vec::new();
        let mut returns = 0;
        if place == end {
            return None;
        }
        loop {
            if place >= end {
                let last = places.pop()?;
                returns += 1;
                if returns > RETURNS_MAX {
                    return None;
                }
                place = self.next_word[last];
            } else if wanted[places.len()] == self.letters[place] {
                places.push(place);
                if places.len() == wanted.len() {
                    return Some(places);
                }
                place += 1;
            } else {
                place = self.next_word[place];
            }
        }
    }

    /// Where all letters stand together, and whether a word begins there; at the beginning of a word if that can be.
    fn whole(&self, wanted: &[char], from: usize) -> Option<(usize, bool)> {
        let is_at = |place: usize| self.letters.get(place..place + wanted.len()) == Some(wanted);
        let start = (from..self.letters.len()).find(|place| is_at(*place))?;
        if start == 0 || self.next_word[start - 1] == start {
            return Some((start, true));
        }
        let mut place = 0;
        while place < self.next_word.len() {
            if place > start && is_at(place) {
                return Some((place, true));
            }
            place = self.next_word[place];
        }
        Some((start, false))
    }

    fn words(&self) -> usize {
        let mut words = 1;
        let mut place = self.next_word.first().copied().unwrap_or_default();
        while place < self.letters.len() {
            words += 1;
            place = self.next_word[place];
        }
        words
    }

    /// Several words: each must be there, better in their order; or all of it as it is.
    fn score_of_words(&mut self, wanted: &str) -> Option<f64> {
        let mut words: Vec<&str> = Vec::new();
        for word in wanted.split_whitespace() {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let plain = self.next_word.clone();
        let mut score = 0.0;
        let mut before = 0;
        for (number_of_word, word) in words.iter().enumerate() {
            let (fit, places) = self.score(&letters(word))?;
            let is_last = number_of_word + 1 == words.len();
            if !is_last && places.windows(2).all(|pair| pair[1] - pair[0] == 1) {
                self.begin_word_behind(places[places.len() - 1]);
            }
            score += fit / number(words.len());
            if places[0] < before {
                score -= number(before - places[0]) * 2.0;
            }
            before = places[0];
        }
        self.next_word = plain;
        let whole = self.score(&letters(wanted)).map(|(score, _)| score);
        Some(whole.map_or(score, |whole| whole.max(score)))
    }

    /// What follows a word that was found counts as the beginning of another one.
    fn begin_word_behind(&mut self, last: usize) {
        let replaced = self.next_word[last];
        for place in (0..=last).rev() {
            if self.next_word[place] != replaced {
                break;
            }
            self.next_word[place] = last + 1;
        }
    }
}

fn begins_word(name: &[char], place: usize) -> bool {
    let letter = name[place];
    let before = place.checked_sub(1).map(|before| name[before]);
    let after_word = before.is_some_and(|before| before.is_ascii_alphanumeric());
    let after_capital = before.is_some_and(|before| before.is_ascii_uppercase());
    letter.is_ascii_uppercase() && !after_capital || !after_word || !letter.is_ascii_alphanumeric()
}

/// Names are short.
fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES_KNOWN: &[&str] = &[
        "anthropic",
        "openai",
        "openrouter",
        "github-copilot",
        "google-vertex-anthropic",
        "xai",
        "xiaomi",
        "xpersona",
        "opencode-go",
        "alibaba-token-plan-cn",
        "fake",
        "claude-sonnet-4-6",
        "gpt-5.6-terra-pro",
        "GPT-4o Mini",
        "z-ai/glm-5.3-flash",
        "meta-llama/Llama-4-Maverick",
    ];
    /// What the library itself finds among these names.
    const CASES: &[(&str, &[&str])] = &[
        ("x", &["xai", "xiaomi", "xpersona"]),
        ("openi", &["openai"]),
        ("ai", &["z-ai/glm-5.3-flash", "xai", "openai"]),
        ("anth", &["anthropic", "google-vertex-anthropic"]),
        ("cop", &["github-copilot"]),
        ("token plan", &["alibaba-token-plan-cn"]),
        ("mini gpt", &["GPT-4o Mini"]),
        ("gpt4", &["GPT-4o Mini"]),
        ("claude", &["claude-sonnet-4-6"]),
        ("sonnet claude", &["claude-sonnet-4-6"]),
        ("GLM", &["z-ai/glm-5.3-flash"]),
        ("llama4", &["meta-llama/Llama-4-Maverick"]),
        ("zz", &[]),
        ("vertex", &["google-vertex-anthropic"]),
        ("fakes", &[]),
        ("o", &["openai", "openrouter", "opencode-go"]),
        ("an-t", &[]),
        ("a a", &["anthropic", "z-ai/glm-5.3-flash", "alibaba-token-plan-cn"]),
        ("plan token", &["alibaba-token-plan-cn"]),
        ("4 mini", &["GPT-4o Mini"]),
    ];

    #[test]
    fn names_are_found_as_the_library_finds_them() {
        let known: Vec<String> = CASES_KNOWN.iter().map(|name| (*name).to_owned()).collect();
        for (wanted, found) in CASES {
            assert_eq!(names(wanted, &known), *found, "{wanted}");
        }
    }

    #[test]
    fn words_count_when_letters_do_not_fit() {
        let known = ["claude-sonnet-4-6".to_owned(), "gpt-5.6".to_owned(), "claude-haiku".to_owned()];
        assert_eq!(models("the claude of sonnet 99", &known), ["claude-sonnet-4-6", "claude-haiku"]);
        assert_eq!(models("zzz", &known), [] as [String; 0]);
    }
}
