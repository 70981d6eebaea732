import { beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import type { Approvals } from "../../src/mcp/tools/asking/approvals.ts";
import { createReplayRecords } from "../../src/records/shared-records.ts";
import { createStorage } from "../../src/records/storage.ts";
import { CONFIRM_TOOL } from "../../src/views/views.ts";
import { DISPUTES, onEveryStore } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { ASKED_HOSTS, type Connected } from "./asked-hosts.ts";
import { readConfirmation } from "./confirming.ts";
import { createRecords, createTenantBroker, type Tenant } from "./each-tool.ts";
import { createOptions, NOW, readProblem, type Result } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

/** Pages whose person approves at once; test/oauth/approvals.test.ts has the real ones. */
const APPROVING: Approvals = {
  open: async ({ id }) => `https://mcp.example/oauth/account/approve/${id}`,
  decisionOf: async () => "approved",
};

const WAYS = ["view", "page", "token"] as const;
type Way = (typeof WAYS)[number];

const CALLS: [tool: string, args: (disputeId: string) => Record<string, unknown>][] = [
  ["disputes_delete", (disputeId) => ({ disputeId })],
  [
    "disputes_apply",
    (disputeId) => ({ changes: [{ disputeId, change: { status: "Canceled" }, ifMatch: "*" }] }),
  ],
];

const CASES = WAYS.flatMap((way) => CALLS.map(([tool, args]) => ({ way, tool, args })));

/** The code of a refusal: of the call, or of its only change. */
const refusalIn = (result: Result): string | undefined => {
  const { results } = (result.structuredContent ?? {}) as { results?: { code?: string }[] };
  return readProblem(result)?.code ?? results?.[0]?.code;
};

verifies("C-110", "C-111", "WK-12", "WK-13");
onEveryStore("a person's yes to a change of real records", (at) => {
  let time = NOW;
  let mine: Tenant;
  let theirs: Tenant;
  let records: Records;

  beforeAll(async () => {
    mine = { at: at(), tenantId: "mine", admin: await at().tenant("mine") };
    theirs = { at: at(), tenantId: "theirs", admin: await at().tenant("theirs") };
    records = await createRecords(mine, "one");
  });

  const open = async (): Promise<string> => {
    const { accountNumber, documentNumber } = records.dispute;
    const { reasonId } = records.used;
    const body = { accountNumber, documentNumber, amount: 5, reasonId };
    return (await mine.admin.call("POST", DISPUTES, { body })).body.disputeId;
  };
  const read = async (disputeId: string): Promise<unknown[]> => {
    const { status, body } = await mine.admin.call("GET", `${DISPUTES}/${disputeId}`);
    return [status, body.status, body.amount];
  };
  const OPEN = [200, 0, 5];

  describe.each(ASKED_HOSTS.slice(0, 1))("(%s)", (_door, mode, connect) => {
    const join = async (
      way: Way,
      { tenant = mine, caller = "ann", name = "host" } = {},
    ): Promise<Connected> => {
      const now = () => time;
      const storage = async () => createStorage(await at().oauthStore(), now);
      const options = await createOptions(await createTenantBroker(tenant), {
        caller,
        now,
        replayGuard: createReplayRecords(storage, now),
        ...(way === "page" ? { approvals: APPROVING } : {}),
      });
      return connect(options, { mode, name, showsViews: way === "view" });
    };

    /** Asks about a dispute; the result sends the person's yes from a host. */
    const ask = async ({ way, tool, args }: (typeof CASES)[number]) => {
      const disputeId = await open();
      const host = await join(way);
      const asked = await host.call(tool, args(disputeId));
      const ticket = asked._meta?.["receivables/ticket"];
      const answer = (from: Connected): Promise<Result> =>
        way === "view"
          ? from.call(CONFIRM_TOOL, { ticket })
          : from.call(tool, {
              ...args(disputeId),
              confirmationToken: readConfirmation(asked).confirmationToken,
            });
      return { disputeId, host, answer };
    };

    it.each(CASES)("by $way for $tool is of no use to others, and of use once", async (one) => {
      const { disputeId, host, answer } = await ask(one);
      const others = [
        await join(one.way, { caller: "bob" }),
        await join(one.way, { name: "another program" }),
        await join(one.way, { tenant: theirs }),
      ];
      for (const other of others) expect((await answer(other)).isError).toBe(true);
      expect(await read(disputeId)).toEqual(OPEN);
      expect((await answer(host)).isError).not.toBe(true);
      expect(await read(disputeId)).not.toEqual(OPEN);
      expect((await answer(host)).isError).toBe(true);
      await Promise.all([host, ...others].map((each) => each.close()));
    });

    it.each(CASES)("by $way for $tool ends when the dispute changes", async (one) => {
      const { disputeId, host, answer } = await ask(one);
      await mine.admin.call("PUT", `${DISPUTES}/${disputeId}`, { body: { amount: 999_999 } });
      expect(refusalIn(await answer(host))).toBe("precondition_failed");
      expect(refusalIn(await answer(host))).toBe("confirmation_invalid");
      expect(await read(disputeId)).toEqual([200, 0, 999_999]);
      await host.close();
    });

    it.each(CASES)("by $way for $tool ends after ten minutes", async (one) => {
      const { disputeId, host, answer } = await ask(one);
      time += 10 * MINUTE + 1;
      expect(refusalIn(await answer(host))).toBe("confirmation_invalid");
      expect(await read(disputeId)).toEqual(OPEN);
      await host.close();
    });
  });
});
