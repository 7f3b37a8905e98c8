// Runs the steps of `action.yml` as GitHub would, in a repository made up for it: the base branch has one server, the
// pull request another, and a server on this machine stands in for GitHub's. Needs git, node and the package `yaml`.
// Usage: node test.mjs PROGRAM NODE_MODULES
import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import assert from "node:assert/strict";
import { test, after } from "node:test";

const [program, modules] = process.argv.slice(2).map((path) => resolve(path));
const root = resolve(import.meta.dirname, "../..");
const { parse } = createRequire(join(modules, "_.js"))("yaml");
const action = parse(readFileSync(join(root, "action.yml"), "utf8"));
const scratch = mkdtempSync(join(tmpdir(), "loupe-action-"));
after(() => rmSync(scratch, { recursive: true }));

/** A repository whose base branch and head start the sample with different texts. */
function repository() {
  const folder = join(scratch, "repository");
  mkdirSync(folder);
  const git = (...words) => execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...words], { cwd: folder, encoding: "utf8" }).trim();
  const server = (set) => writeFileSync(join(folder, "server.sh"), `exec '${program}' sample-server --set '${set}'\n`);
  git("init", "--quiet");
  server("autotask-dual,annotations=on,text=v1");
  execFileSync(program, ["fixture", "save", "fixtures/companies", "autotask_search_companies", "--args", '{"pageSize":5}', "--budget", "content=400", "--", "sh", "server.sh"], { cwd: folder });
  git("add", ".");
  git("commit", "--quiet", "-m", "base");
  const base = git("rev-parse", "HEAD");
  server("autotask-dual,annotations=on,text=v2,output-schema=on");
  git("commit", "--quiet", "-am", "head");
  return { folder, base };
}

/** GitHub's comments, of one pull request. */
function comments() {
  const all = [];
  const asked = [];
  const server = createServer((request, answer) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      asked.push(`${request.method} ${request.url}`);
      const { body: text } = body ? JSON.parse(body) : {};
      if (request.url === "/graphql") return answer.end(JSON.stringify({ data: { viewer: { login: "us[bot]" } } }));
      const id = Number(/comments\/(\d+)$/.exec(request.url)?.[1]);
      if (request.method === "POST") all.push({ id: all.length + 1, body: text, user: { login: "us[bot]" } });
      if (request.method === "PATCH") all.find((one) => one.id === id).body = text;
      answer.end(JSON.stringify(request.method === "GET" ? all : {}));
    });
  });
  return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready({ all, asked, server, url: `http://127.0.0.1:${server.address().port}` })));
}

/** What the expressions in action.yml mean: names with dots, `==`, and `&&`. */
function evaluate(text, values) {
  const value = (word) => (/^'.*'$/.test(word) ? word.slice(1, -1) : word.split(".").reduce((of, name) => of?.[name], values) ?? "");
  return text.split("&&").every((part) => {
    const [left, right] = part.split("==").map((side) => value(side.trim()));
    return left === right;
  });
}
function fill(text, values) {
  return String(text).replace(/\$\{\{ *(.*?) *\}\}/g, (_, name) => name.split(".").reduce((of, part) => of?.[part], values) ?? "");
}

/** Starts a step without standing in the way of GitHub's stand-in, which lives in this process. */
function bash(command, options) {
  return new Promise((done) => {
    const child = spawn("bash", ["-eo", "pipefail", "-c", command], options);
    let said = "";
    child.stdout.on("data", (part) => (said += part));
    child.stderr.on("data", (part) => (said += part));
    child.on("close", (status) => done({ status, said }));
  });
}

async function run(repository, api, given) {
  const temp = mkdtempSync(join(scratch, "runner-"));
  const event = join(temp, "event.json");
  writeFileSync(event, JSON.stringify({ pull_request: { number: 7, base: { sha: repository.base } } }));
  const files = { GITHUB_OUTPUT: join(temp, "output"), GITHUB_STEP_SUMMARY: join(temp, "summary.md") };
  for (const file of Object.values(files)) writeFileSync(file, "");
  // In place of what npm would install.
  mkdirSync(join(temp, "loupe/node_modules/.bin"), { recursive: true });
  symlinkSync(program, join(temp, "loupe/node_modules/.bin/mcp-loupe"));

  const inputs = Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? ""]));
  Object.assign(inputs, { "github-token": "t" }, given);
  const steps = {};
  const ran = [];
  for (const step of action.runs.steps) {
    if (step.if && !evaluate(step.if, { inputs, steps, github: { event_name: "pull_request" } })) continue;
    if (step.uses) {
      ran.push({ name: step.name, with: Object.fromEntries(Object.entries(step.with).map(([name, text]) => [name, fill(text, { inputs, steps })])) });
      continue;
    }
    if (step.name === "Install") continue;
    const env = {
      ...process.env,
      ...files,
      ...Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, fill(text, { inputs, steps })])),
      RUNNER_TEMP: temp,
      GITHUB_ACTION_PATH: root,
      GITHUB_EVENT_PATH: event,
      GITHUB_EVENT_NAME: "pull_request",
      GITHUB_API_URL: api.url,
      GITHUB_GRAPHQL_URL: `${api.url}/graphql`,
      GITHUB_REPOSITORY: "o/r",
    };
    const { status, said } = await bash(step.run, { cwd: repository.folder, env });
    ran.push({ name: step.name, status, said });
    if (step.id) {
      const outputs = readFileSync(files.GITHUB_OUTPUT, "utf8").trim().split("\n").map((line) => line.split("="));
      steps[step.id] = { outputs: Object.fromEntries(outputs) };
    }
    if (status !== 0) break;
  }
  return { ran, steps, summary: readFileSync(files.GITHUB_STEP_SUMMARY, "utf8"), temp };
}

const there = repository();

test("a pull request gets one comment with what changed, and fails where a fixture differs", async () => {
  const api = await comments();
  // Somebody else's, which begins like ours.
  api.all.push({ id: 1, body: "<!-- mcp-loupe -->\nmine", user: { login: "mallory" } });
  const given = { server: "-- sh server.sh", fixtures: "fixtures", check: "--budget total=9000" };
  const first = await run(there, api, given);
  const names = first.ran.map(({ name }) => name);
  assert.deepEqual(names, ["Measure", "Measure the base", "Comment", "Upload the findings", "Result"], JSON.stringify(first.ran, null, 2));
  assert.equal(first.ran.at(-1).status, 1, "the fixture of the other text is not as expected, nor is the budget kept");
  assert.ok(existsSync(first.ran[3].with.sarif_file), "what is uploaded is there");
  assert.equal(JSON.parse(readFileSync(first.ran[3].with.sarif_file, "utf8")).version, "2.1.0");

  const [others, comment] = api.all;
  assert.equal(api.all.length, 2);
  assert.equal(comment.body, first.summary);
  assert.match(comment.body, /^### Loupe: did not pass$/m);
  assert.match(comment.body, /^\| \d+ tool definitions \| [\d,]+ \| [\d,]+ \| \+[\d,]+ \(\d+ %\) \|$/m);
  assert.match(comment.body, /^\| answer of `fixtures\/companies`, \*\*over its budget\*\* \(`content at most 400`\) \| [\d,]+ \| [\d,]+ \| [+−][\d,]+ \(\d+ %\) \|$/m);
  assert.match(comment.body, /^\| 1 answer \| [\d,]+ \| [\d,]+ \| [+−][\d,]+ \(\d+ %\) \|$/m);
  assert.match(comment.body, /^\d+ findings?, \d+ of them not on the base branch\.$/m);
  assert.match(comment.body, /^0 of 1 fixture is as expected\.$/m);

  await run(there, api, given);
  assert.equal(api.all.length, 2, "the second run replaces the comment");
  assert.ok(api.asked.includes("PATCH /repos/o/r/issues/comments/2"));
  assert.equal(others.body, "<!-- mcp-loupe -->\nmine");
  api.server.close();
});

test("a server that is as on the base branch passes", async () => {
  const api = await comments();
  const run_ = await run(there, api, { server: "--sample=dial,annotations=on", sarif: "false" });
  assert.deepEqual(run_.ran.map(({ name, status }) => [name, status]), [["Measure", 0], ["Measure the base", 0], ["Comment", 0], ["Result", 0]], JSON.stringify(run_.ran));
  assert.match(api.all[0].body, /^### Loupe: passed$/m);
  assert.match(api.all[0].body, /\| 0 \|$/m);
  assert.match(api.all[0].body, /, 0 of them not on the base branch\./);
  api.server.close();
});

test("a server that cannot be started fails, and the comment says so", async () => {
  const api = await comments();
  const run_ = await run(there, api, { server: "-- ./no-such-server" });
  assert.deepEqual(run_.ran.map(({ name }) => name), ["Measure", "Measure the base", "Comment", "Result"], JSON.stringify(run_.ran));
  assert.equal(run_.ran.at(-1).status, 1);
  assert.match(api.all[0].body, /the server could not be checked/);
  api.server.close();
});

test("no word of a server is anything but code", () => {
  const words = "@ann,(@o/team) ![x](http://e/p.png) [y](http://e) <http://e> https://e www.e.org #1 o/r#2 GH-3 a@e.org `c` ``d | <img src=x> :tada: \n## h\u202e\u200b\u{e0041}";
  const folder = mkdtempSync(join(scratch, "hostile-"));
  for (const side of ["head", "base"]) mkdirSync(join(folder, side));
  const write = (file, value) => writeFileSync(join(folder, "head", file), JSON.stringify(value));
  const finding = { severity: "error", rule: "a/b", message: words, new: true, fingerprint: "f" };
  write("check.json", { schema: "loupe.check/1", passed: false, tools: [{ name: words, definition: { listed: { o200k_base: 1 } } }], findings: [finding], budget: [{ of: words, most: 1, tokens: 2, passed: false }] });
  const said = { check: words, path: words, message: words, passed: false };
  const budget = { ...said, check: "budget", expected: words };
  write("verify.json", { schema: "loupe.verify/1", passed: false, fixtures: [{ dir: words, passed: false, tokens: { before: 1, now: 2 }, checks: [said, budget] }], totals: { fixtures: 1, passed: 0 } });
  writeFileSync(join(folder, "base/check.json"), JSON.stringify({ schema: "loupe.check/1", tools: [], findings: [] }));
  execFileSync("node", [join(root, "packaging/action/comment.mjs"), folder]);
  const comment = readFileSync(join(folder, "comment.md"), "utf8");
  assert.ok(comment.includes("⟨U+202E⟩⟨U+200B⟩⟨U+E0041⟩") && !/[\u202e\u200b\u{e0041}]/u.test(comment), comment);
  for (const line of comment.split("\n")) {
    // What is left of a line without its code.
    const outside = line.replace(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g, "");
    assert.ok(!/[@#[\]<>]|http|www|GH-|tada/.test(outside.replace(/^#+ Loupe|^<!-- mcp-loupe -->/, "")), `${outside}\n${line}`);
    if (line.startsWith("|")) assert.equal(line.replace(/\\\|/g, "").split("|").length, 6, line);
  }
});

test("words are split as quoted, and nothing in them is run", async () => {
  const api = await comments();
  const run_ = await run(there, api, {
    server: "--sample=dial,annotations=on",
    check: `--call search_user --args '{"name": "$(touch ${scratch}/run)"}'`,
    sarif: "false",
  });
  assert.equal(run_.ran.at(-1).status, 0, JSON.stringify(run_.ran));
  assert.ok(!existsSync(join(scratch, "run")));
  api.server.close();
});
