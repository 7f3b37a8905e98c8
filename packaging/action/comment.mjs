// Writes what was measured as one text: into comment.md, the job's summary, and one comment of the pull request, which
// it replaces from run to run. Usage: node comment.mjs FOLDER, in which head/ and base/ are
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MARK = "<!-- mcp-loupe -->";
const MOST = 10;
const folder = process.argv[2];

function read(side, file, schema) {
  const path = join(folder, side, file);
  if (!existsSync(path)) return null;
  const text = readFileSync(path, "utf8").trim();
  const value = text === "" ? null : JSON.parse(text);
  return value?.schema === schema ? value : null;
}
const side = (name) => ({
  check: read(name, "check.json", "loupe.check/1"),
  verify: read(name, "verify.json", "loupe.verify/1"),
});
const head = side("head");
const base = side("base");

const number = (value) => value.toLocaleString("en-US");
const count = (all, noun) => `${number(all)} ${noun}${all === 1 ? "" : "s"}`;
// Words of a server, in a line of a table or a list: code, in which nothing is a mention, a link, a picture or markup, with
// what nobody sees as its number.
const unseen = /[\p{Cc}\p{Cf}\u034f\u115f\u1160\u2028\u2029\u3164]/gu;
function code(text) {
  const line = String(text).replace(/\s+/g, " ").trim().replace(unseen, (sign) => `⟨U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
  if (line === "") return "";
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((row) => row.length));
  const fence = "`".repeat(longest + 1);
  const pad = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}
// A bar ends a cell even in code.
const cell = (text) => code(text).replaceAll("|", "\\|");
const tokens = (value) => (value === null || value === undefined ? "–" : number(value));
function change(now, before) {
  if (now === null || now === undefined || before === null || before === undefined) return "–";
  if (now === before) return "0";
  const percent = before === 0 ? "" : ` (${Math.abs(Math.round(((now - before) / before) * 100))} %)`;
  return `${now > before ? "+" : "−"}${number(Math.abs(now - before))}${percent}`;
}
const definitions = (check) => new Map(check?.tools.map((tool) => [tool.name, tool.definition?.listed?.o200k_base]) ?? []);
const sum = (map) => [...map.values()].reduce((all, one) => all + (one ?? 0), 0);

/** The rows of a table of names with tokens before and now: the changed ones, and how many are as they were. */
function changed(now, before) {
  const names = [...new Set([...now.keys(), ...before.keys()])];
  return names.filter((name) => now.get(name) !== before.get(name));
}
function row(title, now, before) {
  return `| ${title} | ${tokens(before)} | ${tokens(now)} | ${change(now, before)} |`;
}

const lines = [MARK];
const parts = [head.check, head.verify].filter((part) => part !== null);
const passed = head.check !== null && parts.every((part) => part.passed);
lines.push(`### Loupe: ${head.check === null ? "the server could not be checked" : passed ? "passed" : "did not pass"}`, "");

if (head.check !== null) {
  const [now, before] = [definitions(head.check), definitions(base.check)];
  lines.push("| tokens, `o200k_base` | base | this branch | change |", "|---|---:|---:|---:|");
  lines.push(row(count(now.size, "tool definition"), sum(now), base.check ? sum(before) : null));
  if (base.check) {
    const other = changed(now, before);
    for (const name of other.slice(0, MOST)) lines.push(row(`definition of ${cell(name)}`, now.get(name), before.get(name)));
    if (other.length > MOST) lines.push(`| and ${count(other.length - MOST, "more changed definition")} | | | |`);
  }
  const fixtures = head.verify?.fixtures ?? [];
  if (fixtures.length > 0) {
    const of = (verify) => new Map(verify?.fixtures.map(({ dir, tokens }) => [dir, tokens.now]) ?? []);
    const [now, before] = [of(head.verify), of(base.verify)];
    lines.push(row(count(now.size, "answer"), sum(now), base.verify ? sum(before) : null));
    const over = ({ checks }) => checks.filter(({ check, passed }) => check === "budget" && passed === false);
    const shown = fixtures.filter((one) => now.get(one.dir) !== before.get(one.dir) || over(one).length > 0);
    for (const one of shown.slice(0, MOST)) {
      const budgets = over(one).map(({ path, expected }) => cell([path, expected].filter(Boolean).join(" ")));
      const words = budgets.length > 0 ? `, **over its budget** (${budgets.join(", ")})` : "";
      lines.push(row(`answer of ${cell(one.dir)}${words}`, now.get(one.dir), before.get(one.dir)));
    }
    if (shown.length > MOST) lines.push(`| and ${count(shown.length - MOST, "more changed answer")} | | | |`);
  }
  if (!base.check && process.env.GITHUB_EVENT_NAME === "pull_request") lines.push("", "The base branch could not be measured.");

  const known = new Set(base.check?.findings.map((finding) => finding.fingerprint));
  const { findings } = head.check;
  const fresh = findings.filter((finding) => finding.new && !known.has(finding.fingerprint));
  lines.push("", base.check ? `${count(findings.length, "finding")}, ${number(fresh.length)} of them not on the base branch.` : `${count(findings.length, "finding")}.`);
  const shown = base.check ? fresh : findings;
  for (const finding of shown.slice(0, MOST)) lines.push(`- ${finding.severity} \`${finding.rule}\`: ${code(finding.message)}`);
  if (shown.length > MOST) lines.push(`- and ${shown.length - MOST} more`);
  for (const budget of head.check.budget.filter((budget) => !budget.passed)) {
    lines.push(`- over the budget: ${code(budget.of)} has ${tokens(budget.tokens)} tokens, at most ${number(budget.most)}`);
  }
}

if (head.verify !== null) {
  const said = ({ check, path, message }) => code([check, path, message].filter(Boolean).join(" "));
  const failed = head.verify.fixtures.filter((fixture) => fixture.passed === false);
  const { fixtures: all, passed } = head.verify.totals;
  lines.push("", `${number(passed)} of ${count(all, "fixture")} ${all === 1 ? "is" : "are"} as expected.`);
  for (const fixture of failed.slice(0, MOST)) {
    const why = fixture.checks.filter((check) => check.passed === false);
    lines.push(`- ${code(fixture.dir)}: ${why.slice(0, 3).map(said).join("; ")}`);
  }
  if (failed.length > MOST) lines.push(`- and ${failed.length - MOST} more`);
}

const text = `${lines.join("\n")}\n`;
writeFileSync(join(folder, "comment.md"), text);
if (process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, text);

if (process.env.LOUPE_COMMENT === "true" && process.env.GITHUB_EVENT_NAME === "pull_request") {
  const event = JSON.parse(readFileSync(process.env.GITHUB_EVENT_PATH, "utf8"));
  const issues = `${process.env.GITHUB_API_URL}/repos/${process.env.GITHUB_REPOSITORY}/issues`;
  const ask = async (method, url, body) => {
    const headers = { authorization: `Bearer ${process.env.GITHUB_TOKEN}`, accept: "application/vnd.github+json" };
    const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status}`);
    return answer.json();
  };
  // Whoever writes here could begin a comment with the mark: only one of our own is replaced. REST does not say who the
  // token of a job is.
  const who = async () => {
    const url = process.env.GITHUB_GRAPHQL_URL ?? `${process.env.GITHUB_API_URL}/graphql`;
    const { data } = await ask("POST", url, { query: "query { viewer { login } }" });
    if (!data?.viewer?.login) throw new Error(`POST ${url}: it does not say whose the token is`);
    return data.viewer.login;
  };
  const own = async () => {
    const login = await who();
    for (let page = 1; ; page++) {
      const comments = await ask("GET", `${issues}/${event.pull_request.number}/comments?per_page=100&page=${page}`);
      const found = comments.find(({ body, user }) => body?.startsWith(MARK) && user?.login === login);
      if (found || comments.length < 100) return found;
    }
  };
  try {
    const there = await own();
    if (there) await ask("PATCH", `${issues}/comments/${there.id}`, { body: text });
    else await ask("POST", `${issues}/${event.pull_request.number}/comments`, { body: text });
  } catch (error) {
    // The token of a pull request from a fork may only read: the summary has the text all the same.
    console.log(`::warning::the comment could not be written: ${error.message}`);
  }
}
