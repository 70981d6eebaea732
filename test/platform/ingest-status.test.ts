import fc from "fast-check";
import { expect, it } from "vitest";
import { AMOUNTS, newModel, play, type Step, steps } from "../support/document-model.ts";
import { DOCUMENT, documentAt, recordAt, useIngestTenant } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("the status of documents", (at) => {
  const call = useIngestTenant(at, "states");
  let counter = 0;

  const perform = (number: string, { act, ...amounts }: Step) => {
    const document = recordAt(call, documentAt(number));
    if (act === "close") return document.close({ closure_reason: "paid" });
    return document[act](act === "patch" ? amounts : { ...DOCUMENT, ...amounts });
  };

  const closuresOf = async (number: string) => {
    const rows = at().store.read.selectFrom("document_closures").select("closure_reason");
    const own = rows.where("tenant_id", "=", "states").where("document_number", "=", number);
    return (await own.orderBy("number").execute()).map((row) => row.closure_reason);
  };

  verifies("ID-08", "ID-09", "ID-10", "ID-11", "ID-14", "T-13", "T-14");
  it("follows the table through any sequence of requests", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const number = `S-${(counter += 1)}`;
        const model = newModel();
        for (const step of list) {
          const wanted = play(model, step);
          expect((await perform(number, step)).status).toBe(wanted);
          const read = await recordAt(call, documentAt(number)).get();
          expect(read.status).toBe(model.exists ? 200 : 404);
          if (!model.exists) continue;
          expect(read.body.status).toBe(model.isOpen ? "open" : "closed");
          for (const name of AMOUNTS) expect(read.body[name]).toBe(model.kept.get(name));
        }
        expect(await closuresOf(number)).toEqual(model.closures);
      }),
      { numRuns: 40, seed: 20_260_302 },
    );
  });
});
