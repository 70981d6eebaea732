import { describe, expect, it } from "vitest";
import { skills } from "../../prompts/skills/index.ts";
import { Problem } from "../../src/contract/errors.ts";
import { fairShares } from "../../src/mcp/results/budget.ts";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import { HOSTS, createLineLog, connectModern, createOptions } from "./hosts.ts";
import { createDisputeFile, dispute, createMany, createNote, servePages } from "./records.ts";
import { type ScriptedReply, scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const row = dispute(7, { disputeId: "dispute-7", disputeCode: "D-INV-7-01" });

const CONFIGURATION: Record<string, ScriptedReply> = Object.fromEntries(
  ["reasons", "categories", "departments", "assignees", "resolutions"].map((noun) => [
    `${noun}.list`,
    () => [{ id: `${noun}-1`, code: noun.toUpperCase() }],
  ]),
);

const DISPUTE: Record<string, ScriptedReply> = {
  "disputes.get": ({ disputeId }) => {
    if (disputeId === row.disputeId) return row;
    throw new Problem("not_found", "There is no such dispute.");
  },
  "dispute_notes.list": servePages([createNote(1, "called\u202e the customer")]),
  "dispute_attachments.list": () => [createDisputeFile(1, { fileName: "cl\u200baim.txt" })],
  "disputes.list": ({ DocumentNumber, Page, PageSize }) => {
    const all = DocumentNumber === undefined ? [row, dispute(8)] : [row];
    const rows = all.filter(({ documentNumber }) =>
      documentNumber.startsWith(String(DocumentNumber ?? "")),
    );
    return servePages(rows)({ Page, PageSize }, { tool: "" });
  },
  "payments.query": () => ({ data: [], pagination: { cursor: null, hasMore: false, rowCount: 0 } }),
};

const openHost = async (
  plays: Record<string, ScriptedReply>,
  setup: Parameters<typeof createOptions>[1] = {},
) => {
  const broker = scriptBroker(plays);
  return { broker, host: await connectModern(await createOptions(broker, setup)) };
};

type Contents = { contents: { uri: string; mimeType?: string; text?: string }[] };
const textIn = (result: unknown): string => (result as Contents).contents[0]?.text ?? "";

describe.each(HOSTS)("resources (%s)", (_name, open) => {
  it("are listed, read and completed", async () => {
    const broker = scriptBroker({ ...CONFIGURATION, ...DISPUTE });
    const host = await open(await createOptions(broker));
    const { client } = host;
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "receivables://guide",
      "receivables://dispute-configuration",
      ...["reasons", "categories", "departments", "assignees", "resolutions"].map(
        (noun) => `receivables://dispute-configuration/${noun}`,
      ),
      "receivables://credit-applications",
      "receivables://export/schema",
      ...skills.map(({ name }) => `skill://${name}/SKILL.md`),
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "receivables://dispute-configuration/{noun}",
      "receivables://disputes/{disputeId}",
      "receivables://disputes/{disputeId}/attachments/{attachmentId}",
      "receivables://disputes/{disputeId}/attachments/{attachmentId}/text",
      "receivables://credit-applications/{applicationId}",
      "receivables://export/schema/{source}",
      "receivables://export-runs/{scheduleId}",
      "receivables://export-runs/{scheduleId}/{runId}",
      "receivables://accounts/{accountNumber}",
      "receivables://documents/{documentNumber}",
      "receivables://documents/{documentNumber}/attachments/{id}",
      "receivables://documents/{documentNumber}/attachments/{id}/text",
      "receivables://saved/{name}",
    ]);
    const { contents } = await client.readResource({ uri: "receivables://disputes/dispute-7" });
    expect(JSON.parse(textIn({ contents }))).toEqual({
      dispute: { ...row, status: "Open" },
      notes: { items: [createNote(1, "called the customer")], total: 1, truncated: false },
      attachments: {
        items: [createDisputeFile(1, { fileName: "claim.txt" })],
        total: 1,
        truncated: false,
      },
    });
    expect(broker.seen.every(({ options }) => options.tool === "resources.read")).toBe(true);
  });
});

describe("resources", () => {
  it("the guide needs no platform and covers the enabled toolsets", async () => {
    const { host, broker } = await openHost(
      {},
      { settings: { toolsets: ["audit"], readOnly: true } },
    );
    const text = textIn(await host.client.readResource({ uri: "receivables://guide" }));
    expect(text).toContain("read-only");
    expect(text).toContain("audit_logs_list");
    expect(text).not.toContain("disputes_update");
    expect(broker.seen).toEqual([]);
    const { resources } = await host.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["receivables://guide"]);
    const { resourceTemplates } = await host.client.listResourceTemplates();
    expect(resourceTemplates.map(({ name }) => name)).toEqual(["saved-table"]);
    expect((await host.client.listPrompts()).prompts).toEqual([]);
  });

  it("configuration is available whole or by noun", async () => {
    const { host, broker } = await openHost(CONFIGURATION);
    const all = textIn(
      await host.client.readResource({ uri: "receivables://dispute-configuration" }),
    );
    expect(JSON.parse(all)).toMatchObject({
      reasons: { items: [{ code: "REASONS" }], total: 1, truncated: false },
      resolutions: { items: [{ code: "RESOLUTIONS" }] },
    });
    const uri = "receivables://dispute-configuration/assignees";
    expect(Object.keys(JSON.parse(textIn(await host.client.readResource({ uri }))))).toEqual([
      "assignees",
    ]);
    expect(broker.seen).toHaveLength(6);
  });

  verifies("C-73");
  it("stay within the budget and report truncation", async () => {
    const rows = createMany(500, (index) => ({
      id: `id-${index}`,
      description: "words ".repeat(20),
    }));
    const plays = Object.fromEntries(Object.keys(CONFIGURATION).map((id) => [id, () => rows]));
    const notes = createMany(50, (index) => createNote(index, "a long story ".repeat(200)));
    const { host } = await openHost(
      { ...plays, ...DISPUTE, "dispute_notes.list": servePages(notes) },
      { settings: { answerTokens: 5000 } },
    );
    for (const uri of [
      "receivables://dispute-configuration",
      "receivables://dispute-configuration/reasons",
      "receivables://disputes/dispute-7",
    ]) {
      const text = textIn(await host.client.readResource({ uri }));
      expect(estimateTokens(text)).toBeLessThanOrEqual(5000);
      expect(estimateTokens(text)).toBeGreaterThan(2000);
      expect(JSON.stringify(JSON.parse(text))).toContain('"truncated":true');
    }
  });

  it("one noun may use the budget that the others leave", async () => {
    const rows = createMany(40, (index) => ({
      id: `id-${index}`,
      description: "words ".repeat(10),
    }));
    for (const large of Object.keys(CONFIGURATION)) {
      const { host } = await openHost(
        { ...CONFIGURATION, [large]: () => rows },
        { settings: { answerTokens: 3000 } },
      );
      const uri = "receivables://dispute-configuration";
      const text = textIn(await host.client.readResource({ uri }));
      expect(estimateTokens(text)).toBeGreaterThan(1500);
      const parts = Object.entries<{ truncated: boolean }>(JSON.parse(text));
      expect(
        parts.filter(([, { truncated }]) => truncated),
        large,
      ).toEqual([]);
      await host.close();
    }
  });

  it("nouns that are all too large get equal shares", async () => {
    expect(fairShares([10, 20, 30], 100)).toEqual([10, 20, 30]);
    expect(fairShares([90, 5, 80, 70], 100)).toEqual([32, 5, 32, 31]);
    expect(fairShares([100, 100], 50)).toEqual([25, 25]);
    expect(fairShares([], 50)).toEqual([]);
  });

  it("a dispute can be read by its code", async () => {
    const { host, broker } = await openHost(DISPUTE);
    const uri = "receivables://disputes/d-inv-7-01";
    const { dispute: found } = JSON.parse(textIn(await host.client.readResource({ uri })));
    expect(found.disputeId).toBe("dispute-7");
    expect(broker.seen[0]?.args).toMatchObject({ DocumentNumber: "inv-7" });
  });

  it.each([
    "receivables://nothing",
    "receivables://dispute-configuration/colours",
    "receivables://dispute-configuration/",
    "receivables://disputes/",
    "receivables://disputes/%zz",
    "receivables://disputes/unknown",
    "file:///etc/passwd",
  ])("do not include %s", async (uri) => {
    const { host } = await openHost(DISPUTE);
    await expect(host.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });

  it("refusals keep their code, and internal errors do not show their text", async () => {
    const { lines, log } = createLineLog();
    const { host } = await openHost(
      {
        "reasons.list": () => {
          throw new Problem("forbidden_permission", "Not permitted.");
        },
        "categories.list": () => {
          throw new Error("secret of the inside");
        },
        "resolutions.list": () => {
          throw new Problem("unavailable", "Down.", { retryAfterSeconds: 10 });
        },
      },
      { log },
    );
    const read = (noun: string) =>
      host.client.readResource({ uri: `receivables://dispute-configuration/${noun}` });
    await expect(read("reasons")).rejects.toThrow("forbidden_permission: Not permitted.");
    await expect(read("resolutions")).rejects.toMatchObject({
      data: { code: "unavailable", retry: "later", retryAfterSeconds: 10 },
    });
    await expect(read("categories")).rejects.toThrow("Something went wrong in this server.");
    expect(lines.join("")).toContain("secret of the inside");
  });
});

describe.each(HOSTS)("prompts (%s)", (_name, open) => {
  it("attach the answer of an insight, or what it refused", async () => {
    const broker = scriptBroker(DISPUTE);
    const host = await open(await createOptions(broker));
    const { client } = host;
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      "daily-brief",
      "triage-disputes",
      "work-dispute",
      "draft-reply",
      "intake",
      "investigate-short-pay",
      "ask-payments",
      "month-close",
      "month-end-deductions",
      "root-cause",
      "review-credit-application",
      "export-health",
    ]);
    expect(prompts[2]?.arguments).toEqual([
      { name: "disputeId", description: "id or code of the dispute", required: true },
    ]);
    const triage = await client.getPrompt({ name: "triage-disputes" });
    expect(JSON.stringify(triage.messages)).toContain("disputes_triage");
    const args = { disputeId: "dispute-7" };
    const work = await client.getPrompt({ name: "work-dispute", arguments: args });
    const [words, answer] = work.messages;
    expect(JSON.stringify(words)).toContain("dispute-7");
    expect(JSON.stringify(answer)).toContain("dispute_packet:");
    expect(new Set(broker.seen.map(({ options }) => options.tool))).toEqual(
      new Set(["prompts.get"]),
    );
  });
});

describe("prompts", () => {
  it("continue without a record that cannot be read", async () => {
    const { host } = await openHost(DISPUTE);
    const args = { disputeId: "gone\u202e" };
    const { messages } = await host.client.getPrompt({ name: "work-dispute", arguments: args });
    expect(messages).toHaveLength(2);
    expect(JSON.stringify(messages[1])).toContain("not_found: No dispute");
    expect(JSON.stringify(messages)).not.toContain("\u202e");
  });

  it("name a missing argument, and suggest the name of a prompt", async () => {
    const { host } = await openHost({});
    const get = (name: string) => host.client.getPrompt({ name });
    await expect(get("work-dispute")).rejects.toThrow("work-dispute needs disputeId");
    await expect(get("work-disputes")).rejects.toThrow("did you mean work-dispute?");
  });
});

describe("completions", () => {
  const complete = async (
    ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string },
    name: string,
    value: string,
    plays: Record<string, ScriptedReply> = DISPUTE,
  ) => {
    const { host, broker } = await openHost(plays);
    const { completion } = await host.client.complete({ ref, argument: { name, value } });
    await host.close();
    return { values: completion.values, seen: broker.seen };
  };
  const ofDispute = { type: "ref/resource", uri: "receivables://disputes/{disputeId}" } as const;
  const ofPrompt = { type: "ref/prompt", name: "work-dispute" } as const;

  it("offer ids and codes of open disputes", async () => {
    const byId = await complete(ofDispute, "disputeId", "dispute-");
    expect(byId.values).toEqual(["dispute-7"]);
    expect(byId.seen[0]?.options.tool).toBe("completion.complete");
    expect(byId.seen[0]?.args).toMatchObject({ Status: [0], Sort: "-UpdateDate" });
    expect((await complete(ofPrompt, "disputeId", "d-inv")).values).toEqual([
      "D-INV-7-01",
      "D-INV-8-01",
    ]);
    expect((await complete(ofPrompt, "disputeId", "")).values).toHaveLength(2);
  });

  it("offer the nouns of the configuration, without the platform", async () => {
    const ref = {
      type: "ref/resource",
      uri: "receivables://dispute-configuration/{noun}",
    } as const;
    const { values, seen } = await complete(ref, "noun", "re");
    expect(values).toEqual(["reasons", "resolutions"]);
    expect(seen).toEqual([]);
  });

  it("are empty for unknown arguments, and if the platform refuses", async () => {
    expect((await complete(ofDispute, "colour", "x")).values).toEqual([]);
    expect((await complete({ type: "ref/prompt", name: "none" }, "a", "x")).values).toEqual([]);
    const refusing: Record<string, ScriptedReply> = {
      "disputes.list": () => {
        throw new Problem("unavailable", "Down.");
      },
    };
    expect((await complete(ofDispute, "disputeId", "x", refusing)).values).toEqual([]);
  });
});
