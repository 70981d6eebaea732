import { expect, it } from "vitest";
import { application, grouping, score } from "../support/credit.ts";
import { importCredit } from "../support/importing.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const UNITS = "/creditappcore/api/v1/tenants/{t}/businessunits/values";

onEveryStore("importing business units", (at) => {
  verifies("CR-01");
  it("creates and replaces groupings, and writes nothing when it runs again", async () => {
    const admin = await at().tenant("groupings");
    const records = [grouping("g-1", "v-1"), grouping("g-2", "v-2", "v-3")];
    await importCredit(at(), "groupings", "business-units", records);
    const again = await importCredit(at(), "groupings", "business-units", records);
    expect(again.counts).toMatchObject({ written: 0, unchanged: 2 });
    await importCredit(at(), "groupings", "business-units", [grouping("g-2", "v-3", "v-4")]);
    const { body } = await admin.call("GET", UNITS);
    expect(body).toEqual([grouping("g-1", "v-1"), grouping("g-2", "v-3", "v-4")]);
  });

  verifies("CR-22");
  it("refuses to remove values that applications name, and a value in two groupings", async () => {
    await at().tenant("units-kept");
    const load = (...records: unknown[]) =>
      importCredit(at(), "units-kept", "business-units", records);
    await load(grouping("g", "kept", "free", "KEPT"), grouping("h", "other"));
    await importCredit(at(), "units-kept", "credit-applications", [
      application("app", { businessUnitsIds: ["kept"] }),
    ]);
    const codes = async (record: unknown) =>
      (await load(record)).rejects.map(({ field: at2, code }) => [at2, code]);
    const LIST = "businessUnitsValuesList";
    expect(await codes(grouping("g", "free", "KEPT"))).toEqual([[LIST, "in_use"]]);
    expect(await codes(grouping("g", "kept"))).toEqual([]);
    expect(await codes(grouping("h", "other", "kept"))).toEqual([[LIST, "duplicate"]]);
    expect(await codes(grouping("h", "twice", "twice"))).toEqual([[LIST, "duplicate"]]);
    expect(await codes({ ...grouping("h", "other"), colour: 1 })).toEqual([["colour", "unknown"]]);
    expect(await codes({ ...grouping("h"), businessUnitsId: "" })).toEqual([
      ["businessUnitsId", "required"],
    ]);
  });
});

onEveryStore("importing scores", (at) => {
  verifies("CR-03");
  it("reads NDJSON and CSV, and writes nothing when it runs again", async () => {
    const admin = await at().tenant("scores");
    const csv = [
      "companyId,asOf,fibs.fibs_score,fibs.fibs_confidence,dibs.dibs_score,dibs.dibs_confidence,creditLimit,bankruptcyFlag",
      "4711,2026-02-01,50,60,70.5,80,1234.56,1",
      "4712,2026-02-01,50,60,700,80,1234.56,0",
      "4713,soon,50,60,70,80,1,0",
    ].join("\n");
    for (const written of [1, 0]) {
      const { counts, rejects } = await importCredit(at(), "scores", "scores", csv, {
        format: "csv",
      });
      expect(counts).toMatchObject({ read: 3, written, unchanged: 1 - written, rejected: 2 });
      expect(rejects.map(({ line, field: place }) => [line, place])).toEqual([
        [3, "dibs.dibs_score"],
        [4, "asOf"],
      ]);
    }
    const lines = [score("4714", "2026-01-01"), { ...score(4715, "2026-01-01"), grade: "A" }];
    const { counts, rejects } = await importCredit(at(), "scores", "scores", lines);
    expect([counts.written, rejects.map((reject) => reject.field)]).toEqual([1, ["grade"]]);
    const path = "/creditprofile/api/v1/tenants/{t}/company/4711/score";
    expect((await admin.call("GET", path)).body).toEqual({
      fibs: { fibs_score: 50, fibs_confidence: 60 },
      dibs: { dibs_score: 70.5, dibs_confidence: 80 },
      creditLimit: 1234.56,
      bankruptcyFlag: 1,
      outOfBusinessFlag: 0,
    });
  });
});
