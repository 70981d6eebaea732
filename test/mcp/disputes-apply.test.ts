import { describe, expect, it } from "vitest";
import { onEveryStore } from "../support/platform.ts";
import { connectModern, createOptions, readProblem, readText } from "./hosts.ts";
import { openOperationTenant } from "./operation-tenant.ts";
import { dispute } from "./records.ts";
import { createReply, scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("disputes_apply", (at) => {
  const tenant = openOperationTenant(at, "apply");

  const create = async (amount: number): Promise<{ disputeId: string; disputeCode: string }> => {
    const { records, answer } = tenant();
    const { accountNumber, documentNumber } = records.dispute;
    const { reasonId } = records.used;
    const made = await answer("disputes_create", {
      accountNumber,
      documentNumber,
      amount,
      reasonId,
    });
    return { disputeId: String(made["disputeId"]), disputeCode: String(made["disputeCode"]) };
  };

  const statusOf = async (disputeId: string): Promise<unknown> =>
    (await tenant().answer("disputes_get", { disputeId }))["status"];

  verifies("IN-61", "WK-01a");
  it("asks once with a table and reports each change", async () => {
    const { answer, questions, records } = tenant();
    const [one, two, three] = [await create(5), await create(6), await create(7)];
    const { resolutionCode } = records.resolution;
    const asked = questions.length;
    const result = await answer("disputes_apply", {
      changes: [
        { disputeId: one.disputeCode, change: { status: "Closed", resolutionCode } },
        { disputeId: two.disputeId, change: { status: "Canceled", reasonCode: null } },
        { disputeId: three.disputeId, change: { assigneeEmail: records.assignee.assigneeEmail } },
      ],
    });
    expect(result).toMatchObject({
      applied: 3,
      refused: 0,
      results: [one, two, three].map((made) => ({ ...made, outcome: "applied" })),
    });
    const { results } = result as { results: { dispute: Record<string, unknown>; etag: string }[] };
    expect(results.map(({ dispute }) => dispute["status"])).toEqual(["Closed", "Canceled", "Open"]);
    const [closed, , assigned] = results.map(({ dispute }) => dispute);
    expect(closed).toMatchObject({ resolutionCode, amount: 5, currencyCode: expect.any(String) });
    expect(assigned?.["assigneeName"]).toEqual(expect.any(String));
    const version = await tenant().call("disputes_get", { disputeId: three.disputeId });
    expect(version._meta?.["receivables/etag"]).toBe(results[2]?.etag);
    expect(questions).toHaveLength(asked + 1);
    const lines = questions.at(-1)?.split("\n") ?? [];
    expect(lines[0]).toBe("Apply 3 changes?");
    expect(lines[1]).toMatch(new RegExp(`^1\\. Close dispute ${one.disputeCode} of .+, as RES-`));
    expect(lines[2]).toMatch(new RegExp(`^2\\. Cancel dispute ${two.disputeCode} of `));
    expect(lines[2]).not.toContain("reasonCode");
    expect(lines[3]).toMatch(new RegExp(`^3\\. Update dispute ${three.disputeCode} of .+assignee`));
    expect(await statusOf(one.disputeId)).toBe("Closed");
    expect(await statusOf(two.disputeId)).toBe("Canceled");
  });

  verifies("IN-61");
  it("checks all changes before it asks, and changes none if one cannot be made", async () => {
    const { call, answer, questions } = tenant();
    const [fine, ended] = [await create(8), await create(9)];
    await answer("disputes_update", { disputeId: ended.disputeId, status: "Canceled" });
    const asked = questions.length;
    const refused = await call("disputes_apply", {
      changes: [
        { disputeId: fine.disputeId, change: { status: "Closed" } },
        { disputeId: ended.disputeId, change: { status: "Closed" } },
        { disputeId: "none", change: { poNumber: "1" } },
        { disputeId: fine.disputeId, change: { status: "Closed", reasonCode: "NONE" } },
        { disputeId: fine.disputeId, change: { poNumber: "1" }, ifMatch: '"old"' },
      ],
    });
    expect(readProblem(refused).fields?.map(({ field }) => field)).toEqual([
      "changes[1]",
      "changes[2]",
      "changes[3]",
      "changes[4]",
    ]);
    expect(readText(refused)).toContain("Nothing was changed: changes[1] The dispute is Cancel");
    expect(questions).toHaveLength(asked);
    expect(await statusOf(fine.disputeId)).toBe("Open");
    const twice = { disputeId: fine.disputeId, change: { poNumber: "1" } };
    const repeated = await call("disputes_apply", { changes: [twice, twice] });
    expect(readText(repeated)).toContain("changes[1] names a dispute again");
  });
});

describe("disputes_apply without a dialog", () => {
  verifies("IN-61");
  it("shows the table with its token, and acts on the versions that were shown", async () => {
    const one = dispute(1);
    const broker = scriptBroker({
      "disputes.get": createReply(one, { etag: '"v1"' }),
      "disputes.update": () => one,
    });
    const host = await connectModern(await createOptions(broker));
    const args = { changes: [{ disputeId: one.disputeId, change: { poNumber: "7" } }] };
    const asked = await host.call("disputes_apply", args);
    expect(readProblem(asked).code).toBe("confirmation_required");
    expect(readText(asked)).toContain("Apply 1 change?\n1. Update dispute D-INV-1-01");
    const confirmation = asked._meta?.["receivables/confirmation"] as { confirmationToken: string };
    const { confirmationToken } = confirmation;
    const done = await host.call("disputes_apply", { ...args, confirmationToken });
    expect(done.structuredContent).toMatchObject({ applied: 1 });
    expect(broker.seen.at(-1)).toMatchObject({
      id: "disputes.update",
      options: { ifMatch: '"v1"', tool: "disputes_apply" },
    });
  });

  verifies("IN-61", "C-77");
  it("shows what is changed before long texts, also with long names", async () => {
    const one = { ...dispute(1), accountName: "Acme. ".repeat(40) };
    const host = await connectModern(
      await createOptions(scriptBroker({ "disputes.get": () => one })),
    );
    const change = { poNumber: "P".repeat(128), isValid: true, amount: 1 };
    const asked = await host.call("disputes_apply", {
      changes: [{ disputeId: one.disputeId, change }],
    });
    expect(readText(asked)).toMatch(/with amount 1\.00 USD, isValid true, poNumber "P/);
  });

  it("takes 50 changes at most, and only those that disputes_update has", async () => {
    const host = await connectModern(await createOptions(scriptBroker({})));
    const change = { disputeId: "d", change: { poNumber: "7" } };
    const many = { changes: Array.from({ length: 51 }, () => change) };
    expect(readText(await host.call("disputes_apply", many))).toContain("at most 50 items");
    const other = { changes: [{ disputeId: "d", change: { colour: 1 } }] };
    expect(readText(await host.call("disputes_apply", other))).toContain(
      "changes[0].change.colour",
    );
  });
});
