import { describe, expect, it } from "vitest";
import { DISPUTES, onEveryStore } from "../support/platform.ts";
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

onEveryStore("disputes_apply with filters", (at) => {
  const tenant = openOperationTenant(at, "apply-where");
  const create = async (amount: number): Promise<string> => {
    const { records, answer } = tenant();
    const { accountNumber, documentNumber } = records.dispute;
    const { reasonId } = records.used;
    const args = { accountNumber, documentNumber, amount, reasonId, poNumber: "PO-OLD" };
    return String((await answer("disputes_create", args))["disputeId"]);
  };
  const contentsOf = async (disputeId: string): Promise<unknown> => {
    const { items } = await tenant().answer("dispute_notes_list", { disputeId });
    return (items as { content: string }[]).map(({ content }) => content);
  };

  verifies("WK-45");
  it("changes all that the filters select, with a note each, after a question that lists them", async () => {
    const { answer, questions } = tenant();
    const ids = [await create(11), await create(12)];
    await create(900);
    const result = await answer("disputes_apply", {
      where: { AmountMin: 11, amountMax: "12", status: "open" },
      change: { PoNumber: "PO-NEW", isValid: true },
      note: "per mail of the customer",
    });
    expect(result).toMatchObject({
      applied: 2,
      results: ids.map((disputeId) => ({ disputeId, outcome: "applied", note: "added" })),
    });
    const lines = questions.at(-1)?.split("\n") ?? [];
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(
      /^1\. Update dispute .+, 11\.00 USD, with isValid true \(was false\), poNumber PO-NEW \(was PO-OLD\), note "per mail of the customer"$/,
    );
    for (const id of ids) expect(await contentsOf(id)).toEqual(["per mail of the customer"]);
  });

  verifies("WK-45");
  it("refuses filters without or with too many hits, and filters beside a list", async () => {
    const { call, questions } = tenant();
    const { accountNumber, documentNumber } = tenant().records.dispute;
    const { reasonId } = tenant().records.used;
    const body = { accountNumber, documentNumber, amount: 77, reasonId };
    for (let made = 0; made < 51; made += 1) await tenant().admin.call("POST", DISPUTES, { body });
    const known = questions.length;
    const refusal = async (args: object) =>
      readText(await call("disputes_apply", args as Record<string, unknown>));
    const change = { poNumber: "1" };
    expect(await refusal({ where: { amountMin: 77, amountMax: 77 }, change })).toContain(
      "where matches 51 disputes; at most 50 are changed",
    );
    expect(await refusal({ where: { amountMin: 5000 }, change })).toContain(
      "where matches no dispute",
    );
    expect(await refusal({ where: {}, change })).toContain("where must have a filter");
    expect(await refusal({ where: { colour: 1 }, change })).toContain("where.colour");
    expect(await refusal({ where: { status: "Open" } })).toContain("change is required with where");
    expect(await refusal({ change })).toContain("changes is required unless where is sent");
    const changes = [{ disputeId: "d", change }];
    expect(await refusal({ changes, where: { status: "Open" } })).toContain(
      "where does not go with changes",
    );
    expect(questions).toHaveLength(known);
  });

  verifies("WK-45");
  it("shows old and new amounts, and asks before disputes_update changes one", async () => {
    const { answer, questions, call } = tenant();
    const disputeId = await create(40);
    const known = questions.length;
    await answer("disputes_update", { disputeId, amount: 40, poNumber: "PO-2" });
    expect(questions).toHaveLength(known);
    await answer("disputes_update", { disputeId, amount: 35 });
    expect(questions.slice(known)).toEqual([
      expect.stringMatching(/^Update dispute .+, with amount 35\.00 USD \(was 40\.00 USD\)\?$/),
    ]);
    await answer("disputes_update", { disputeId, status: "Canceled" });
    const refused = await call("disputes_update", { disputeId, amount: 30 });
    expect(readProblem(refused).code).toBe("conflict");
    await answer("disputes_update", { disputeId, status: "Open", amount: 30 });
    expect(questions.at(-1)).toMatch(/^Reopen dispute .+amount 30\.00 USD \(was 35\.00 USD\)\?$/);
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
    expect(readText(asked)).toMatch(
      /with amount 1\.00 USD \(was .+ USD\), isValid true .*, poNumber P/,
    );
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
