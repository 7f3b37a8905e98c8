#!/usr/bin/env node
// Starts the program that npm installed for this platform, in place of this process as far as Node can:
// its input, output and exit status are the program's, and so are the signals.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { createRequire } from "node:module";

const name = `mcp-loupe-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "mcp-loupe.exe" : "mcp-loupe";

let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/bin/${file}`);
} catch {
  console.error(`error: the package ${name} is not installed (${process.platform} ${process.arch})`);
  console.error("hint: npm leaves it out with --omit=optional; if it does not exist, Loupe has no package for this platform");
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(3);
});
child.on("exit", (status, signal) => process.exit(signal ? 128 + constants.signals[signal] : status));
