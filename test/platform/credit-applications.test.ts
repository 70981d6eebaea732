import { beforeAll, expect, it } from "vitest";
import { STATUS_TITLES, STATUS_TYPES } from "../../src/contract/operations/credit-applications.ts";
import { DAY, formatTimestamp } from "../../src/kit/clock.ts";
import {
  application,
  COMPANY,
  field,
  form,
  formType,
  grouping,
  section,
} from "../support/credit.ts";
import { extentOf } from "../support/extent.ts";
import { importCredit } from "../support/importing.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const LIST = "/creditappcore/api/v1/tenants/{t}/users/businessunits/creditapplications/status/list";
const UNITS = "/api/v1/tenants/{t}/businessunits/values";
const one = (id: string): string => `/creditappcore/api/v1/tenants/{t}/creditapplications/${id}`;

const status = (type: keyof typeof STATUS_TITLES, statusDate: string) => ({
  type,
  statusDate,
  title: STATUS_TITLES[type],
});

const ALL = { activityType: "LASTMODIFIED", startDate: "2026-01-01", endDate: "2026-12-31" };

onEveryStore("credit applications", (at) => {
  const admin = useTenant(at, "credit");
  const list = (body: object) => admin.call("POST", LIST, { body });
  const idsOf = (body: { applications: { applicationId: string }[] }): string[] =>
    body.applications.map(({ applicationId }) => applicationId);

  beforeAll(async () => {
    const records = STATUS_TYPES.map((type, index) =>
      application(`app-${index}`, {
        applicationStatus: status(
          type,
          formatTimestamp(Date.UTC(2026, 1, 1 + index, 23, 59, 59, 999)),
        ),
        lastActivityDate: formatTimestamp(Date.UTC(2026, 5, 20 - index)),
      }),
    );
    await importCredit(at(), "credit", "credit-applications", records);
  });

  verifies("CR-01", "CR-02", "T-02");
  it("lists business units with their values under both prefixes", async () => {
    await at().tenant("units");
    const reader = await at().person("units", { grants: ["Credit Applications : READ"] });
    await importCredit(at(), "units", "business-units", [
      { ...grouping("g-1", "v-3"), displayName: "Regions" },
      { ...grouping("g-2", "v-1", "v-2"), displayName: "Divisions" },
    ]);
    for (const prefix of ["/creditappcore", "/creditapp"]) {
      const { status: code, body } = await reader.call("GET", `${prefix}${UNITS}`);
      expect([code, body]).toEqual([
        200,
        [
          {
            businessUnitsId: "g-2",
            displayName: "Divisions",
            businessUnitsValuesList: [
              { businessUnitsValuesId: "v-1", displayName: "Unit v-1" },
              { businessUnitsValuesId: "v-2", displayName: "Unit v-2" },
            ],
          },
          {
            businessUnitsId: "g-1",
            displayName: "Regions",
            businessUnitsValuesList: [{ businessUnitsValuesId: "v-3", displayName: "Unit v-3" }],
          },
        ],
      ]);
    }
  });

  verifies("CR-05", "CR-10", "CR-11", "CR-12", "T-05");
  it("lists by POST, each with exactly the summary's fields", async () => {
    const { status: code, body, headers } = await list({ ...ALL, endDate: "2026-06-11" });
    expect([code, headers.get("X-Total-Count")]).toEqual([200, "1"]);
    const { headCompanyId: _head, selectedCompanyId: _own, phone: _phone, ...company } = COMPANY;
    expect(body.applications).toEqual([
      {
        applicationId: "app-9",
        applicationDate: "2026-01-05T09:00:00.000Z",
        applicationStatus: status("Closed - Expired", "2026-02-10T23:59:59.999Z"),
        businessUnitIdList: [],
        company,
        contact: { firstName: "Ana", lastName: "Silva", email: "ana@juniper.example" },
        autoDecisioned: false,
        applicantSubmitDate: "2026-01-09T08:00:00.000Z",
        references: {
          bankReferenceSubmitCount: "0",
          bankReferenceRequestedCount: "1",
          tradeReferenceSubmitCount: "1",
          tradeRefReferenceRequestedCount: "2",
        },
        lastActivityDate: "2026-06-11T00:00:00.000Z",
      },
    ]);
  });

  verifies("CR-05");
  it("returns the same list under the other prefix", async () => {
    const path = LIST.replace("creditappcore", "creditapp");
    const other = await admin.call("POST", path, { body: ALL });
    expect(other.body).toEqual((await list(ALL)).body);
    expect(other.body.applications).toHaveLength(10);
  });

  verifies("CR-06", "CR-07");
  it("filters each activity type by its own date, newest first, including the last day", async () => {
    const days = { startDate: "2026-02-02", endDate: "2026-02-04" };
    const byStatus = await list({ ...days, activityType: "APPLICATIONSTATUSDATE" });
    expect(idsOf(byStatus.body)).toEqual(["app-3", "app-2", "app-1"]);
    expect(idsOf((await list({ ...days, activityType: "LASTMODIFIED" })).body)).toEqual([]);
    const days2 = { startDate: "2026-06-19", endDate: "2026-06-20" };
    const byActivity = await list({ ...days2, activityType: "LASTMODIFIED" });
    expect(idsOf(byActivity.body)).toEqual(["app-0", "app-1"]);
  });

  verifies("CR-07");
  it("refuses other activity types, invalid dates, and an end before its start", async () => {
    const refusals = [
      [{ ...ALL, activityType: "CREATED" }, "activityType"],
      [{ ...ALL, activityType: "lastmodified" }, "activityType"],
      [{ ...ALL, activityType: undefined }, "activityType"],
      [{ ...ALL, startDate: "2026-1-01" }, "startDate"],
      [{ ...ALL, startDate: "2026-02-30" }, "startDate"],
      [{ ...ALL, startDate: "2026-01-01T00:00:00Z" }, "startDate"],
      [{ ...ALL, endDate: undefined }, "endDate"],
      [{ ...ALL, endDate: "2025-12-31" }, "endDate"],
      [{ ...ALL, applicationStatusType: ["Approved"] }, "applicationStatusType[0]"],
      [{ ...ALL, page: 0 }, "page"],
      [{ ...ALL, pageSize: 1001 }, "pageSize"],
    ] as const;
    for (const [body, field] of refusals) {
      const reply = await list(body);
      expect([reply.status, reply.body.code], field).toEqual([400, "invalid_request"]);
      expect(reply.body.errors.map((error: { field: string }) => error.field)).toEqual([field]);
    }
  });

  verifies("CR-08", "CR-09", "CR-19");
  it("lists only the requested status types and counts every status of the period", async () => {
    const asked = ["Closed - Approved", "Closed - Declined", "Under Review"];
    const { body, headers } = await list({ ...ALL, applicationStatusType: asked });
    const types = body.applications.map(
      (item: { applicationStatus: { type: string } }) => item.applicationStatus.type,
    );
    expect(types.toSorted()).toEqual(asked);
    expect(headers.get("X-Total-Count")).toBe("3");
    expect(body.applicationStatusSummary).toEqual(
      STATUS_TYPES.map((type) => ({ type, title: STATUS_TITLES[type], noOfApplications: 1 })),
    );
    const none = await list({ ...ALL, applicationStatusType: [] });
    expect(none.body.applications).toHaveLength(10);
    const empty = await list({ ...ALL, startDate: "2026-12-31" });
    expect(empty.body).toEqual({ applications: [], applicationStatusSummary: [] });
  });

  verifies("D-CRED-2");
  it("returns pages on request, with the summary of all", async () => {
    const first = await list({ ...ALL, pageSize: 4 });
    const last = await list({ ...ALL, page: 3, pageSize: 4 });
    const whole = await list(ALL);
    expect(idsOf(first.body)).toEqual(idsOf(whole.body).slice(0, 4));
    expect(idsOf(last.body)).toEqual(idsOf(whole.body).slice(8));
    expect(last.body.applicationStatusSummary).toEqual(whole.body.applicationStatusSummary);
    expect(last.headers.get("X-Total-Count")).toBe("10");
    expect(idsOf((await list({ ...ALL, page: 2 })).body)).toEqual([]);
  });

  verifies("D-CRED-2");
  it("streams many applications in order, each once", async () => {
    const many = extentOf(300, 3000);
    const reader = await at().tenant("credit-many");
    const records = Array.from({ length: many }, (_, index) =>
      application(`app-${index}`, {
        lastActivityDate: formatTimestamp(Date.UTC(2026, 0, 1) + (index % 100) * DAY),
      }),
    );
    await importCredit(at(), "credit-many", "credit-applications", records);
    const { body } = await reader.call("POST", LIST, { body: ALL });
    const ids = idsOf(body);
    expect([ids.length, new Set(ids).size]).toEqual([many, many]);
    const dates = body.applications.map(
      (item: { lastActivityDate: string }) => item.lastActivityDate,
    );
    expect(dates).toEqual(dates.toSorted().toReversed());
    expect(body.applicationStatusSummary).toEqual([
      { type: "Under Review", title: "In Review", noOfApplications: many },
    ]);
  });

  verifies("CR-20", "CR-12");
  it("reads one with exactly the detail's fields, under both prefixes", async () => {
    const { status: code, body } = await admin.call("GET", one("app-4"));
    expect(code).toBe(200);
    const whole = application("app-4");
    const { autoDecisioned: _decided, references: _counts, company: _company, ...rest } = whole;
    const { dba: _dba, ...company } = COMPANY;
    expect(body).toEqual({
      ...rest,
      company,
      applicationStatus: status("Under Review", "2026-02-05T23:59:59.999Z"),
      lastActivityDate: "2026-06-16T00:00:00.000Z",
    });
    const other = await admin.call("GET", one("app-4").replace("creditappcore", "creditapp"));
    expect(other.body).toEqual(body);
  });

  verifies("D-CRED-6");
  it("shows tax ids and bank accounts only with the permission to change applications", async () => {
    await at().tenant("masked");
    const hidden = (fieldsId: string, displayName: string, answer: string) =>
      field(fieldsId, { displayName, answerDetails: [{ answer, index: 0, updated: false }] });
    const parts = [
      section("s", [
        hidden("ein", "Federal Tax ID", "12-3456789"),
        field("bank", {
          fieldType: { fieldTypesId: "set", displayName: "Field Set", fieldSetsId: "Bank" },
          required: false,
          answerDetails: [],
          fieldsSet: [
            hidden("name", "Bank name", "First National"),
            hidden("account", "Account no.", "000123456789"),
          ],
        }),
      ]),
    ];
    const reference = {
      bankReferenceId: "b",
      sectionList: [section("r", [hidden("iban", "IBAN", "DE89 3704 0044 0532 0130 00")])],
    };
    await importCredit(at(), "masked", "credit-applications", [
      application("app", {
        applicationForm: form(formType("External Form", parts)),
        bankReferences: [reference],
      }),
    ]);
    const reader = await at().person("masked", { grants: ["Credit Applications : READ"] });
    const writer = await at().person("masked", {
      grants: ["Credit Applications : READ", "Credit Applications : UPDATE"],
    });
    const seen = (await reader.call("GET", one("app"))).text;
    const whole = (await writer.call("GET", one("app"))).text;
    for (const secret of ["12-3456789", "000123456789", "DE89 3704 0044 0532 0130 00"]) {
      expect(seen).not.toContain(secret);
      expect(whole).toContain(secret);
    }
    expect(seen.match(/\*{4}\w{4}/g)).toEqual(["****6789", "****6789", "****3000"]);
    expect(seen).toContain("First National");
  });

  verifies("D-CRED-2");
  it("an unknown application is not found", async () => {
    const { status: code, body } = await admin.call("GET", one("none"));
    expect([code, body.code]).toEqual([404, "not_found"]);
  });
});
