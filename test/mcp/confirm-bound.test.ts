import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { CONFIGURATION, DISPUTES, onEveryStore } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { createRecords, createTenantBroker, type Tenant, tools } from "./each-tool.ts";
import { type Host, connectModern, createOptions, NOW, readProblem } from "./hosts.ts";
import { isOperationTool } from "../../tools/tool.ts";
import { verifies } from "../support/verifies.ts";

verifies("C-110");
onEveryStore("a record that changes while the person reads the question", (at) => {
  let tenant: Tenant;
  let records: Records;
  let host: Host;
  let meanwhile: (question: string) => Promise<void>;
  let atChange: () => Promise<void>;
  let clock = NOW;

  beforeAll(async () => {
    tenant = { at: at(), tenantId: "bound", admin: await at().tenant("bound") };
    records = await createRecords(tenant, "one");
    const broker = await createTenantBroker(tenant);
    const call: Broker["call"] = async (operation, args, options) => {
      if (options.confirmedBy !== undefined) await atChange();
      return broker.call(operation, args, options);
    };
    const options = await createOptions({ ...broker, call }, { now: () => clock });
    host = await connectModern(options, async (question) => {
      await meanwhile(question);
      return { action: "accept", content: { confirm: true } };
    });
  });
  afterAll(() => host.close());
  beforeEach(() => {
    meanwhile = async () => {};
    atChange = async () => {};
  });

  const send = async (method: string, path: string, body?: unknown) => {
    const sent = await tenant.admin.call(method, path, body === undefined ? {} : { body });
    if (sent.status >= 300) throw new Error(sent.text);
    return sent.body;
  };
  const open = async (amount: number): Promise<{ disputeId: string; disputeCode: string }> => {
    const { accountNumber, documentNumber } = records.dispute;
    const { reasonId } = records.used;
    return send("POST", DISPUTES, { accountNumber, documentNumber, amount, reasonId });
  };
  const read = (disputeId: string) => send("GET", `${DISPUTES}/${disputeId}`);
  const refused = async (tool: string, args: Record<string, unknown>) =>
    readProblem(await host.call(tool, args))?.code;

  it("keeps a note that was rewritten", async () => {
    const { disputeId } = await open(5);
    const notes = `${DISPUTES}/${disputeId}/disputenotes`;
    const { disputeNoteId: noteId } = await send("POST", notes, { content: "test note" });
    meanwhile = async (question) => {
      expect(question).toContain("test note");
      await send("PUT", `${notes}/${noteId}`, { content: "the signed agreement" });
    };
    expect(await refused("dispute_notes_delete", { disputeId, noteId })).toBe(
      "precondition_failed",
    );
    expect(await send("GET", `${notes}/${noteId}`)).toMatchObject({
      content: "the signed agreement",
    });
  });

  verifies("C-111");
  it.each([
    ["no version", undefined],
    ["any version", "*"],
    ["guessed versions", "guess"],
  ])("keeps a dispute whose amount was changed, with %s from the model", async (_what, sent) => {
    const { disputeId } = await open(5);
    const guesses = Array.from({ length: 4 }, (_, at) => `"${disputeId}.${at + 1}"`).join(",");
    const ifMatch = sent === "guess" ? guesses : sent;
    meanwhile = () => send("PUT", `${DISPUTES}/${disputeId}`, { amount: 999_999 });
    const more = ifMatch === undefined ? {} : { ifMatch };
    const args = { disputeId, status: "Closed", ...more };
    expect(await refused("disputes_update", args)).toBe("precondition_failed");
    expect(await read(disputeId)).toMatchObject({ status: 0, amount: 999_999 });
    const second = await open(5);
    meanwhile = () => send("PUT", `${DISPUTES}/${second.disputeId}`, { amount: 999_999 });
    const change = { disputeId: second.disputeCode, change: { status: "Closed" } };
    const own = ifMatch?.replaceAll(disputeId, second.disputeId);
    const changes = [{ ...change, ...(own === undefined ? {} : { ifMatch: own }) }];
    const { structuredContent } = await host.call("disputes_apply", { changes });
    expect(structuredContent).toMatchObject({
      applied: 0,
      results: [{ outcome: "refused", code: "precondition_failed" }],
    });
    expect(await refused("disputes_delete", { disputeId: second.disputeId })).toBeUndefined();
  });

  verifies("C-111");
  it("keeps a dispute that changes between the last look and the change", async () => {
    const { disputeId } = await open(5);
    let amount = 999_997;
    atChange = () => send("PUT", `${DISPUTES}/${disputeId}`, { amount: (amount += 1) });
    const close = { disputeId, status: "Closed", ifMatch: "*" };
    expect(await refused("disputes_update", close)).toBe("precondition_failed");
    const changes = [{ disputeId, change: { status: "Closed" }, ifMatch: "*" }];
    const { structuredContent } = await host.call("disputes_apply", { changes });
    expect(structuredContent).toMatchObject({
      applied: 0,
      results: [{ outcome: "refused", code: "precondition_failed" }],
    });
    expect(await read(disputeId)).toMatchObject({ status: 0, amount: 999_999 });
  });

  const createResolution = (code: string) =>
    send("POST", `${CONFIGURATION}/resolutions`, { code, description: code });

  /** Gives a code to another resolution. */
  const moveCode = async (code: string): Promise<void> => {
    await send("DELETE", `${CONFIGURATION}/resolutions/by-code/${code}`);
    await createResolution(code);
  };

  it("is not closed with the resolution that has the code of the question's one by now", async () => {
    const { disputeId } = await open(6);
    await createResolution("CREDIT");
    meanwhile = async (question) => {
      expect(question).toContain("CREDIT");
      await moveCode("CREDIT");
    };
    const change = { status: "Closed", resolutionCode: "CREDIT" };
    expect(await refused("disputes_update", { disputeId, ...change })).toBe("precondition_failed");
    const { structuredContent } = await host.call("disputes_apply", {
      changes: [{ disputeId, change }],
    });
    expect(structuredContent).toMatchObject({ results: [{ code: "precondition_failed" }] });
    expect(await read(disputeId)).toMatchObject({ status: 0, resolutionId: null });
  });

  it.each([0, 60_000])("changes nothing if another record has changed in %i ms", async (ms) => {
    const { disputeId } = await open(8);
    const code = `LATE-${ms}`;
    const { resolutionId } = await createResolution(code);
    const revalue = (isValid: boolean) => async () => {
      await send("PUT", `${CONFIGURATION}/resolutions/${resolutionId}`, { isValid });
      clock += ms;
    };
    const change = { status: "Closed", resolutionCode: code };
    meanwhile = revalue(true);
    expect(await refused("disputes_update", { disputeId, ...change })).toBe("precondition_failed");
    meanwhile = revalue(false);
    const changes = [{ disputeId, change }];
    const { structuredContent } = await host.call("disputes_apply", { changes });
    expect(structuredContent).toMatchObject({
      applied: 0,
      results: [{ outcome: "refused", code: "precondition_failed" }],
    });
    expect(await read(disputeId)).toMatchObject({ status: 0 });
    meanwhile = async () => {};
    expect(await refused("disputes_update", { disputeId, ...change })).toBeUndefined();
  });

  it("changes the disputes of several that have stayed as they were", async () => {
    const [one, two] = [await open(11), await open(12)];
    meanwhile = () => send("PUT", `${DISPUTES}/${one.disputeId}`, { amount: 999_999 });
    const { structuredContent } = await host.call("disputes_apply", {
      changes: [one, two].map(({ disputeId }) => ({ disputeId, change: { status: "Closed" } })),
    });
    expect(structuredContent).toMatchObject({
      applied: 1,
      results: [{ outcome: "refused", code: "precondition_failed" }, { outcome: "applied" }],
    });
    expect(await read(one.disputeId)).toMatchObject({ status: 0 });
    expect(await read(two.disputeId)).toMatchObject({ status: 1 });
  });

  it("keeps an entry of the configuration whose code another one has now", async () => {
    const { resolutionId } = await createResolution("GONE");
    meanwhile = () => moveCode("GONE");
    expect(await refused("resolutions_delete_by_code", { resolutionCode: "GONE" })).toBe(
      "precondition_failed",
    );
    type Resolution = { code: string; resolutionId: string };
    const all = (await send("GET", `${CONFIGURATION}/resolutions`)) as Resolution[];
    const kept = all.find(({ code }) => code === "GONE");
    expect(kept?.resolutionId).not.toBe(resolutionId);
    expect(kept).toBeDefined();
  });
});

describe("tools that ask", () => {
  /** Their records have no version: they cannot be changed, only created and deleted. */
  const UNCHANGING = ["api_keys_delete", "schedules_delete", "webhooks_create", "webhooks_delete"];
  /** Each change has a version of its own; a document that is created has none. */
  const BY_THEMSELVES = ["disputes_apply", "disputes_open", "documents_create"];

  verifies("C-110");
  it("read the record that they change, whose version is sent with the change", () => {
    const asking = tools.filter(isOperationTool).filter(({ confirm }) => confirm !== undefined);
    const unbound = asking.filter(
      ({ confirm }) => !Object.values(confirm?.reads ?? {}).some((one) => "path" in one),
    );
    expect(asking.length).toBeGreaterThan(15);
    expect(unbound.map(({ name }) => name).toSorted()).toEqual(
      [...UNCHANGING, ...BY_THEMSELVES].toSorted(),
    );
  });
});
