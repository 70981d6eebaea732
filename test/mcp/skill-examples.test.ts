import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skills } from "../../prompts/skills/index.ts";
import { randomId } from "../../src/kit/ids.ts";
import { insertApiKey } from "../../src/platform/credentials.ts";
import { loadDemo } from "../../src/platform/demo/load.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { createTenantBroker } from "./each-tool.ts";
import { connectModern, createOptions, type Host } from "./hosts.ts";

/** The day of the examples. */
const NOW = "2026-11-27T12:00:00.000Z";
const [FROM, TO] = ["2026-10-01", "2026-10-31"];

type Call = [tool: string, args: Record<string, unknown>];

/** The calls of which each example shows figures. */
const CALLS: Record<string, Call[]> = {
  "dispute-triage": [
    ["disputes_triage", { limit: 15 }],
    ["disputes_get", { disputeId: "D-5222244-01" }],
  ],
  "work-a-dispute": [["dispute_packet", { disputeId: "D-5175194-01" }]],
  "short-pay-investigation": [
    ["account_overview", { account: "C-11387" }],
    ["payments_match_disputes", { accountNumber: ["C-11387"] }],
    ["deductions_without_dispute", { accountNumber: "C-11387" }],
  ],
  "claim-intake": [
    [
      "match_claims",
      {
        lines: [
          {
            reference: "invoice 5175739",
            amount: 18_344.59,
            currencyCode: "EUR",
            customer: "Kilbride Engineering",
            reason: "damaged in transit",
          },
          {
            reference: "INV 521 3827",
            amount: 1643.84,
            currencyCode: "USD",
            customer: "Northgate",
            reason: "short shipment",
          },
        ],
      },
    ],
    ["find_records", { text: "5213827" }],
    ["payments_query", { source: "cashapp", filters: { invoiceNumber: { eq: "5213827" } } }],
  ],
  "month-close": [
    ["disputes_summary", { createdFrom: FROM, createdTo: TO, groupBy: ["category"] }],
    [
      "disputes_summary",
      { status: "Closed", closedFrom: FROM, closedTo: TO, groupBy: ["resolution", "valid"] },
    ],
    ["disputes_summary", { status: "Closed", closedFrom: FROM, closedTo: TO, groupBy: ["valid"] }],
    ["deductions_without_dispute", { from: FROM, to: TO, groupBy: "account" }],
    ["deductions_without_dispute", { from: FROM, to: TO }],
  ],
  "credit-review": [
    ["credit_queue", {}],
    ["account_overview", { account: "C-10864" }],
    ["credit_applications_get", { applicationId: "e855aeb3-245e-8950-8afa-d6103d75f87a" }],
    ["company_scores_get", { companyId: "10864" }],
  ],
};

/** A sum that the example adds up itself: 28,070.69 and 6,393.27 USD past due. */
const SUMS = new Set(["34463.96"]);

const MONTHS =
  "January February March April May June July August September October November December";

/** Returns the amounts, counts and codes of an example, without its title and its dates. */
const readFacts = (example: string): string[] => {
  const [, ...paragraphs] = example.trim().split("\n\n");
  const dates = new RegExp(
    `\\b\\d{1,2} (?:${MONTHS.split(" ").join("|")})(?: \\d{4})?|\\d{4}-\\d\\d-\\d\\d`,
    "g",
  );
  // The last paragraph says what was proposed.
  const text = paragraphs.slice(0, -1).join("\n").replaceAll(dates, "");
  return [...new Set(text.match(/[A-Z]+-\d[\d-]*|\d[\d,]*(?:\.\d+)?/g))].map((fact) =>
    /^[\d,.]+$/.test(fact) ? String(Number(fact.replaceAll(",", ""))) : fact,
  );
};

describe("the examples of the skills", () => {
  let at: TestPlatform;
  let host: Host;
  beforeAll(async () => {
    at = await startPlatform();
    at.clock.set(NOW);
    const files = createDiskFiles(at.files);
    const needs = { store: at.store, files, clock: at.clock, newId: randomId };
    await loadDemo({
      ...needs,
      credentials: async (tx, made) => void (await insertApiKey(tx, needs, made)),
    });
    const admin = await at.person("demo", { roles: ["Administrator"] });
    const broker = await createTenantBroker({ at, tenantId: "demo", admin });
    host = await connectModern(await createOptions(broker, { now: at.clock }));
  }, 120_000);
  afterAll(() => at.close());

  verifies("RC-01");
  it.each(skills.map(({ name, example }) => [name, example] as const))(
    "%s has the figures of the demo tenant",
    async (name, example) => {
      let answers = "";
      for (const [tool, args] of CALLS[name] ?? []) {
        const { structuredContent, isError } = await host.call(tool, args);
        expect([tool, isError ?? false]).toEqual([tool, false]);
        answers += JSON.stringify(structuredContent);
      }
      const words = new Set(answers.match(/[A-Z]+-\d[\d-]*|\d+(?:\.\d+)?/g));
      expect(readFacts(example).filter((fact) => !words.has(fact) && !SUMS.has(fact))).toEqual([]);
    },
  );
});
