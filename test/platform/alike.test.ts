import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { STATUS_TYPES } from "../../src/contract/operations/credit-applications.ts";
import { formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { application, COMPANY, grouping, score } from "../support/credit.ts";
import { importCredit } from "../support/importing.ts";
import { DOCUMENT, documentAt } from "../support/ingest.ts";
import { CONFIGURATION, DISPUTES, startPlatform, type TestPlatform } from "../support/platform.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

type Step = [method: string, path: string, body?: unknown, headers?: Record<string, string>];

const WORDS = [
  "zeta",
  "Zeta",
  "ähre",
  "Ähre",
  "ßharp",
  "a_b",
  "a%b",
  "A",
  "😀 smile",
  "\uff21 wide",
  "É",
  "E\u0301",
];

const configuration: Step[] = [
  ...WORDS.map((word, index): Step => [
    "POST",
    `${CONFIGURATION}/categories`,
    { code: `${word} ${index}`, description: word },
  ]),
  ...WORDS.map((word, index): Step => [
    "POST",
    `${CONFIGURATION}/reasons`,
    {
      code: `r ${word}`,
      description: `${word} reason`,
      categoryCode: `${word} ${index}`,
      active: index !== 3,
    },
  ]),
  ["POST", `${CONFIGURATION}/categories`, { code: "ZETA 0", description: "again" }],
  ["POST", `${CONFIGURATION}/departments`, { code: "Ops", description: "Øperations" }],
  ["POST", `${CONFIGURATION}/departments`, { code: "sales", description: "Sales" }],
  ...["zoë", "Adam", "émile"].map((name): Step => [
    "POST",
    `${CONFIGURATION}/assignees`,
    {
      departmentCode: name === "Adam" ? "OPS" : "Sales",
      person: {
        firstName: name,
        lastName: "Last",
        email: `${name.normalize("NFD").replace(/\P{ASCII}/gu, "")}@team.example`,
      },
    },
  ]),
  [
    "POST",
    `${CONFIGURATION}/resolutions`,
    { code: "credit", description: "Credit", isValid: true },
  ],
  ...["categories", "reasons", "departments", "assignees", "resolutions"].map((noun): Step => [
    "GET",
    `${CONFIGURATION}/${noun}`,
  ]),
];

const creating: Step[] = Array.from({ length: 60 }, (_, index): Step => {
  const word = WORDS[index % WORDS.length];
  return [
    "POST",
    DISPUTES,
    {
      amount: [0.01, 1e13, 99.99, 0.1 + index, 12345678901.25][index % 5],
      accountNumber: `ACC ${index % 4}`,
      documentNumber: `DOC/${index % 9} ${word}`,
      reasonCode: `R ${word}`,
      poNumber: index % 3 === 0 ? "" : `PO ${word}`,
      unknown: index,
      ...(index % 2 === 0 ? {} : { assigneeId: undefined }),
    },
    index % 7 === 0 ? { "Idempotency-Key": `key ${index % 14}` } : {},
  ];
});

const SORTS = [
  "CreateDate",
  "-Amount",
  "DocumentNumber",
  "-ReasonName",
  "CategoryName,-DisputeCode",
  "AssigneeName",
  "-DepartmentName,Amount",
  "ClosedDate",
  "-ClosedDate",
  "Status,-UpdateDate",
];

const listing: Step[] = [
  ...SORTS.flatMap((sort): Step[] => [
    ["GET", `${DISPUTES}?Sort=${sort}`],
    ["GET", `${DISPUTES}?Sort=${sort}&Page=2&PageSize=7`],
  ]),
  ...WORDS.map((word): Step => ["GET", `${DISPUTES}?ReasonName=${encodeURIComponent(word)}`]),
  ["GET", `${DISPUTES}?Status=0&Status=2&AccountNumber=ACC%201`],
  ["GET", `${DISPUTES}?DocumentNumber=${encodeURIComponent("DOC/1 Zeta")}`],
  ["GET", `${DISPUTES}?PageSize=0`],
  ["GET", `${DISPUTES}/none`],
];

const CREDIT = "/creditappcore/api/v1/tenants/{t}";
const APPLICATIONS = `${CREDIT}/users/businessunits/creditapplications/status/list`;
const SPAN = { startDate: "2026-01-01", endDate: "2026-12-31" };

/** One application a word, in pairs of equal dates. */
const applications = WORDS.map((word, index) =>
  application(`app ${word}`, {
    applicationStatus: {
      type: STATUS_TYPES[index % STATUS_TYPES.length],
      statusDate: formatTimestamp(Date.UTC(2026, 1, 1 + Math.floor(index / 2))),
    },
    businessUnitsIds: [`unit ${word}`],
    company: { ...COMPANY, companyId: index, name: word },
  }),
);

const credit: Step[] = [
  ["GET", `${CREDIT}/businessunits/values`],
  ...(["APPLICATIONSTATUSDATE", "LASTMODIFIED"] as const).flatMap((activityType): Step[] => [
    ["POST", APPLICATIONS, { ...SPAN, activityType }],
    ["POST", APPLICATIONS, { ...SPAN, activityType, page: 2, pageSize: 5 }],
    ["POST", APPLICATIONS, { ...SPAN, activityType, applicationStatusType: ["Under Review"] }],
    ["POST", APPLICATIONS, { ...SPAN, activityType, endDate: "2025-01-01" }],
  ]),
  ...WORDS.map((word): Step => [
    "GET",
    `${CREDIT}/creditapplications/${encodeURIComponent(`app ${word}`)}`,
  ]),
  ["GET", `${CREDIT}/creditapplications/app%20ZETA`],
  ["GET", "/creditprofile/api/v1/tenants/{t}/company/1/score"],
  ["GET", "/creditprofile/api/v1/tenants/{t}/company/ACC%201/score"],
  ["GET", "/creditprofile/api/v1/tenants/{t}/company/2/score"],
];

/** Loads what comes by import alone; the invoices by the ingest API. */
const load = async (at: TestPlatform): Promise<unknown> => {
  const ingest = await at.exportCaller("alike", ["ingest:write"]);
  const invoice = { ...DOCUMENT, account_number: "ACC 1", currency: "USD", denomination: 99.9 };
  for (const number of ["i-1", "i-2"]) await ingest("POST", documentAt(number), { body: invoice });
  await ingest("POST", `${documentAt("i-1")}/closure`, { body: { closure_reason: "write_off" } });
  const units = WORDS.map((word) => `unit ${word}`);
  const imports = [
    await importCredit(at, "alike", "business-units", [
      grouping("zeta", ...units.slice(0, 5)),
      grouping("Ähre", ...units.slice(5)),
      grouping("no", "unit A"),
    ]),
    await importCredit(at, "alike", "credit-applications", [
      ...applications,
      ...applications.slice(0, 3),
      application("bad", { businessUnitsIds: ["UNIT A"] }),
    ]),
    await importCredit(at, "alike", "business-units", [grouping("zeta"), grouping("Ähre")]),
    await importCredit(at, "alike", "scores", [score(1, "2026-01-01"), score(1, "2025-01-01")]),
  ];
  // Each import has an id of its own.
  return imports.map(({ counts, rejects }) => ({ counts, rejects }));
};

/** Runs on the disputes that the script itself has made, by their place in the list. */
const changing = (ids: string[]): Step[] =>
  ids.slice(0, 30).flatMap((id, index): Step[] => {
    const path = `${DISPUTES}/${id}`;
    return [
      [
        "PUT",
        path,
        { assigneeEmail: index % 2 ? "ZO@team.example" : "adam@team.example", amount: index + 0.5 },
      ],
      [
        "PUT",
        path,
        {
          status: [1, 2, "closed", 7][index % 4],
          ...(index % 3 ? {} : { resolutionCode: "CREDIT" }),
        },
      ],
      ["PUT", path, { poNumber: "after" }],
      [
        "POST",
        `${path}/disputenotes`,
        {
          content: `note ${WORDS[index % WORDS.length]}`,
          visibility: index % 2 ? "All" : "Internal",
        },
      ],
      ["GET", `${path}/disputenotes?Sort=CreateDate`],
      ["GET", path],
      ...(index % 10 === 9
        ? ([
            ["DELETE", path],
            ["GET", path],
          ] as Step[])
        : []),
    ];
  });

const HEADERS = [
  "etag",
  "x-total-count",
  "link",
  "x-ignored-fields",
  "idempotency-replayed",
  "content-type",
  "retry-after",
];

const ABOUT = { "X-Platform-Mcp-Tool": "recorded", "X-Request-Id": "recorded" };

const record = async (at: TestPlatform): Promise<unknown[]> => {
  const admin = await at.tenant("alike");
  const read = await at.exportCaller("alike");
  const told: unknown[] = [];
  const play = async (steps: Step[]): Promise<void> => {
    for (const [method, path, body, headers] of steps) {
      at.clock.advance(MINUTE / 4);
      const reply = await admin.call(method, path, { body, headers: { ...ABOUT, ...headers } });
      const shown = HEADERS.map((name) => reply.headers.get(name));
      told.push([method, path, reply.status, shown, reply.text]);
    }
  };
  await play(configuration);
  await play(creating);
  const made = (await admin.call("GET", `${DISPUTES}?Sort=CreateDate`)).body;
  await play(changing(made.map((dispute: { disputeId: string }) => dispute.disputeId)));
  await play(listing);
  told.push(["import", "", 200, [], await load(at)]);
  await play(credit);
  const logs = await read("GET", "/api/v1/remittance-export/audit-logs?limit=1000");
  told.push(logs.body.data);
  return told;
};

describe("the databases", () => {
  const running: TestPlatform[] = [];
  beforeAll(async () => {
    for (const dialect of dialects) running.push(await startPlatform(dialect));
  });
  afterAll(async () => {
    for (const at of running) await at.close();
  });

  verifies("C-08");
  it("answer the same requests with the same bodies, headers and audit log", async () => {
    const [first = [], ...others] = await Promise.all(running.map(record));
    expect(others).toHaveLength(1);
    const statuses = new Set(first.slice(0, -1).map((told) => (told as unknown[])[2]));
    for (const status of [200, 201, 204, 400, 404, 409]) expect(statuses).toContain(status);
    for (const other of others) {
      for (const [index, told] of first.entries()) expect(other[index]).toEqual(told);
    }
  }, 120_000);
});
