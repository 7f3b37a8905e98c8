// Writes the two npm packages: `mcp-loupe`, which starts the program, and the one of this platform, which holds it.
// Usage: node pack.mjs VERSION TREE OUT
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

// Of npm: the platforms and processors that packages are made for, by `.github/workflows/release.yml`.
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];

const [version, tree, out] = process.argv.slice(2);
const here = import.meta.dirname;
const common = {
  version,
  license: "MIT OR Apache-2.0",
  keywords: ["mcp", "inspector", "tokens", "markdown", "model-context-protocol"],
};

function pack(folder, manifest, files) {
  rmSync(folder, { recursive: true, force: true });
  for (const [from, to] of files) {
    mkdirSync(join(folder, to, ".."), { recursive: true });
    copyFileSync(from, join(folder, to));
    if (to.startsWith("bin/")) chmodSync(join(folder, to), 0o755);
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  execFileSync(npm, ["pack", "--silent", "--pack-destination", out], { cwd: folder, shell: process.platform === "win32" });
}

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "mcp-loupe.exe" : "mcp-loupe";
const doc = join(tree, "share/doc/mcp-loupe");
const licences = ["LICENSE-MIT", "LICENSE-APACHE"].map((name) => [join(doc, name), name]);

pack(
  join(out, "npm-platform"),
  {
    name: `mcp-loupe-${platform}`,
    ...common,
    description: `The program of the package mcp-loupe for ${platform}`,
    os: [process.platform],
    cpu: [process.arch],
    ...(process.platform === "linux" ? { libc: ["glibc"] } : {}),
    files: ["bin", "LICENSE-*", "THIRD-PARTY.txt"],
  },
  [[join(tree, "bin", file), `bin/${file}`], ...licences, [join(doc, "THIRD-PARTY.txt"), "THIRD-PARTY.txt"]],
);
pack(
  join(out, "npm-main"),
  {
    name: "mcp-loupe",
    ...common,
    description: "A native desktop inspector for comparing MCP response formats",
    type: "module",
    bin: { "mcp-loupe": "bin/run.mjs" },
    engines: { node: ">=18" },
    optionalDependencies: Object.fromEntries(PLATFORMS.map((platform) => [`mcp-loupe-${platform}`, version])),
  },
  [[join(here, "run.mjs"), "bin/run.mjs"], [join(doc, "README.md"), "README.md"], ...licences],
);
for (const folder of ["npm-platform", "npm-main"]) rmSync(join(out, folder), { recursive: true });
