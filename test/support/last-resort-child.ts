import { installLastResort } from "../../src/bin/cli/last-resort.ts";

/** Fails in the way that the argument names, after the guard of the programs is installed. */
installLastResort();
const [, , failure] = process.argv;

if (failure === "exception") {
  setTimeout(() => {
    throw new Error("thrown in a timer");
  }, 1);
}
if (failure === "rejection") {
  void Promise.reject(new Error("rejected and not awaited"));
  setTimeout(() => process.stdout.write("still running"), 50);
}
if (failure === "library") {
  // oxlint-disable-next-line no-console -- what a library does
  console.error(new Error("printed by a library"));
  // oxlint-disable-next-line no-console
  console.log("for stdout");
}
if (failure === "warning") process.emitWarning("an old function", "DeprecationWarning");
