import { beforeAll, describe, expect, it } from "vitest";
import { contract } from "../../src/contract/index.ts";
import { setApplyWhenInvoiceClosed } from "../../src/platform/admin/resolutions.ts";
import { isOperationTool, type OperationTool } from "../../tools/tool.ts";
import { DOCUMENT } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { type Records } from "../support/records.ts";
import { type Arguments, SAMPLES } from "../support/samples.ts";
import { inputSchema, type JsonSchema } from "../../src/mcp/tools/listing/schemas.ts";
import { isReading } from "../../src/mcp/tools/listing/kinds.ts";
import { dump } from "../fault/dump.ts";
import {
  argumentsOf,
  OWN_SAMPLES,
  createTenantBroker,
  createRecords,
  readMessage,
  type Tenant,
  tools,
} from "./each-tool.ts";
import { type Host, connectModern, createOptions, readProblem, YES } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

type Row = Record<string, unknown>;

/** The tables of records. Keys, counters, sessions and request logs change with every call. */
const TABLES = [
  "disputes",
  "documents",
  "accounts",
  "account_notes",
  "dispute_notes",
  "dispute_attachments",
  "document_attachments",
  "categories",
  "reasons",
  "departments",
  "assignees",
  "resolutions",
  "schedules",
  "webhooks",
  "users",
  "memberships",
] as const;
const ENDED = /^(closed|deleted|ended|revoked|canceled)_at$/;
const IS_OVER: readonly unknown[] = [1, 2, "closed"];

const keyOf = (row: Row): string =>
  JSON.stringify([
    row["id"] ?? row["user_id"],
    row["document_number"],
    row["account_number"],
    row["reference"],
  ]);

const fieldsOf = (row: Row): string[] =>
  typeof row["fields"] === "string" ? Object.keys(JSON.parse(row["fields"]) as object) : [];

/** A change of a row that needs confirmation. `clears`: the call names the fields that it clears. */
const endingOf = (before: Row, after: Row | undefined, clears: boolean): string | undefined => {
  if (after === undefined) return "deleted";
  const isOver = !IS_OVER.includes(before["status"]) && IS_OVER.includes(after["status"]);
  const hasEnded = Object.keys(before).some(
    (name) => ENDED.test(name) && before[name] === null && after[name] !== null,
  );
  if (isOver || hasEnded) return "closed";
  const left = new Set(fieldsOf(after));
  return clears || fieldsOf(before).every((name) => left.has(name)) ? undefined : "replaced";
};

/** Unusual values for each argument. */
const valuesOf = ({ type, enum: words, items }: JsonSchema): unknown[] => {
  const types = [type ?? []].flat();
  if (words !== undefined) return words;
  if (types.includes("boolean")) return [true, false, null];
  if (types.includes("number") || types.includes("integer")) return [0, "0", 1, null];
  return items === undefined ? [null] : [[], null];
};

const variants = (tool: OperationTool, args: Arguments): Arguments[] => [
  args,
  ...Object.entries(inputSchema(tool).properties)
    .filter(([name]) => !["cursor", "idempotencyKey", "confirmationToken"].includes(name))
    .flatMap(([name, schema]) => valuesOf(schema).map((value) => ({ ...args, [name]: value }))),
];

onEveryStore("calls that no person was asked about", (at) => {
  let tenant: Tenant;
  let records: Records;
  let host: Host;
  const document_number = "INV-UNASKED";
  let disputeId: string;

  const snapshot = async (): Promise<Map<string, Row>> => {
    const { store } = at();
    const rows = await Promise.all(
      TABLES.map(async (table) =>
        (
          await store.read
            .selectFrom(table as "disputes")
            .selectAll()
            .execute()
        ).map((row) => [`${table} ${keyOf(row)}`, row as Row] as const),
      ),
    );
    return new Map(rows.flat());
  };
  const endings = (before: Map<string, Row>, after: Map<string, Row>, clears = false): string[] =>
    [...before].flatMap(([key, row]) => {
      const ending = endingOf(row, after.get(key), clears);
      return ending === undefined ? [] : [`${ending}: ${key}`];
    });

  beforeAll(async () => {
    tenant = { at: at(), tenantId: "unasked", admin: await at().tenant("unasked") };
    records = await createRecords(tenant, "unasked");
    const broker = await createTenantBroker(tenant);
    const options = { tool: "test" };
    await broker.call(contract.resolutions.create, { code: "PAID", description: "Paid" }, options);
    await setApplyWhenInvoiceClosed(at(), { tenantId: "unasked", code: "PAID", value: true });
    const sent = { ...DOCUMENT, document_number, denomination: 100, currency: "USD" };
    await broker.call(contract.documents.create, sent, options);
    const { output } = await broker.call(
      contract.disputes.create,
      {
        accountNumber: DOCUMENT.account_number,
        documentNumber: document_number,
        amount: 5,
        reasonId: records.reason.reasonId,
      },
      options,
    );
    ({ disputeId } = output);
    host = await connectModern(await createOptions(broker, { settings: { confirm: "refuse" } }));
  });

  const writing = tools
    .filter(isOperationTool)
    .filter(({ operation }) => ["create", "change"].includes(operation.effect));

  /** The sample calls of a tool, and the same calls on the open document with a dispute. */
  const callsOf = (tool: OperationTool, fresh: string): Arguments[] => {
    const samples = (SAMPLES[tool.operation.id] ?? OWN_SAMPLES[tool.name] ?? []).map((sample) =>
      sample(records, fresh),
    );
    const onOpen = samples.slice(0, 1).map((args) => ({
      ...args,
      ...("document_number" in args ? { document_number } : {}),
      ...("disputeId" in args ? { disputeId } : {}),
    }));
    return [...samples.slice(0, 1), ...onOpen]
      .flatMap((args) => variants(tool, args))
      .concat(samples);
  };

  // First, because the tests below move and rename the records that it reads.
  verifies("C-75");
  it("change no record if the tool only reads", async () => {
    const before = await dump(at().store);
    const results = new Map<string, string>();
    for (const tool of tools.filter(isReading)) {
      results.set(tool.name, readMessage(await host.call(tool.name, argumentsOf(tool, records))));
    }
    expect([...results].filter(([, message]) => message !== "done")).toEqual([]);
    expect(results.size).toBeGreaterThan(30);
    expect(await dump(at().store)).toEqual(before);
  }, 120_000);

  describe.each(writing.map((tool) => [tool.name, tool] as const))("of %s", (name, tool) => {
    verifies("C-93");
    it("close, delete and replace no record", async () => {
      const before = await snapshot();
      const codes = new Set<string>();
      for (const [index, args] of callsOf(tool, `fresh-${name}`).entries()) {
        // One after the other, on the same records.
        const result = await host.call(name, { ...args, ...unique(tool, args, index) });
        codes.add(result.isError === true ? readProblem(result).code : "done");
      }
      const clears = tool.operation.method === "PATCH";
      expect(endings(before, await snapshot(), clears)).toEqual([]);
      const always = tool.operation.effects.some(({ when, kind }) => !when && kind !== "replaces");
      expect([...codes]).toContain(always ? "confirmation_unavailable" : "done");
    }, 120_000);
  });

  it("would be seen to close the document and its dispute", async () => {
    const before = await snapshot();
    const broker = await createTenantBroker(tenant);
    const asking = await connectModern(await createOptions(broker), YES);
    await asking.call("documents_update", { document_number, denomination: 0 });
    const seen = endings(before, await snapshot());
    expect(seen.map((line) => line.split(" ").slice(0, 2).join(" ")).toSorted()).toEqual([
      "closed: disputes",
      "closed: documents",
    ]);
    await asking.close();
  });
});

/** Gives each creating call a new code, because a duplicate code is refused. */
const unique = ({ operation }: OperationTool, args: Arguments, index: number): Arguments => {
  if (operation.effect !== "create" || index === 0) return {};
  return "code" in args && typeof args["code"] === "string" ? { code: `U${index}` } : {};
};
