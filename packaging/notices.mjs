// Prints the licences of everything that is in the program: of each crate the texts that it brings, and of the fonts.
// Usage: node notices.mjs TARGET [CARGO-OPTION…], with the options that choose the features
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const [target, ...features] = process.argv.slice(2);
const root = join(import.meta.dirname, "..");
const cargo = (...words) => execFileSync("cargo", [...words, "--locked", ...features], { cwd: root, maxBuffer: 1 << 28, encoding: "utf8" });

// What is reached by normal dependencies is in the program; build scripts, macros and tests are not, but for the
// vocabularies that the build script takes out of bpe-openai.
const tree = cargo("tree", "--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}");
const inside = new Set(tree.split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));
const { packages } = JSON.parse(cargo("metadata", "--format-version", "1", "--filter-platform", target));
const crates = packages.filter(({ name, version, source }) => source !== null && (name === "bpe-openai" || inside.has(`${name} v${version}`)));

const LICENCE = /(^|\/)(li[cs]en[cs]e|copying|notice|unlicense|copyright)[^\/]*$|^fonts\/.*\.txt$/i;
function texts(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => LICENCE.test(file.replaceAll("\\", "/")) && !/\.(rs|rst)$/.test(file));
  return files.map((file) => join(folder, file)).filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, "utf8").trim());
}

// Many crates bring the same text: it stands once, under the names of all.
const byText = new Map();
const add = (text, name) => byText.set(text, [...(byText.get(text) ?? []), name]);
const bare = [];
for (const crate of crates) {
  const name = `${crate.name} ${crate.version} (${crate.license ?? "see its text"})`;
  const found = texts(dirname(crate.manifest_path));
  found.forEach((text) => add(text, name));
  if (found.length === 0) bare.push(`${name}${crate.authors.length > 0 ? `, by ${crate.authors.join(", ")}` : ""}`);
}
const fonts = join(root, "assets/fonts");
for (const file of readdirSync(fonts)) {
  if (file.endsWith(".txt")) add(readFileSync(join(fonts, file), "utf8").trim(), `the font ${file.split("-")[0]}`);
}

const rule = "=".repeat(80);
const parts = [`Loupe contains the work of others: ${crates.length} crates and the fonts that its window shows. Their licences follow.`];
for (const [text, names] of byText) parts.push(`${rule}\n${names.join("\n")}\n\n${text}`);
if (bare.length > 0) {
  parts.push(`${rule}\nThese bring no text of their own; the licences that they name stand above or in LICENSE-MIT and LICENSE-APACHE:\n\n${bare.join("\n")}`);
}
process.stdout.write(`${parts.join("\n\n")}\n`);
