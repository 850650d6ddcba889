//! The known name that someone most likely meant, for messages about unknown ones.

/// Longer names are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 200;

/// Up to `most` of the names that are a few typing errors away, nearest first, ties in the order given.
pub(crate) fn nearest<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    // A third of the letters may be wrong; more is another word.
    let limit = (wanted.len() / 3).max(1);
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in names {
        if name.len() > 4 * LONGEST {
            continue;
        }
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        if letters.len().abs_diff(wanted.len()) > limit {
            continue;
        }
        if let Some(distance) = distance(&wanted, &letters, limit) {
            found.push((distance, name));
        }
    }
    found.sort_by_key(|(distance, _)| *distance);
    found.truncate(most);
    found.into_iter().map(|(_, name)| name).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours that make one from the other; `None` if more than
/// `limit` of them.
fn distance(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        // A later row can only come from this one or, by a swap, from the one before.
        if row.iter().chain(&last).all(|&n| n > limit) {
            return None;
        }
        before = last;
        last = row;
    }
    Some(last[b.len()]).filter(|&n| n <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_comes_first() {
        let names = ["inline-limit", "min-size", "csp", "img/logo.png", "img/Logo2.png"];
        let check = |wanted: &str, expected: &[&str]| {
            assert_eq!(nearest(wanted, names, 3), expected, "{wanted}");
        };
        check("inlin-limit", &["inline-limit"]);
        check("inline_limit", &["inline-limit"]);
        check("scp", &["csp"]);
        check("minsize", &["min-size"]);
        check("img/logo2.png", &["img/Logo2.png", "img/logo.png"]);
        check("budget", &[]);
        check("", &[]);
        check(&"x".repeat(100_000), &[]);
    }
}
