#!/usr/bin/env node
// Starts the program of this platform in its place: same input, same output, same signals, same end.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `standin-cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/standin`);
} catch {
  console.error(
    `standin: there is no program for ${process.platform} on ${process.arch}: the package ${name} is not installed.\n` +
      "It comes with this one where there is one; npm must not be told to leave optional packages out.",
  );
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to both; who ends this process alone means the program.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`standin: ${program} could not be started: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
