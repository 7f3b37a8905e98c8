//! URI templates (RFC 6570, all four levels): their names, and what they are filled in to.

use std::ops::Range;

/// What stands for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateValue {
    Text(String),
    List(Vec<String>),
    Pairs(Vec<(String, String)>),
}

/// How an operator writes its values.
struct Style {
    first: &'static str,
    between: &'static str,
    is_named: bool,
    /// What stands after a name without a value.
    if_empty: &'static str,
    keeps_reserved: bool,
}

impl Style {
    fn of(operator: Option<char>) -> Self {
        let (first, between, is_named, if_empty, keeps_reserved) = match operator {
            Some('+') => ("", ",", false, "", true),
            Some('#') => ("#", ",", false, "", true),
            Some('.') => (".", ".", false, "", false),
            Some('/') => ("/", "/", false, "", false),
            Some(';') => (";", ";", true, "", false),
            Some('?') => ("?", "&", true, "=", false),
            Some('&') => ("&", "&", true, "=", false),
            _ => ("", ",", false, "", false),
        };
        Self {
            first,
            between,
            is_named,
            if_empty,
            keeps_reserved,
        }
    }

    fn name_value(&self, name: &str, value: &str) -> String {
        match (self.is_named, value.is_empty()) {
            (false, _) => value.to_owned(),
            (true, true) => format!("{name}{}", self.if_empty),
            (true, false) => format!("{name}={value}"),
        }
    }

    fn encoded(&self, value: &str) -> String {
        encoded(value, self.keeps_reserved)
    }
}

/// A name in an expression, and what is to become of its value.
struct Variable<'a> {
    name: &'a str,
    /// Its first characters alone.
    prefix: Option<usize>,
    /// Each of its values by itself.
    is_exploded: bool,
}

impl<'a> Variable<'a> {
    fn read(text: &'a str) -> Self {
        if let Some(name) = text.strip_suffix('*') {
            return Self {
                name,
                prefix: None,
                is_exploded: true,
            };
        }
        let (name, prefix) = text.split_once(':').unwrap_or((text, ""));
        Self {
            name,
            prefix: prefix.parse().ok(),
            is_exploded: false,
        }
    }

    /// `None` where there is nothing to write.
    fn expand(&self, style: &Style, value: &TemplateValue) -> Option<String> {
        let name = self.name;
        let joined = |parts: Vec<String>, by: &str| (!parts.is_empty()).then(|| parts.join(by));
        match value {
            TemplateValue::Text(text) => {
                let text: String = text
                    .chars()
                    .take(self.prefix.unwrap_or(usize::MAX))
                    .collect();
                Some(style.name_value(name, &style.encoded(&text)))
            }
            TemplateValue::List(items) if self.is_exploded => joined(
                items
                    .iter()
                    .map(|item| style.name_value(name, &style.encoded(item)))
                    .collect(),
                style.between,
            ),
            TemplateValue::List(items) => {
                joined(items.iter().map(|item| style.encoded(item)).collect(), ",")
                    .map(|items| style.name_value(name, &items))
            }
            TemplateValue::Pairs(pairs) if self.is_exploded => {
                let pair = |(key, value): &(String, String)| match style.encoded(value) {
                    value if value.is_empty() && style.is_named => {
                        format!("{}{}", style.encoded(key), style.if_empty)
                    }
                    value => format!("{}={value}", style.encoded(key)),
                };
                joined(pairs.iter().map(pair).collect(), style.between)
            }
            TemplateValue::Pairs(pairs) => {
                let flat = pairs
                    .iter()
                    .flat_map(|(key, value)| [style.encoded(key), style.encoded(value)]);
                joined(flat.collect(), ",").map(|flat| style.name_value(name, &flat))
            }
        }
    }
}

/// The expressions of a template: where each stands with its braces, and what is in them. A brace that is not closed is
/// none.
fn expressions(template: &str) -> Vec<(Range<usize>, Option<char>, Vec<Variable<'_>>)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = template[from..].find('{').map(|at| from + at) {
        let Some(end) = template[start..].find('}').map(|at| start + at) else {
            break;
        };
        let inside = &template[start + 1..end];
        let operator = inside
            .chars()
            .next()
            .filter(|char| "+#./;?&".contains(*char));
        let names = inside
            .trim_start_matches(|char| Some(char) == operator)
            .split(',');
        found.push((
            start..end + 1,
            operator,
            names.map(Variable::read).collect(),
        ));
        from = end + 1;
    }
    found
}

/// The names in a template, each once, in order.
pub fn template_names(template: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for variable in expressions(template)
        .into_iter()
        .flat_map(|(.., variables)| variables)
    {
        if !names.iter().any(|name| name == variable.name) {
            names.push(variable.name.to_owned());
        }
    }
    names
}

/// The URI that a template is filled in to; a name without a value is left out.
pub fn expand_template(template: &str, value: impl Fn(&str) -> Option<TemplateValue>) -> String {
    let mut out = String::new();
    let mut from = 0;
    for (range, operator, variables) in expressions(template) {
        out.push_str(&literal(&template[from..range.start]));
        from = range.end;
        let style = Style::of(operator);
        let parts: Vec<String> = variables
            .iter()
            .filter_map(|variable| variable.expand(&style, &value(variable.name)?))
            .collect();
        if !parts.is_empty() {
            out.push_str(style.first);
            out.push_str(&parts.join(style.between));
        }
    }
    out.push_str(&literal(&template[from..]));
    out
}

/// Text outside the braces: what no URI has is encoded, what is encoded stays.
fn literal(text: &str) -> String {
    text.chars()
        .map(|char| {
            if char.is_ascii() && char != ' ' {
                char.to_string()
            } else {
                encoded(char.encode_utf8(&mut [0; 4]), false)
            }
        })
        .collect()
}

fn encoded(value: &str, keeps_reserved: bool) -> String {
    let mut out = String::new();
    for (at, byte) in value.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_reserved = || {
            b":/?#[]@!$&'()*+,;=".contains(&byte)
                || (byte == b'%' && is_encoded(&value.as_bytes()[at..]))
        };
        if is_plain || (keeps_reserved && is_reserved()) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Whether bytes begin with a percent-encoded one.
fn is_encoded(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str) -> Option<TemplateValue> {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Some(match name {
            "var" => TemplateValue::Text("value".into()),
            "hello" => TemplateValue::Text("Hello World!".into()),
            "half" => TemplateValue::Text("50%".into()),
            "who" => TemplateValue::Text("fred".into()),
            "base" => TemplateValue::Text("http://example.com/home/".into()),
            "path" => TemplateValue::Text("/foo/bar".into()),
            "x" => TemplateValue::Text("1024".into()),
            "y" => TemplateValue::Text("768".into()),
            "empty" => TemplateValue::Text(String::new()),
            "topic" => TemplateValue::Text("a/b ü".into()),
            "list" => TemplateValue::List(texts(&["red", "green", "blue"])),
            "none" => TemplateValue::List(Vec::new()),
            "keys" => TemplateValue::Pairs(
                [("semi", ";"), ("dot", "."), ("comma", ",")]
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .into(),
            ),
            _ => return None,
        })
    }

    /// The examples of RFC 6570, section 3.2, and templates of servers.
    #[test]
    fn templates_are_filled_in_as_the_standard_says() {
        for (template, expected) in [
            ("{hello}", "Hello%20World%21"),
            ("O{empty}X O{undef}X", "OX%20OX"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("?{x,empty}", "?1024,"),
            ("{var:3}{var:30}", "valvalue"),
            ("{list}|{list*}", "red,green,blue|red,green,blue"),
            ("{keys}", "semi,%3B,dot,.,comma,%2C"),
            ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
            ("{+half}{+hello}{half}", "50%25Hello%20World!50%25"),
            ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
            ("{+base}index", "http://example.com/home/index"),
            ("{+path:6}/here", "/foo/b/here"),
            ("{+keys*}", "semi=;,dot=.,comma=,"),
            ("{#x,hello,y}", "#1024,Hello%20World!,768"),
            ("foo{#empty}", "foo#"),
            ("X{.list*}{.undef}", "X.red.green.blue"),
            ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"),
            (
                "{/var,empty}{/list*,path:4}",
                "/value//red/green/blue/%2Ffoo",
            ),
            ("{;x,y,empty,undef}", ";x=1024;y=768;empty"),
            (
                "{;list}{;list*}",
                ";list=red,green,blue;list=red;list=green;list=blue",
            ),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
            (
                "?fixed=yes{&x,none,list*}",
                "?fixed=yes&x=1024&list=red&list=green&list=blue",
            ),
            ("ev://day/{topic}", "ev://day/a%2Fb%20%C3%BC"),
            ("ev://day{?topic,limit}", "ev://day?topic=a%2Fb%20%C3%BC"),
            ("ev://day{?a,limit}", "ev://day"),
            ("ev://café/{+path}%20", "ev://caf%C3%A9//foo/bar%20"),
            ("a{x", "a{x"),
        ] {
            assert_eq!(expand_template(template, value), expected, "{template}");
        }
        assert_eq!(template_names("a://{x}{?x,y*}{z:3}"), ["x", "y", "z"]);
    }
}
