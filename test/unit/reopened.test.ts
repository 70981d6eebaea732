import { expect, it } from "vitest";
import { findReopened, parseReopening } from "../../src/contract/insights/reopened.ts";
import { verifies } from "../support/verifies.ts";

const AT = Date.parse("2026-01-31T23:59:59.999Z");

const reopening = (disputeId: string, formerClosedDate?: string) => ({
  disputeId,
  resourceId: disputeId,
  ...(formerClosedDate === undefined ? {} : { formerStatus: "1", formerClosedDate }),
});

const find = (metadata: readonly object[]) =>
  findReopened(
    metadata.map(parseReopening).filter((one) => one !== undefined),
    AT,
  );

verifies("IN-21");
it("the first reopening after a day tells whether a dispute had ended by then", async () => {
  const { ended, notes } = await find([
    reopening("a", "2026-01-31T23:59:59.999Z"),
    reopening("a", "2026-02-20T00:00:00.000Z"),
    reopening("b", "2026-02-01T00:00:00.000Z"),
    reopening("b", "2026-01-01T00:00:00.000Z"),
    { mcpTool: "disputes_update" },
  ]);
  expect([...ended]).toEqual([["a", { status: 1, closedAt: AT }]]);
  expect(notes).toEqual([]);
});

verifies("IN-01", "IN-21");
it("a note counts the disputes of which the audit log does not tell when they had ended", async () => {
  const { ended, notes } = await find([reopening("a"), reopening("a"), reopening("b")]);
  expect(ended.size).toBe(0);
  expect(notes).toEqual([expect.stringContaining("2 disputes reopened since count as open")]);
});
