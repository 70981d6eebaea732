import { beforeAll, expect, it, vi } from "vitest";
import { CONFIGURATION, configure, onEveryStore, useTenant } from "../support/platform.ts";
import { findRow, findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const COUNT = 1200;

onEveryStore("configuration lists of many rows", (at) => {
  const admin = useTenant(at, "long");
  let reasonCount = 0;

  beforeAll(async () => {
    await configure(admin);
    await at().store.transaction(async (tx) => {
      const row = await findRow(tx, "reasons", { tenant_id: "long" });
      const copies = Array.from({ length: COUNT }, (_, index) => {
        const code = `copy-${String(index).padStart(5, "0")}`;
        return { ...row, id: code, code, code_folded: code };
      });
      for (let from = 0; from < COUNT; from += 200) {
        // SQLite limits the parameters of a statement.
        await tx
          .insertInto("reasons")
          .values(copies.slice(from, from + 200))
          .execute();
      }
      const all = await findRows(tx, "reasons", { tenant_id: "long" });
      reasonCount = all.length;
    });
  });

  verifies("OP-50");
  it("stream from a view of the store, whole and in order, and count their rows", async () => {
    const snapshot = vi.spyOn(at().store, "snapshot");
    const { status, body, headers } = await admin.call("GET", `${CONFIGURATION}/reasons`);
    expect([status, body.length]).toEqual([200, reasonCount]);
    expect(headers.get("x-total-count")).toBe(String(reasonCount));
    const codes = body.map(({ code }: { code: string }) => code.toLowerCase());
    expect(codes).toEqual(codes.toSorted());
    expect(snapshot).toHaveBeenCalledTimes(1);
    for (const short of ["categories", "departments", "assignees", "resolutions"]) {
      expect((await admin.call("GET", `${CONFIGURATION}/${short}`)).status).toBe(200);
    }
    expect(snapshot).toHaveBeenCalledTimes(1);
    snapshot.mockRestore();
  });
});
