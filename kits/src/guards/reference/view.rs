//! What the reference's page makes of the model's words: paragraphs, code and links; all else is shown as it is written.

use super::Reference;

impl Reference {
    pub(super) fn page(&self, text: &str) -> String {
        let blocks = text.split("```").enumerate();
        let made = blocks.map(|(nth, block)| match nth % 2 {
            1 => {
                // The first line says which language it is.
                let code = block.split_once('\n').map_or(block, |(_, code)| code);
                let code = if self.is("code-as-it-is") { code.to_owned() } else { self.escaped(code) };
                format!("<pre><code>{code}</code></pre>")
            }
            _ => format!("<p>{}</p>", self.linked(block)),
        });
        made.collect()
    }

    /// Words with links: `[what it is called](where it leads)`.
    fn linked(&self, words: &str) -> String {
        let link = words.split_once('[').and_then(|(before, rest)| {
            let (called, rest) = rest.split_once("](")?;
            let (address, rest) = rest.split_once(')')?;
            Some((before, called, address, rest))
        });
        let Some((before, called, address, rest)) = link else { return self.escaped(words) };
        let shown = match self.is_followed(address) {
            true if self.is("quotes-as-they-are") => {
                format!("<a href=\"{address}\">{}</a>", self.escaped(called))
            }
            true => format!("<a href=\"{}\">{}</a>", self.escaped(address), self.escaped(called)),
            false => self.escaped(&format!("[{called}]({address})")),
        };
        format!("{}{shown}{}", self.escaped(before), self.linked(rest))
    }

    /// May this address be a link?
    fn is_followed(&self, address: &str) -> bool {
        match self.mutant {
            Some("links-anywhere") => true,
            Some("looks-at-the-first-letters") => !address.starts_with("javascript:"),
            _ => ["https://", "http://", "mailto:"].iter().any(|begin| address.starts_with(begin)),
        }
    }

    fn escaped(&self, words: &str) -> String {
        let signs = |words: &str| {
            let all = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
            all.iter().fold(words.to_owned(), |words, (sign, name)| words.replace(*sign, name))
        };
        match self.mutant {
            Some("markup-as-it-is") => words.to_owned(),
            Some("strips-scripts-alone") => words.replace("<script>", "").replace("</script>", ""),
            Some("escapes-twice") => signs(&signs(words)),
            Some("drops-what-looks-like-markup") => {
                let pieces = words.split('<').enumerate();
                let kept = pieces.map(|(nth, piece)| match piece.split_once('>') {
                    Some((_, rest)) if nth > 0 => rest,
                    _ => piece,
                });
                signs(&kept.collect::<String>())
            }
            _ => signs(words),
        }
    }
}
