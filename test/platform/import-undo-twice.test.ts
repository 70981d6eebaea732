import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { listImports, undoImport } from "../../src/platform/admin/imports.ts";
import { camtEntry, camtStatement } from "../support/bank-files.ts";
import { createMoneyCases, documentsFile } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const STATEMENT = camtStatement(
  camtEntry({ amount: "10.00", reference: "P-1" }) +
    camtEntry({ amount: "20.00", reference: "P-2" }),
);

type Undone = { undone: number; note?: string; laterImports?: object[] };

verifies("MN-05");
onEveryStore("taking back an import whose file was imported again", (at) => {
  const { start, bring, pay, paid, tenant } = createMoneyCases(at);
  const undo = async (importId = ""): Promise<Undone> =>
    (await undoImport(
      { store: at().store, clock: at().clock, record: async () => {} },
      importId,
    )) as Undone;
  const listed = async () =>
    (await listImports(at().store.read, tenant())) as {
      importId: string;
      undoneSince?: string[];
    }[];
  const later = (): void => at().clock.advance(MINUTE);

  it("names the later import that found the records, which brings them again", async () => {
    await start("EUR");
    const accounts = await bring("accounts", "account_number,name,currency\nC1,Acme,EUR\n");
    later();
    const first = (await pay(STATEMENT, { format: "camt" })).report;
    later();
    await pay(camtStatement(camtEntry({ amount: "7.00", reference: "P-7" })).replace("S1", "S7"), {
      format: "camt",
    });
    later();
    const second = (await pay(STATEMENT, { format: "camt", file: "again.xml" })).report;
    expect(second).toMatchObject({ written: 0, unchanged: 2 });
    later();
    const undone = await undo(first?.importId);
    expect(undone).toMatchObject({
      laterImports: [{ importId: second?.importId, file: "again.xml", unchanged: 2 }],
      note: expect.stringContaining("import their files again"),
    });
    expect(undone.laterImports).toHaveLength(1);
    expect((await paid()).map(({ amount }) => amount)).toEqual([7]);
    const marked = (await listed()).filter(({ undoneSince }) => undoneSince !== undefined);
    expect(marked).toMatchObject([{ importId: second?.importId, undoneSince: [first?.importId] }]);
    expect((await pay(STATEMENT, { format: "camt" })).report).toMatchObject({ written: 2 });
    expect(await paid()).toHaveLength(3);
    expect(await undo(accounts.report?.importId)).not.toHaveProperty("laterImports");
  });

  it("names none if the later import is the one that is taken back, or was taken back", async () => {
    await start("EUR");
    const first = (await pay(STATEMENT, { format: "camt" })).report;
    later();
    const second = (await pay(STATEMENT, { format: "camt" })).report;
    later();
    expect(await undo(second?.importId)).not.toHaveProperty("laterImports");
    expect(await paid()).toHaveLength(2);
    expect(await undo(first?.importId)).not.toHaveProperty("laterImports");
    expect(await paid()).toEqual([]);
  });

  it("does so for records of tables", async () => {
    await start("EUR", { accounts: ["Acme"] });
    const file = documentsFile({ D1: "10.00" }, "EUR");
    const first = (await bring("documents", file)).report;
    later();
    const second = (await bring("documents", file)).report;
    expect(second).toMatchObject({ unchanged: 1 });
    const undone = await undo(first?.importId);
    expect(undone).toMatchObject({ laterImports: [{ importId: second?.importId, unchanged: 1 }] });
  });
});
