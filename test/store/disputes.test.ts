import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { countDisputes } from "../../src/platform/store/queries/disputes.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

type Step = { act: "create" | "update" | "delete"; which: number; status: 0 | 1 | 2 };

const Steps = fc.array(
  fc.record<Step>({
    act: fc.constantFrom("create", "create", "update", "update", "delete"),
    which: fc.nat(20),
    status: fc.constantFrom(0, 1, 2),
  }),
  { minLength: 20, maxLength: 40 },
);

onEveryStore("counted disputes", (at) => {
  const admin = useTenant(at, "counted");
  beforeAll(() => configure(admin));

  const play = async (ids: string[], { act, which, status }: Step): Promise<void> => {
    const id = ids[which % Math.max(1, ids.length)];
    if (act === "create" || id === undefined) {
      const body = { amount: 1, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };
      ids.push((await admin.call("POST", DISPUTES, { body })).body.disputeId);
    } else if (act === "update") {
      await admin.call("PUT", `${DISPUTES}/${id}`, { body: { status } });
    } else {
      await admin.call("DELETE", `${DISPUTES}/${id}`);
      ids.splice(ids.indexOf(id), 1);
    }
  };

  verifies("C-86");
  it("keep the stored totals equal to the sums of the rows", async () => {
    const { read } = at().store;
    await fc.assert(
      fc.asyncProperty(Steps, async (steps) => {
        const ids: string[] = [];
        for (const step of steps) await play(ids, step);
        const rows = await findRows(read, "disputes", { tenant_id: "counted" });
        for (const statuses of [undefined, [0], [1], [2], [1, 2]] as const) {
          const kept = rows.filter(
            (row) => statuses?.some((status) => status === row.status) ?? true,
          );
          expect(await countDisputes(read, "counted", { statuses })).toBe(kept.length);
        }
      }),
      { numRuns: 8, seed: 7 },
    );
  });
});
