//! The words that the plain records are made of.

pub const NAME_STARTS: &[&str] = &[
    "Northbeam", "Harbor", "Cedar", "Summit", "Bluewater", "Granite", "Prairie", "Redwood", "Silverlake", "Ironbridge",
    "Sunrise", "Maple", "Clearview", "Stonegate", "Riverbend", "Lakeshore", "Highland", "Westfield", "Eastgate", "Pinecrest",
    "Oakmont", "Brightway", "Keystone", "Lighthouse", "Meadow", "Falcon", "Evergreen", "Copper Hill", "Juniper", "Atlas",
    "Beacon", "Cascade", "Delta", "Fairview", "Glenwood", "Horizon", "Liberty", "Monarch", "Orchard", "Pioneer",
];
pub const NAME_ENDS: &[&str] = &[
    "Health Partners",
    "Logistics",
    "Dental Group",
    "Manufacturing",
    "Law Offices",
    "Engineering",
    "Credit Union",
    "Foods",
    "Architects",
    "Labs",
    "Insurance",
    "Energy",
    "Realty",
    "Printing",
    "Software",
    "Medical Center",
    "Plumbing",
    "Schools",
    "Veterinary Clinic",
    "Aviation",
    "Textiles",
    "Consulting",
    "Media",
    "Robotics",
    "Hospitality",
];
/// Taken in place of every ninth made name: letters beyond ASCII are everyday data.
pub const OTHER_NAMES: &[&str] = &[
    "Café Lumière",
    "Müller & Söhne GmbH",
    "株式会社さくら",
    "Łódź Tekstylia",
    "Señor Ñandú Logística",
    "🚀 Rocket Bakery",
    "北京云天科技",
    "Ångström Instruments",
    "Crème de la Crème",
    "한빛 소프트웨어",
    "O'Brien & Sons",
    "Žižkov Brewing 🍺",
];
pub const STREETS: &[&str] = &[
    "Main St",
    "Oak Ave",
    "Harbor Blvd",
    "Elm St",
    "Lincoln Way",
    "2nd Ave N",
    "Market St",
    "Park Pl",
    "Washington St",
    "Mill Rd",
    "River Dr",
    "Church St",
    "Peachtree St",
    "Sunset Blvd",
    "Industrial Pkwy",
    "Commerce Dr",
    "Lakeview Ter",
];
/// City, state, ZIP, area code. ZIPs that start with 0 must stay strings.
pub const PLACES: &[(&str, &str, &str, &str)] = &[
    ("Boston", "MA", "02108", "617"),
    ("Portland", "OR", "97205", "503"),
    ("Seattle", "WA", "98104", "206"),
    ("Helena", "MT", "59601", "406"),
    ("Chicago", "IL", "60601", "312"),
    ("Newark", "NJ", "07102", "973"),
    ("Austin", "TX", "78701", "512"),
    ("Denver", "CO", "80202", "303"),
    ("Cañon City", "CO", "81212", "719"),
    ("Atlanta", "GA", "30303", "404"),
    ("San José", "CA", "95113", "408"),
    ("Minneapolis", "MN", "55401", "612"),
    ("Hartford", "CT", "06103", "860"),
    ("Nashville", "TN", "37201", "615"),
    ("Phoenix", "AZ", "85004", "602"),
    ("Richmond", "VA", "23219", "804"),
    ("Madison", "WI", "53703", "608"),
    ("Montréal", "QC", "H2Y 1C6", "514"),
];
/// Resource ids and names; the first three are the originals'.
pub const RESOURCES: &[(i64, &str)] = &[
    (5001, "John Smith"),
    (5002, "Sarah Johnson"),
    (5003, "Mike Davis"),
    (5004, "Zoë Núñez"),
    (5005, "Tomáš Dvořák"),
    (5006, "Aiko Tanaka"),
    (5007, "Priya Raman"),
    (5008, "Liam O'Connor"),
];
pub const QUEUES: &[(i64, &str)] =
    &[(8, "Level 1 Support"), (9, "Level 2 Support"), (12, "Network Operations"), (15, "Onboarding")];
pub const TICKET_TITLES: &[&str] = &[
    "Printer offline on floor 3",
    "VPN disconnects every hour",
    "New laptop for Zoë",
    "Backup job failed overnight",
    "Cannot open shared mailbox",
    "Antivirus alert on workstation",
    "Request: dual monitors 🖥️",
    "Wi-Fi slow in café area",
    "SSL certificate expires soon",
    "Phone system: no outgoing calls",
    "日本語キーボードが使えない",
    "Access to payroll folder",
    "Disk almost full on file server",
    "Onboard 4 contractors",
    "Database timeouts in reports",
    "MFA token lost",
];
pub const DESCRIPTIONS: &[&str] = &[
    "Reported by phone this morning.\nSeveral people are affected and work around it for now.",
    "Started after the last update.\nA restart helps for about an hour.",
    "The user needs this before the end of the week.\nApproval by the manager is attached.",
    "Monitoring raised this on its own.\nNobody has complained yet 🙂",
];
pub const NOTES: &[(&str, &str)] = &[
    ("Called the user", "Left a voicemail and sent an e-mail with two time slots."),
    ("Checked the logs", "Nothing unusual before 06:40, then repeated timeouts from the same host."),
    ("Waiting for vendor", "Case opened with the vendor; they answer within one business day."),
    ("Rückmeldung", "Der Benutzer bestätigt: läuft wieder – danke! 👍"),
    ("Escalated", "Moved to level 2, since the switch needs a firmware update."),
    ("対応完了", "設定を更新し、再起動後に正常動作を確認しました。"),
];
/// Repeated to make the long notes.
pub const LONG_NOTE: &str = "Timeline of the outage as told by the on-site team: the first alarm came from the rack sensor, \
then the core switch rebooted twice, after which the storage paths failed over as designed but did not fail back. ";

pub const FIRST_NAMES: &[&str] = &[
    "Maria", "James", "Chloé", "Wei", "Amara", "Jürgen", "Sofía", "Noah", "Yuki", "Elena", "Omar", "Grace", "Åsa", "Lucas",
    "Hana", "Mateo", "Ingrid", "Daniel", "Zeynep", "Ruth",
];
pub const LAST_NAMES: &[&str] = &[
    "García", "Miller", "Dubois", "Zhang", "Okafor", "Schäfer", "Rossi", "Brown", "Tanaka", "Ivanova", "Haddad", "Kim",
    "Lindström", "Silva", "Nováková", "Clark", "O'Neill", "Patel", "Yılmaz", "Wright", "Jensen", "Moreau", "Adeyemi",
];
pub const ABOUTS: &[&str] = &[
    "Likes hiking and black coffee",
    "Data engineer, plays the cello",
    "Moved from Zürich last year",
    "Runs the local chess club",
    "Speaks four languages 🌍",
    "Enjoys cooking and old maps",
    "Photographer on weekends 📷",
    "读书和爬山",
    "Volunteers at the animal shelter",
    "Builds synthesizers at home",
];
