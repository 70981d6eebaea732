import { beforeAll, expect, it } from "vitest";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import { creditQueue } from "../../src/insights/credit-queue.ts";
import { application } from "../support/credit.ts";
import { importCredit } from "../support/importing.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { askAt } from "./insight-host.ts";

const status = (type: string, title: string, day: string) => ({
  applicationStatus: { type, title, statusDate: `${day}T23:00:00.000Z` },
});
const NONE = {
  bankReferenceSubmitCount: "0",
  bankReferenceRequestedCount: "0",
  tradeReferenceSubmitCount: "0",
  tradeRefReferenceRequestedCount: "0",
};

verifies("IN-42");
onEveryStore("credit_queue", (at) => {
  const asking = askAt(at, "credit-queue");
  beforeAll(async () => {
    const records = [
      application("decided", status("Closed - Approved", "Approved", "2026-01-02")),
      application("reviewed", {
        ...status("Under Review", "In Review", "2026-01-10"),
        references: NONE,
      }),
      application("asked", {
        ...status("Pending Information", "Pending Info", "2026-01-05"),
        references: {
          ...NONE,
          tradeReferenceSubmitCount: "1",
          tradeRefReferenceRequestedCount: "3",
        },
      }),
      application("begun", {
        ...status("In Progress", "In Progress", "2026-01-08"),
        applicantSubmitDate: null,
        references: NONE,
      }),
    ];
    const { rejects } = await importCredit(at(), "credit-queue", "credit-applications", records);
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects));
  });

  it("lists undecided applications, oldest first, with what each lacks", async () => {
    const period = { startDate: "2026-01-01", endDate: "2026-01-31" };
    const answer = await asking().ask("credit_queue", period);
    expect(answer).toMatchObject({ rowCount: 3, itemsTotal: 3, filter: period });
    expect(answer["byStatus"]).toMatchObject({ Approved: 1, "In Review": 1 });
    expect(answer.items.map(({ applicationId, missing }) => [applicationId, missing])).toEqual([
      ["asked", ["information that the reviewer asked for", "2 of 3 trade references"]],
      ["begun", ["submission by the applicant"]],
      ["reviewed", ["a decision"]],
    ]);
    // The calls are at 09:00, so the last day is no whole one.
    expect(answer.items.map(({ waitingDays }) => waitingDays)).toEqual([56, 53, 51]);
    const [first] = (await asking().ask("credit_queue", { ...period, limit: 1 })).items;
    expect(first).toMatchObject({ companyName: "Juniper Street Hardware", status: "Pending Info" });
  });

  verifies("WK-07");
  it("counts the days of the tenant, although the operation counts those of UTC", async () => {
    const person = await at().person("credit-queue", { roles: ["Administrator"] });
    const ask = async (zone: string, startDate: string, endDate: string) => {
      const options = { calendar: openCalendar(zone) };
      const context = await createTestContext(at(), "credit-queue", person, options);
      const answer = await runInsight(creditQueue, context, { startDate, endDate });
      expect(answer.filter).toEqual({ timeZone: zone, startDate, endDate });
      return answer.items.map((item) => [
        item["applicationId"],
        item["statusDate"],
        item["waitingDays"],
      ]);
    };
    // At 23:00 in UTC it is the next day in Berlin.
    expect(await ask("UTC", "2026-01-08", "2026-01-10")).toEqual([
      ["begun", "2026-01-08", 53],
      ["reviewed", "2026-01-10", 51],
    ]);
    expect(await ask("Europe/Berlin", "2026-01-08", "2026-01-10")).toEqual([
      ["begun", "2026-01-09", 52],
    ]);
    expect(await ask("Europe/Berlin", "2026-01-10T23:00:00Z", "2026-01-11")).toEqual([
      ["reviewed", "2026-01-11", 50],
    ]);
    expect(await ask("Europe/Berlin", "2026-01-11", "2026-01-10T22:59:59Z")).toEqual([]);
  });

  it("covers the last 365 days by default", async () => {
    const { filter, notes } = await asking().ask("credit_queue");
    expect(notes).toEqual([expect.stringContaining("from before")]);
    const [from, to] = [filter["startDate"], filter["endDate"]].map((day) =>
      Date.parse(String(day)),
    );
    expect(Number(to) - Number(from)).toBe(365 * 24 * 60 * 60 * 1000);
  });
});
