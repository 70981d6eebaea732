import { expect, it } from "vitest";
import {
  application,
  COMPANY,
  field,
  form,
  formType,
  grouping,
  section,
} from "../support/credit.ts";
import { importCredit } from "../support/importing.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const one = (id: string): string => `/creditappcore/api/v1/tenants/{t}/creditapplications/${id}`;

type Fields = Record<string, unknown>;

const withField = (fieldsId: string, more: Fields): Fields =>
  application("app", {
    applicationForm: form(formType("External Form", [section("s", [field(fieldsId, more)])])),
  });

const FIELD = "applicationForm.formType[0].sectionList[0].fieldsList[0]";

const answer = (text: string, index = 0): Fields => ({ answer: text, index, updated: false });

const reference = (more: Fields): Fields => ({
  createdDate: "2026-01-07T08:00:00.000Z",
  referenceName: "Hilltop Tools",
  referenceEmailAddress: "credit@hilltop.example",
  sectionList: [section("reference", [field("years-known")])],
  submitted: true,
  submitDate: "2026-01-08T08:00:00.000Z",
  ...more,
});

const NOWHERE = { businessUnitIdList: ["nowhere"] };

const ASKS = { hasSecondaryQuestions: true };

const NOT_SUBMITTED = { submitted: false, submitDate: null };

/** Records that are refused, and where. */
const WRONG: [what: string, record: Fields, field: string, code: string][] = [
  ["an unknown key", { ...application("app"), colour: "red" }, "colour", "unknown"],
  [
    "an unknown key within",
    { ...application("app"), contact: { firstName: "A", phone: "1" } },
    "contact.phone",
    "unknown",
  ],
  ["no id", { ...application("app"), applicationId: undefined }, "applicationId", "required"],
  ["an id of another type", { ...application("app"), applicationId: 7 }, "applicationId", "type"],
  ["an id too long", application("a".repeat(129)), "applicationId", "too_long"],
  [
    "a company id as text",
    { ...application("app"), company: { ...COMPANY, companyId: "4711" } },
    "company.companyId",
    "type",
  ],
  [
    "a date that is none",
    { ...application("app"), lastActivityDate: "2026-02-30" },
    "lastActivityDate",
    "format",
  ],
  [
    "an unknown status type",
    { ...application("app"), applicationStatus: { type: "Approved", statusDate: "2026-01-01" } },
    "applicationStatus.type",
    "enum",
  ],
  [
    "text that cannot be kept",
    withField("f", { displayName: "a\0b" }),
    `${FIELD}.displayName`,
    "format",
  ],
  [
    "a required field without an answer",
    withField("f", { required: true, answerDetails: [] }),
    `${FIELD}.answerDetails`,
    "required",
  ],
  [
    "two answers where one is allowed",
    withField("f", { answerDetails: [answer("a"), answer("b", 1)] }),
    `${FIELD}.answerDetails`,
    "too_long",
  ],
  [
    "a member of a set without its required answer",
    withField("f", { fieldsSet: [field("g", { answerDetails: [] })] }),
    `${FIELD}.fieldsSet[0].answerDetails`,
    "required",
  ],
  [
    "secondary fields that are not announced",
    withField("f", { secondaryFields: [field("g")] }),
    `${FIELD}.secondaryFields`,
    "conditional",
  ],
  [
    "a secondary question with questions of its own",
    withField("f", {
      hasSecondaryQuestions: true,
      secondaryFields: [field("g", { hasSecondaryQuestions: true })],
    }),
    `${FIELD}.secondaryFields[0].hasSecondaryQuestions`,
    "nesting",
  ],
  [
    "a second level of secondary fields",
    withField("f", {
      hasSecondaryQuestions: true,
      secondaryFields: [field("g", { secondaryFields: [field("h")] })],
    }),
    `${FIELD}.secondaryFields[0].secondaryFields`,
    "too_long",
  ],
  [
    "a submit date before submission",
    application("app", {
      tradeReferences: [{ tradeReferenceId: "t", ...reference({ submitted: false }) }],
    }),
    "tradeReferences[0].submitDate",
    "conditional",
  ],
  [
    "a bank's submit date before submission",
    application("app", {
      bankReferences: [{ bankReferenceId: "b", ...reference({ submitted: false }) }],
    }),
    "bankReferences[0].submitDate",
    "conditional",
  ],
  [
    "another status of a form",
    application("app", {
      applicationForm: form(formType("External Form", [], { status: "Gone" })),
    }),
    "applicationForm.formType[0].status",
    "enum",
  ],
  [
    "another status of a section",
    application("app", {
      applicationForm: form(formType("External Form", [section("s", [], { status: "Gone" })])),
    }),
    "applicationForm.formType[0].sectionList[0].status",
    "enum",
  ],
  [
    "a count that is no number",
    application("app", {
      references: {
        ...(application("app")["references"] as Fields),
        bankReferenceSubmitCount: "two",
      },
    }),
    "references.bankReferenceSubmitCount",
    "format",
  ],
  [
    "a form of another name",
    application("app", { applicationForm: form(formType("Inner Form", [])) }),
    "applicationForm.formType[0].displayName",
    "enum",
  ],
  ["another status of a part", withField("f", { status: "Hidden" }), `${FIELD}.status`, "enum"],
  [
    "another type of user",
    application("app", { applicationUsers: [{ userType: "OWNER", userId: "u" }] }),
    "applicationUsers[0].userType",
    "enum",
  ],
  [
    "a count that is a number",
    application("app", { references: { bankReferenceSubmitCount: 1 } }),
    "references.bankReferenceSubmitCount",
    "type",
  ],
  [
    "a business unit that does not exist",
    application("app", { businessUnitsIds: ["nowhere"] }),
    "businessUnitsIds",
    "unknown_reference",
  ],
  ...(
    [
      ["a field", withField("f", NOWHERE)],
      ["a member of a set", withField("f", { fieldsSet: [field("g", NOWHERE)] })],
      ["a secondary question", withField("f", { ...ASKS, secondaryFields: [field("g", NOWHERE)] })],
      [
        "a member of a set of a secondary question",
        withField("f", {
          ...ASKS,
          secondaryFields: [field("g", { fieldsSet: [field("h", NOWHERE)] })],
        }),
      ],
      ["a form", application("app", { applicationForm: { ...form(), ...NOWHERE } })],
      [
        "a section",
        application("app", {
          applicationForm: form(formType("External Form", [section("s", [], NOWHERE)])),
        }),
      ],
      [
        "a reference",
        application("app", {
          bankReferences: [
            { bankReferenceId: "b", ...reference({ sectionList: [section("s", [], NOWHERE)] }) },
          ],
        }),
      ],
    ] as const
  ).map(([place, record]): [string, Fields, string, string] => [
    `a business unit of ${place} that does not exist`,
    record,
    "businessUnitsIds",
    "unknown_reference",
  ]),
];

onEveryStore("importing credit applications", (at) => {
  verifies("CR-13", "CR-14", "CR-16", "CR-18", "CR-21", "CR-22");
  it("imports a whole application unchanged", async () => {
    const admin = await at().tenant("whole");
    await importCredit(at(), "whole", "business-units", [grouping("g", "v-1", "v-2")]);
    const inUnit = { businessUnitIdList: ["v-2"] };
    const branching = field("exempt", {
      hasSecondaryQuestions: true,
      fieldType: { fieldTypesId: "secondary", displayName: "Secondary" },
      secondaryFields: [field("certificate", { name: "certificate", ...inUnit })],
    });
    const grouped = field("shipping", {
      fieldType: { fieldTypesId: "set", displayName: "Field Set", fieldSetsId: "Address" },
      required: false,
      answerDetails: [],
      fieldsSet: [field("street"), field("city", { position: 2 })],
    });
    const many = field("brands", {
      allowAdditionalAnswers: true,
      answerDetails: [answer("Acme"), answer("Zenith", 1)],
      values: ["Acme", "Zenith", "Other"],
    });
    const parts = [section("s", [branching, grouped, many], { ...inUnit, position: 7 })];
    const whole = application("app", {
      applicationStatus: {
        type: "Closed - Approved",
        statusDate: "2026-02-01T10:00:00.000Z",
        title: "Approved",
      },
      applicationForm: {
        ...form(
          formType("Internal Form", parts),
          formType("External Form", [], { status: "Disabled" }),
        ),
        ...inUnit,
      },
      businessUnitsIds: ["v-1"],
      companyScore: {
        assignedCreditLine: 25_000,
        dibs: 61,
        dibsConfidence: 80,
        fibs: 72.5,
        fibsConfidence: 90,
        calculatedCreditLine: 30_000.25,
      },
      tradeReferences: [
        { tradeReferenceId: "t-1", ...reference({}) },
        { tradeReferenceId: "t-2", ...reference(NOT_SUBMITTED) },
      ],
      bankReferences: [{ bankReferenceId: "b-1", ...reference(NOT_SUBMITTED) }],
      lastReminderDate: "2026-01-08T08:00:00.000Z",
    });
    const { counts, rejects } = await importCredit(at(), "whole", "credit-applications", [whole]);
    expect([counts.written, rejects]).toEqual([1, []]);
    const { autoDecisioned: _decided, references: _counts, ...detail } = whole;
    const { dba: _dba, ...company } = COMPANY;
    expect((await admin.call("GET", one("app"))).body).toEqual({ ...detail, company });
  });

  verifies("CR-13", "CR-15", "CR-16", "CR-17", "CR-18", "CR-22");
  it.each(WRONG)("refuses %s and names the place", async (_what, record, place, code) => {
    await at()
      .tenant("refused")
      .catch(() => undefined);
    const { counts, rejects } = await importCredit(at(), "refused", "credit-applications", [
      record,
    ]);
    expect(rejects.map((reject) => [reject.field, reject.code])).toEqual([[place, code]]);
    expect(counts).toMatchObject({ read: 1, written: 0, rejected: 1 });
  });

  verifies("CR-09", "CR-10");
  it("accepts the fewest possible fields; the rest is empty or derived", async () => {
    const admin = await at().tenant("least");
    const least = {
      applicationId: "app",
      applicationDate: "2026-01-05",
      applicationStatus: { type: "Pending Information", statusDate: "2026-01-05T10:00:00+02:00" },
      company: { companyId: 1, name: "Least" },
      lastActivityDate: "2026-01-06T00:00:00Z",
      tradeReferences: [{ tradeReferenceId: "t-1", submitted: true }, { tradeReferenceId: "t-2" }],
    };
    const { rejects } = await importCredit(at(), "least", "credit-applications", [least]);
    expect(rejects).toEqual([]);
    const { body } = await admin.call("GET", one("app"));
    expect(body).toMatchObject({
      applicationDate: "2026-01-05T00:00:00.000Z",
      applicationStatus: { statusDate: "2026-01-05T08:00:00.000Z", title: "Pending Info" },
      applicationForm: null,
      businessUnitsIds: [],
      companyScore: null,
      lastReminderDate: null,
      bankReferences: [],
    });
    const path =
      "/creditappcore/api/v1/tenants/{t}/users/businessunits/creditapplications/status/list";
    const days = { startDate: "2026-01-06", endDate: "2026-01-06" };
    const list = await admin.call("POST", path, {
      body: { activityType: "LASTMODIFIED", ...days },
    });
    expect(list.body.applications[0].references).toEqual({
      bankReferenceSubmitCount: "0",
      bankReferenceRequestedCount: "0",
      tradeReferenceSubmitCount: "1",
      tradeRefReferenceRequestedCount: "2",
    });
  });

  it("writes nothing when it runs again, and replaces changed applications", async () => {
    const admin = await at().tenant("again");
    const records = [application("app-1"), application("app-2")];
    await importCredit(at(), "again", "credit-applications", records);
    const again = await importCredit(at(), "again", "credit-applications", records);
    expect(again.counts).toMatchObject({ read: 2, written: 0, unchanged: 2, rejected: 0 });
    const changed = [application("app-2", { autoDecisioned: true }), application("app-3")];
    const third = await importCredit(at(), "again", "credit-applications", [
      ...changed,
      ...changed.slice(0, 1),
    ]);
    expect(third.counts).toMatchObject({ written: 2, unchanged: 1 });
    expect((await admin.call("GET", one("app-3"))).status).toBe(200);
  });

  it("keeps stored applications when a row is invalid, and separates tenants", async () => {
    const admin = await at().tenant("mixed");
    const other = await at().tenant("mixed-other");
    const text = [
      JSON.stringify(application("good-1")),
      "{not json",
      JSON.stringify({ ...application("bad"), __proto__: null, extra: 1 }),
      '{"__proto__": {"applicationId": "x"}}',
      JSON.stringify(application("good-2")),
    ].join("\n");
    const { counts, rejects } = await importCredit(at(), "mixed", "credit-applications", text);
    expect(counts).toMatchObject({ read: 5, written: 2, rejected: 3 });
    expect(rejects.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect((await admin.call("GET", one("good-2"))).status).toBe(200);
    expect((await other.call("GET", one("good-2"))).status).toBe(404);
  });
});
