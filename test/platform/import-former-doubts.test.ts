import { expect, it } from "vitest";
import { camtEntry, camtStatement, NOTIFICATION } from "../support/bank-files.ts";
import { createMoneyCases } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const part = (amount: string, reference: string): string =>
  `<TxDtls><Refs><AcctSvcrRef>${reference}</AcctSvcrRef></Refs><Amt Ccy="EUR">${amount}</Amt></TxDtls>`;

const BATCH = camtStatement(
  camtEntry({
    amount: "300.00",
    reference: "B9",
    details: part("100.00", "T1") + part("200.00", "T2"),
  }),
);

/** A notification of a month later, which the import does not connect with the batch. */
const single = (reference: string): string =>
  camtStatement(
    camtEntry({
      amount: "100.00",
      reference,
      dates: "<ValDt><Dt>2026-04-30</Dt></ValDt>",
    }),
    NOTIFICATION,
  ).replace("<Id>S1</Id>", "<Id>N1</Id>");

onEveryStore("doubts about batches from versions without their parts", (at) => {
  const { start, pay, amounts, tenant, list, settle } = createMoneyCases(at);
  /** Stores a batch and a payment of it, and the doubt between them as it was stored without the parts. */
  const startDoubtful = async (reference: string): Promise<string> => {
    await start("EUR");
    for (const file of [BATCH, single(reference)]) await pay(file, { format: "camt" });
    expect(await amounts()).toEqual([100, 100, 200]);
    const { store } = at();
    const entries = await store.read
      .selectFrom("payment_entries")
      .selectAll()
      .where("tenant_id", "=", tenant())
      .execute();
    const batch = entries.find(({ kind }) => kind === "camt.053");
    const like = entries.find(({ kind }) => kind === "camt.054");
    const [paymentId = ""] = JSON.parse(like?.payment_ids ?? "[]") as string[];
    await store.transaction(async (tx) => {
      const ofTenant = tx.updateTable("payment_entries").where("tenant_id", "=", tenant());
      await ofTenant.set({ day: batch?.day ?? "", part_count: null }).execute();
      await ofTenant
        .set({ doubt: "open", doubt_of: like?.id ?? "", doubt_payment_id: paymentId })
        .where("id", "=", batch?.id ?? "")
        .execute();
    });
    return batch?.id ?? "";
  };

  verifies("MN-12");
  it("removes the payment that both have, and keeps the others", async () => {
    await settle("same", await startDoubtful("T1"));
    expect(await amounts()).toEqual([100, 200]);
    expect(await list()).toEqual([]);
    for (const file of [BATCH, single("T1")]) {
      expect((await pay(file, { format: "camt" })).report).toMatchObject({ written: 0 });
    }
    expect(await amounts()).toEqual([100, 200]);
  });

  verifies("MN-01", "MN-12");
  it("refuses to remove money that no reference shows to be the same", async () => {
    const id = await startDoubtful("OTHER");
    await expect(settle("same", id)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/300\.00 EUR.*100\.00 EUR: the difference would be lost/),
    });
    expect(await amounts()).toEqual([100, 100, 200]);
    expect(await list()).toMatchObject([{ id }]);
  });
});
