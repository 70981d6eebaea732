import { beforeAll, expect, it } from "vitest";
import { createSeal } from "../../src/kit/seal.ts";
import { DISPUTES, onEveryStore } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { readConfirmation } from "./confirming.ts";
import { createRecords, createTenantBroker, type Tenant } from "./each-tool.ts";
import { connectModern, createOptions, type Host, KEY, readProblem } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

type Row = Record<string, unknown>;

/** What a confirmation is bound to, by the shape that another version of the server may have given it. */
const OLDER: [what: string, bound: (bound: Row) => unknown][] = [
  ["nothing", () => ({})],
  ["ids alone", () => ({ changes: ["id"], prints: [1] })],
  [
    "records without a part",
    ({ changes = [], prints = [] }) => ({
      changes: (changes as unknown[][]).map((change) => change.slice(0, 3)),
      prints: (prints as unknown[]).map((print) => [print]),
    }),
  ],
];

verifies("IN-61", "WK-41", "C-110");
onEveryStore("a confirmation that another version of the server gave", (at) => {
  let tenant: Tenant;
  let records: Records;
  let host: Host;
  const seal = createSeal(KEY, "mcp/confirmation-token");

  beforeAll(async () => {
    tenant = { at: at(), tenantId: "older", admin: await at().tenant("older") };
    records = await createRecords(tenant, "one");
    host = await connectModern(await createOptions(await createTenantBroker(tenant)));
  });

  const list = async (): Promise<Row[]> => (await tenant.admin.call("GET", DISPUTES)).body;
  const claim = () => ({
    accountNumber: records.dispute.accountNumber,
    documentNumber: records.dispute.documentNumber,
    reasonId: records.used.reasonId,
    amount: 7,
  });
  const TOOLS: [tool: string, args: () => Row][] = [
    [
      "disputes_apply",
      () => ({
        changes: [{ disputeId: records.dispute.disputeId, change: { status: "Canceled" } }],
      }),
    ],
    ["disputes_open", () => ({ claims: [claim()] })],
  ];

  it.each(
    OLDER.flatMap(([what, bind]) => TOOLS.map(([tool, args]) => ({ what, bind, tool, args }))),
  )("is not valid for $tool when it was bound to $what", async ({ bind, tool, args }) => {
    const before = await list();
    const { confirmationToken } = readConfirmation(await host.call(tool, args()));
    const facts = seal.open(confirmationToken) as unknown[];
    const older = seal.seal([...facts.slice(0, -1), bind(facts.at(-1) as Row)]);
    const refused = await host.call(tool, { ...args(), confirmationToken: older });
    expect(readProblem(refused)).toMatchObject({
      code: "confirmation_invalid",
      message: expect.stringContaining("nothing was changed"),
    });
    expect(await list()).toEqual(before);
    expect(before.length).toBeGreaterThan(0);
  });
});
