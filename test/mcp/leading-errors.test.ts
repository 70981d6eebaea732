import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { verifies } from "../support/verifies.ts";
import { createRecords, createTenantBroker } from "./each-tool.ts";
import { createOptions, readText, type Result } from "./hosts.ts";
import { CLIENTS, TRANSPORTS } from "./transports.ts";

const TENANT = "leading";

type Sent = [tool: string, args: Record<string, unknown>];

/** What a model sends by mistake or by guessing, and what it is told. */
const MISTAKES: [title: string, sent: (records: Records) => Sent, said: RegExp][] = [
  [
    "a tool that does not exist",
    ({ dispute: { disputeId } }) => ["disputes_close", { disputeId }],
    /Unknown tool: "disputes_close"; did you mean disputes_update with status Closed\?/,
  ],
  [
    "an argument that another way does",
    ({ dispute: { disputeId } }) => ["disputes_update", { disputeId, departmentCode: "SALES" }],
    /departmentCode is not an argument; a dispute has the department of its assignee; set assigneeId or assigneeEmail/,
  ],
  [
    "an argument of another tool",
    ({ dispute: { disputeId } }) => ["disputes_create", { disputeId, status: "Closed" }],
    /status is not an argument; disputes_update sets the status of a dispute/,
  ],
  [
    "a filter that insights have",
    () => ["disputes_list", { AmountMin: 1000 }],
    /AmountMin is not an argument; disputes_triage lists and disputes_summary adds up disputes by it/,
  ],
  [
    "an unknown argument",
    () => ["disputes_triage", { asignee: "x" }],
    /asignee is not an argument; did you mean assignee\?/,
  ],
  [
    "an id as records name it",
    ({ dispute: { disputeId } }) => ["dispute_notes_get", { disputeId, disputeNoteId: "n" }],
    /disputeNoteId is not an argument; did you mean noteId or disputeId\?/,
  ],
  [
    "an unknown field of payments",
    () => ["payments_summarize", { source: "cashapp", groupBy: ["payer"] }],
    /payerName/,
  ],
  [
    "a tool by other words",
    () => ["aging_report", {}],
    /Unknown tool: "aging_report"; did you mean documents_summary/,
  ],
  [
    "a tool with its words in another order",
    () => ["list_disputes", {}],
    /Unknown tool: "list_disputes"; did you mean disputes_list or /,
  ],
  [
    "a condition outside of the filters",
    () => ["payments_summarize", { source: "cashapp", accountNumber: "A-1" }],
    /accountNumber is not an argument; conditions are in filters: \{"accountNumber": \{"eq"/,
  ],
  [
    "a period in one argument",
    () => ["disputes_summary", { dateRange: { from: "2026-01-01" } }],
    /dateRange is not an argument; createdFrom and createdTo take days/,
  ],
  [
    "a number for a text",
    () => ["disputes_summary", { accountNumber: 4711 }],
    /accountNumber\[0\] must be a string, such as "4711"/,
  ],
  [
    "a month without its date",
    () => ["payments_summarize", { source: "cashapp", groupBy: ["month"] }],
    /a date is grouped as paymentDate:month/,
  ],
  [
    "a dispute closed without a resolution",
    ({ dispute: { disputeId } }) => ["disputes_update", { disputeId, status: "Closed" }],
    /without a resolution: it will count as not valid/,
  ],
  [
    "the number of an account in other letters",
    ({ dispute: { accountNumber } }) => [
      "account_overview",
      { account: accountNumber.toLowerCase() },
    ],
    /"accountNumber":"ACC-ASKED"/,
  ],
  [
    "the code of a dispute in other letters",
    () => ["dispute_packet", { disputeId: "d-inv-asked-01" }],
    /"disputeCode":"D-INV-ASKED-01"/,
  ],
  [
    "the code of a dispute in other letters, to an operation",
    () => ["disputes_get", { disputeId: "d-inv-asked-01" }],
    /"disputeCode":"D-INV-ASKED-01"/,
  ],
  [
    "a record that does not exist",
    () => ["disputes_get", { disputeId: "D-NONE-01" }],
    /There is no dispute D-NONE-01\. Next: .*disputes_list with DocumentNumber "NONE"/,
  ],
];

describe.each(TRANSPORTS)("over %s", (_transport, serve) => {
  let at: TestPlatform;
  let broker: Broker;
  let records: Records;
  beforeAll(async () => {
    at = await startPlatform();
    const tenant = { at, tenantId: TENANT, admin: await at.tenant(TENANT) };
    records = await createRecords(tenant, "ASKED");
    broker = await createTenantBroker(tenant);
  });
  afterAll(async () => {
    await broker?.close();
    await at?.close();
  });

  verifies("IN-04", "IN-52", "IN-54");
  it.each(CLIENTS)("%s is told what to do instead", async (_client, connect) => {
    const served = await serve(await createOptions(broker, { now: at.clock }));
    const driver = await connect(served, false);
    const told: [string, string][] = [];
    for (const [title, sent] of MISTAKES) {
      const [tool, args] = sent(records);
      const text = await driver.call(tool, args).then(
        (result: Result) => readText(result),
        (error: Error) => error.message,
      );
      told.push([title, text]);
    }
    await driver.close();
    await served.close();
    expect(told).toEqual(MISTAKES.map(([title, , said]) => [title, expect.stringMatching(said)]));
  });
});
