import { once } from "node:events";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { verifies } from "../support/verifies.ts";

const CHILD = fileURLToPath(new URL("../support/last-resort-child.ts", import.meta.url));

const run = async (failure: string) => {
  const child = spawn(process.execPath, [CHILD, failure], { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  const lines = stderr.split("\n").slice(0, -1);
  return { code, stdout, lines: lines.map((line) => JSON.parse(line) as object) };
};

verifies("C-99");
describe("uncaught errors", () => {
  it("log an exception as one JSON line and end the process", async () => {
    const { code, stdout, lines } = await run("exception");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(lines).toMatchObject([
      { level: "error", event: "process.uncaught_exception", error: "thrown in a timer" },
    ]);
  });

  it("log a rejection as one JSON line, and keep the process running", async () => {
    const { code, stdout, lines } = await run("rejection");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "still running" });
    expect(lines).toMatchObject([
      { level: "error", event: "process.unhandled_rejection", error: "rejected and not awaited" },
    ]);
  });

  it("include the console output of libraries, as JSON lines on stderr", async () => {
    const { stdout, lines } = await run("library");
    expect(stdout).toBe("");
    expect(lines).toMatchObject([
      { level: "warn", message: expect.stringContaining("printed by a library") },
      { level: "warn", message: "for stdout" },
    ]);
  });

  it("include a warning of Node.js, as a JSON line", async () => {
    const { lines } = await run("warning");
    expect(lines).toMatchObject([{ event: "process.warning", message: "an old function" }]);
  });
});
