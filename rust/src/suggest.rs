//! "Did you mean …?" for names that the schema does not know.

/// Longer names get no suggestion: the distance costs the product of the lengths.
const MAX_NAME: usize = 64;
const MAX_SUGGESTIONS: usize = 5;

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The known names close to `name`, nearest first.
pub fn close_names<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > MAX_NAME {
        return Vec::new();
    }
    let threshold = name.len() * 2 / 5 + 1;
    let mut found: Vec<(usize, &str)> =
        known.map(|candidate| (distance(name, candidate), candidate)).filter(|(d, _)| *d <= threshold).collect();
    found.sort();
    found.into_iter().take(MAX_SUGGESTIONS).map(|(_, candidate)| candidate).collect()
}

/// ` Did you mean "a", "b", or "c"?`, or nothing.
pub fn did_you_mean(what: &str, names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let list = match quoted.as_slice() {
        [] => return String::new(),
        [one] => one.clone(),
        [first, second] => format!("{first} or {second}"),
        [head @ .., last] => format!("{}, or {last}", head.join(", ")),
    };
    format!(" Did you mean {what}{list}?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_first_and_case_insensitive() {
        let known = ["speed", "spread", "Speed2", "steeds", "heading"];
        assert_eq!(close_names("speed", known.into_iter()), ["speed", "Speed2", "spread", "steeds"]);
        assert!(close_names("zzz", known.into_iter()).is_empty());
        assert!(close_names(&"s".repeat(65), known.into_iter()).is_empty());
    }

    #[test]
    fn lists_names() {
        assert_eq!(did_you_mean("", &[]), "");
        assert_eq!(did_you_mean("the enum value ", &["MED"]), " Did you mean the enum value \"MED\"?");
        assert_eq!(did_you_mean("", &["a", "b", "c"]), " Did you mean \"a\", \"b\", or \"c\"?");
    }
}
