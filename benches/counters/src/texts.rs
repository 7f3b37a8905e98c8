//! The texts, about 2 MB each, the same in every run.

use std::fmt::Write as _;

#[path = "../../common/mod.rs"]
mod common;

const BYTES: usize = 2_000_000;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as usize % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn text(&mut self, characters: &str, length: usize) -> String {
        let characters: Vec<char> = characters.chars().collect();
        (0..length)
            .map(|_| characters[self.below(characters.len())])
            .collect()
    }
}

fn filled(mut piece: impl FnMut(&mut Random) -> String) -> String {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut text = String::new();
    while text.len() < BYTES {
        text.push_str(&piece(&mut random));
    }
    text
}

fn repeated(text: &str) -> String {
    text.repeat(BYTES / text.len() + 1)
}

const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
const HEX: &str = "0123456789abcdef";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const WORDS: &[&str] = &[
    "account",
    "invoice",
    "shipping",
    "warehouse",
    "Boston",
    "customer",
    "pending",
    "overdue",
    "quarterly",
    "Müller",
    "forecast",
    "region",
    "north",
    "discount",
    "refund",
    "priority",
    "escalated",
    "vendor",
    "renewal",
    "contract",
];
const CJK: &[&str] = &[
    "今天",
    "天气",
    "很好",
    "我们",
    "一起",
    "去",
    "市场",
    "买",
    "苹果",
    "数据",
    "系统",
    "返回",
    "结果",
    "公司",
    "用户",
    "已经",
    "完成",
    "订单",
    "的",
    "了",
    "在",
    "是",
    "不",
    "有",
    "中国",
    "北京",
    "上海",
    "工程师",
    "会议",
    "报告",
    "今日は",
    "天気",
    "が",
    "いい",
    "です",
    "ね",
    "データ",
    "を",
    "取得",
    "しました",
    "会社",
    "ユーザー",
    "注文",
    "の",
    "오늘은",
    "날씨가",
    "좋아서",
    "시장에",
    "갔습니다",
    "데이터를",
    "회사",
    "사용자",
    "주문",
    "완료",
    "。",
    "，",
    "、",
    "「",
    "」",
    "！",
    "\n",
    " ",
];

fn files(folder: &str, kind: &str, into: &mut String) {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder of the repository")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path.to_string_lossy(), kind, into);
        } else if path.extension().is_some_and(|found| found == kind) && into.len() < BYTES {
            into.push_str(&std::fs::read_to_string(&path).expect("text"));
        }
    }
}

pub fn all() -> Vec<(&'static str, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let (mut prose, mut source) = (String::new(), String::new());
    files(&format!("{root}/docs"), "md", &mut prose);
    files(&format!("{root}/crates"), "rs", &mut source);
    let json = |random: &mut Random| {
        let mut record = String::new();
        write!(
            record,
            "{{\"id\":{},\"key\":\"{}\",\"name\":\"{} {} {}\",\"amount\":{}.{:02},\"at\":\"20{:02}-{:02}-{:02}T{:02}:{:02}:{:02}Z\",\
             \"isActive\":{},\"note\":\"{} {}\"}},",
            random.below(100_000_000), random.text(HEX, 12), random.of(WORDS), random.text(SMALL, 6), random.of(WORDS),
            random.below(10_000), random.below(100), random.below(30), random.below(12) + 1, random.below(28) + 1,
            random.below(24), random.below(60), random.below(60), random.below(2) == 0, random.of(WORDS), random.text(SMALL, 8),
        )
        .expect("writing to a string");
        record
    };
    let row = |random: &mut Random| {
        format!(
            "| {} | {} {} | {}.{:02} | {}@{}.com | (555) {:03}-{:04} |\n",
            random.below(1_000_000),
            random.of(WORDS),
            random.text(SMALL, 5),
            random.below(9_999),
            random.below(100),
            random.text(SMALL, 7),
            random.of(WORDS),
            random.below(1_000),
            random.below(10_000),
        )
    };
    let uuid = |random: &mut Random| {
        let mut part = |length| random.text(HEX, length);
        format!(
            "{}-{}-{}-{}-{}\n",
            part(8),
            part(4),
            part(4),
            part(4),
            part(12)
        )
    };
    let letters = |length: usize| {
        let mut random = Random(7);
        random.text(SMALL, length)
    };
    vec![
        ("JSON, unique", filled(json)),
        ("JSON, repeated", repeated(&common::data(2_000))),
        ("Markdown table", filled(row)),
        ("prose", repeated(&prose)),
        (".rs source", repeated(&source)),
        ("UUIDs", filled(uuid)),
        ("base64", filled(|random| random.text(BASE64, 76) + "\n")),
        ("CJK", filled(|random| random.of(CJK).to_owned())),
        (
            "CJK, any characters",
            filled(|random| {
                let char = 0x4e00 + random.below(0x5000) as u32;
                let end = if random.below(12) == 0 { "，" } else { "" };
                format!("{}{end}", char::from_u32(char).unwrap_or('一'))
            }),
        ),
        (
            "runs of blanks up to 400",
            filled(|random| " ".repeat(random.below(400) + 1) + random.of(WORDS)),
        ),
        (
            "runs up to 400 of many characters",
            filled(|random| {
                random
                    .of(&["-", "=", "a", "\n", "0", "_", "*", "\t", "é", "─"])
                    .repeat(random.below(400) + 1)
            }),
        ),
        ("64 KB of blanks", format!("{}x", " ".repeat(64 << 10))),
        ("1 MB of blanks", format!("{}x", " ".repeat(1 << 20))),
        ("1 MB of `a`", "a".repeat(1 << 20)),
        ("64 KB of letters", letters(64 << 10)),
        ("1 MB of letters", letters(1 << 20)),
        ("1 MB of `ab`", "ab".repeat(1 << 19)),
        // The last eight end a word.
        (
            "2 MB of ideographs",
            filled(|random| random.of(&CJK[..CJK.len() - 8]).to_owned()),
        ),
        (
            "1 MB of emoji",
            "👩\u{200d}👩\u{200d}👧".repeat((1 << 20) / 18),
        ),
    ]
}
