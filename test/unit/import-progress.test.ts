import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createProgress } from "../../src/bin/commands/progress.ts";
import { SECOND } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { fakeClock } from "../support/clock.ts";

const start = (size: number | undefined, isTTY: boolean) => {
  const clock = fakeClock();
  const lines: string[] = [];
  const log = createLog("info", (line) => lines.push(line), clock);
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 100 });
  let shown = "";
  stream.on("data", (text: string) => {
    shown += text;
  });
  // The functions of a terminal that the bar uses.
  const terminal = Object.assign(stream, { cursorTo() {}, clearLine() {}, moveCursor() {} });
  const progress = createProgress({ stream: terminal, log, clock, size });
  return { progress, clock, lines, shown: () => shown };
};

describe("progress", () => {
  it("is a line of the log every two seconds without a terminal", () => {
    const { progress, clock, lines, shown } = start(200, false);
    progress.at(50, { read: 5 });
    clock.advance(2 * SECOND);
    progress.at(100, { read: 10, written: 9 });
    progress.at(150, { read: 15 });
    progress.end();
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ event: "import.progress", percent: 50, read: 10, written: 9 }),
    ]);
    expect(shown()).toBe("");
  });

  it("has no percentage if the size is unknown", () => {
    const { progress, clock, lines } = start(undefined, false);
    clock.advance(2 * SECOND);
    progress.at(100, { read: 10 });
    expect(lines[0]).not.toContain("percent");
  });

  it("is a bar on a terminal, and a count if the size is unknown", () => {
    const known = start(200, true);
    known.progress.at(100, { read: 1234 });
    known.progress.end();
    expect(known.shown()).toContain("50% | 1234 rows");
    expect(known.lines).toEqual([]);
    const unknown = start(undefined, true);
    unknown.progress.at(100, { read: 77 });
    unknown.progress.end();
    expect(unknown.shown()).toContain("77 rows");
    expect(unknown.shown()).not.toContain("%");
  });
});
