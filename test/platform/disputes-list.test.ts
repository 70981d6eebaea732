import { beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  onEveryStore,
  useTenant,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

type Configured = Awaited<ReturnType<typeof configure>>;

const base = { amount: 125.5, accountNumber: "ACC-1", documentNumber: "INV-1" };

onEveryStore("disputes: read and list", (at) => {
  const admin = useTenant(at, "read");
  let made: Configured;
  const ids: string[] = [];
  const list = async (query: string) => (await admin.call("GET", `${DISPUTES}?${query}`)).body;
  const numbers = async (query: string): Promise<string[]> =>
    (await list(query)).map((dispute: { documentNumber: string }) => dispute.documentNumber);

  beforeAll(async () => {
    made = await configure(admin);
    await admin.call("POST", `${CONFIGURATION}/categories`, {
      body: { code: "QTY", description: "Quantity 100%_short" },
    });
    await admin.call("POST", `${CONFIGURATION}/reasons`, {
      body: { code: "SHORT", description: "Élan short", categoryCode: "QTY" },
    });
    for (let number = 0; number < 45; number++) {
      at().clock.advance(MINUTE);
      const { body } = await admin.call("POST", DISPUTES, {
        body: {
          amount: 100 + (number % 7),
          accountNumber: `ACC-${number % 3}`,
          documentNumber: `DOC-${String(number).padStart(2, "0")}`,
          reasonCode: number % 5 === 0 ? "SHORT" : "WRONG",
          ...(number % 4 === 0 ? { assigneeId: made.assignee.assigneeId } : {}),
        },
      });
      ids.push(body.disputeId);
    }
    for (const [index, status] of [
      [1, 1],
      [2, 1],
      [3, 2],
    ] as const) {
      await admin.call("PUT", `${DISPUTES}/${ids[index]}`, { body: { status } });
    }
  });

  verifies("DR-01");
  it("requires READ to read one", async () => {
    const reader = await at().person("read", { grants: ["Dispute Management : READ"] });
    const { status, body, headers } = await reader.call("GET", `${DISPUTES}/${ids[0]}`);
    expect([status, body.disputeId]).toEqual([200, ids[0]]);
    expect(headers.get("etag")).toMatch(/^".+"$/);
    expect((await reader.call("GET", `${DISPUTES}/nothing`)).status).toBe(404);
  });

  verifies("DR-02", "DR-21", "D-DISP-12");
  it("lists all disputes newest first without page and filter", async () => {
    const { body, headers } = await admin.call("GET", DISPUTES);
    expect(body).toHaveLength(45);
    expect(headers.get("x-total-count")).toBe("45");
    expect(headers.get("link")).toBeNull();
    expect(body[0]).toMatchObject({ documentNumber: "DOC-44", accountName: null });
  });

  verifies("DR-03", "DR-04", "D-DISP-14");
  it("matches parts of names in any case, after Unicode folding", async () => {
    expect(await numbers("ReasonName=e%CC%81LAN")).toHaveLength(9);
    expect(await numbers("CategoryName=quantity")).toHaveLength(9);
    expect(await numbers("DepartmentName=ale")).toHaveLength(12);
    expect(await numbers("DepartmentName=zzz")).toEqual([]);
  });

  verifies("D-DISP-14");
  it("treats the two small sigmas as one letter, also at the end of a search", async () => {
    const category = { code: "ΟΔΟΣ", description: "ΟΔΟΣΗΜΑΝΣΗ" };
    await admin.call("POST", `${CONFIGURATION}/categories`, { body: category });
    await admin.call("POST", `${CONFIGURATION}/reasons`, {
      body: { code: "ROAD", description: "Road", categoryCode: "οδοσ" },
    });
    const made = await admin.call("POST", DISPUTES, {
      body: { ...base, documentNumber: "GREEK", reasonCode: "ROAD" },
    });
    for (const part of ["ΟΔΟΣ", "οδος", "οδοσ"]) {
      expect(await numbers(`CategoryName=${encodeURIComponent(part)}`)).toEqual(["GREEK"]);
    }
    await admin.call("DELETE", `${DISPUTES}/${made.body.disputeId}`);
  });

  verifies("DR-09", "C-49");
  it("treats wildcards as letters", async () => {
    expect(await numbers("CategoryName=%25_s")).toHaveLength(9);
    expect(await numbers("CategoryName=%25%25")).toEqual([]);
    expect(await numbers("CategoryName=Pric_ng")).toEqual([]);
  });

  verifies("DR-05", "DR-08");
  it("filters statuses exactly; repeated statuses widen, other filters narrow", async () => {
    expect(await numbers("Status=0")).toHaveLength(42);
    expect((await numbers("Status=1")).toSorted()).toEqual(["DOC-01", "DOC-02"]);
    expect(await numbers("Status=2")).toEqual(["DOC-03"]);
    expect(await numbers("Status=1&Status=2")).toHaveLength(3);
    expect(await numbers("Status=1&AccountNumber=ACC-1")).toEqual(["DOC-01"]);
  });

  verifies("DR-06", "DR-07");
  it("matches ids and numbers completely", async () => {
    const { assigneeId } = made.assignee;
    expect(await numbers(`AssigneeId=${assigneeId}`)).toHaveLength(12);
    expect(await numbers(`AssigneeId=${assigneeId.slice(0, 8)}`)).toEqual([]);
    expect(await numbers(`DepartmentId=${made.department.departmentId}`)).toHaveLength(12);
    expect(await numbers("DocumentNumber=DOC-07")).toEqual(["DOC-07"]);
    expect(await numbers("DocumentNumber=DOC-0")).toEqual([]);
    expect(await numbers("AccountNumber=ACC-2")).toHaveLength(15);
  });

  verifies("DR-10", "D-DISP-13");
  it("sorts up and down, by several fields, then by id", async () => {
    const up = await numbers("Sort=CreateDate");
    expect(up).toEqual(up.toSorted());
    expect(await numbers("Sort=-createdate")).toEqual(up.toReversed());
    const disputes = await list("Sort=-Amount,DocumentNumber");
    const keys = disputes.map((d: { amount: number; documentNumber: string }) => [
      -d.amount,
      d.documentNumber,
    ]);
    expect(keys).toEqual(
      keys.toSorted(
        (a: [number, string], b: [number, string]) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1),
      ),
    );
    const byAssignee = await list("Sort=-AssigneeName");
    expect(byAssignee.slice(0, 12).every((d: { assigneeId: unknown }) => d.assigneeId)).toBe(true);
    expect((await admin.call("GET", `${DISPUTES}?Sort=Colour`)).status).toBe(400);
    type Keyed = { status: number; disputeId: string };
    const keyOf = ({ status, disputeId }: Keyed): string => `${status} ${disputeId}`;
    const byStatus = (await list("Sort=Status")).map(keyOf);
    expect(byStatus).toEqual(byStatus.toSorted());
    expect((await list("Sort=-Status")).map(keyOf)).toEqual(byStatus.toReversed());
  });

  verifies("D-DISP-12");
  it("returns the total number for every filter", async () => {
    for (const [query, total] of [
      ["Status=0", 42],
      ["Status=1&Status=2&PageSize=1", 3],
      ["ReasonName=short&PageSize=2", 9],
      ["AccountNumber=ACC-1&Status=1", 1],
    ] as const) {
      const { headers } = await admin.call("GET", `${DISPUTES}?${query}`);
      expect([query, headers.get("x-total-count")]).toEqual([query, String(total)]);
    }
  });

  verifies("DR-11");
  it("returns each row on one page, with a link to the next page", async () => {
    const seen: string[] = [];
    let target = `${DISPUTES}?Sort=Amount&Page=1&PageSize=8`;
    for (let page = 1; target !== ""; page++) {
      const { body, headers } = await admin.call("GET", target);
      seen.push(...body.map((dispute: { disputeId: string }) => dispute.disputeId));
      expect(headers.get("x-total-count")).toBe("45");
      const link = headers.get("link") ?? "";
      expect(/rel="prev"/.test(link)).toBe(page > 1);
      target = /<([^>]+)>; rel="next"/.exec(link)?.[1] ?? "";
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(await list("PageSize=3")).toHaveLength(3);
    expect(await list("Page=2")).toHaveLength(20);
    expect(await list("Page=9&PageSize=8")).toEqual([]);
  });

  verifies("DR-12", "D-DISP-12");
  it.each([
    "Page=0",
    "PageSize=0",
    "PageSize=1001",
    "PageSize=-1",
    "PageSize=1.5",
    "PageSize=ten",
    "Status=3",
    "Status=Open",
    "Status=",
    "status=0",
    "Colour=red",
    "ReasonName=",
    "Page=1&Page=2",
  ])("refuses the query %s", async (query) => {
    const { status, body } = await admin.call("GET", `${DISPUTES}?${query}`);
    expect([status, body.code]).toEqual([400, "invalid_parameter"]);
    expect(body.errors).toHaveLength(1);
  });

  describe("lookups", () => {
    const BY_IDS = `${DISPUTES}/by-dispute-ids`;
    const byDocuments = (account: string) =>
      `/dispute/v1/tenants/{t}/accounts/${account}/disputes/by-document-numbers`;

    verifies("DR-13", "DR-14", "DR-16", "T-06");
    it("finds an account's disputes by documents and status word", async () => {
      const body = { documentNumbers: ["DOC-00", "DOC-01", "DOC-03"], status: "Open" };
      const open = await admin.call("POST", byDocuments("ACC-0"), { body });
      expect(open.status).toBe(200);
      expect(open.body.map((d: { documentNumber: string }) => d.documentNumber)).toEqual([
        "DOC-00",
      ]);
      for (const status of ["Cancel", "cancel", 2]) {
        const other = await admin.call("POST", byDocuments("ACC-0"), { body: { ...body, status } });
        expect(other.body).toHaveLength(1);
      }
      const all = await admin.call("POST", byDocuments("ACC-0"), {
        body: { ...body, status: "All" },
      });
      expect(all.body).toHaveLength(2);
    });

    verifies("D-DISP-15");
    it.each([3, -1, 0.5, "3", "Ended", true])("refuses the status %j", async (status) => {
      const body = { documentNumbers: ["DOC-00"], status };
      const refused = await admin.call("POST", byDocuments("ACC-0"), { body });
      expect([refused.status, refused.body.errors[0].field]).toEqual([400, "status"]);
    });

    verifies("DR-15", "DR-17");
    it("finds by ids, without account names, and omits unknown ids", async () => {
      const { status, body } = await admin.call("POST", BY_IDS, {
        body: { disputeIds: [ids[0], "unknown", ids[9]] },
      });
      expect(status).toBe(200);
      expect(body.map((d: { disputeId: string }) => d.disputeId)).toEqual([ids[9], ids[0]]);
      for (const dispute of body) expect(dispute).not.toHaveProperty("accountName");
    });

    verifies("DR-18", "D-DISP-15");
    it("returns pages if a size is given", async () => {
      const page = (number: number) =>
        admin.call("POST", BY_IDS, { body: { disputeIds: ids, page: number, pageSize: 20 } });
      const sizes = await Promise.all(
        [1, 2, 3, 4].map(async (number) => (await page(number)).body.length),
      );
      expect(sizes).toEqual([20, 20, 5, 0]);
      // The page is named in the body, so there is no Link to the next one.
      const { headers } = await page(1);
      expect([headers.get("x-total-count"), headers.get("link")]).toEqual(["45", null]);
      expect((await admin.call("POST", BY_IDS, { body: { disputeIds: ids } })).body).toHaveLength(
        45,
      );
      const beyond = await admin.call("POST", BY_IDS, { body: { disputeIds: ids, page: 2 } });
      expect([beyond.body, beyond.headers.get("x-total-count")]).toEqual([[], "45"]);
      for (const body of [{ disputeIds: [] }, {}, { disputeIds: ids, pageSize: 1001 }]) {
        expect((await admin.call("POST", BY_IDS, { body })).status).toBe(400);
      }
      expect((await admin.call("POST", BY_IDS)).status).toBe(400);
    });

    verifies("DR-19");
    it("finds nothing of another tenant", async () => {
      const stranger = await at().tenant("read-stranger");
      const { status, body } = await stranger.call("POST", BY_IDS, { body: { disputeIds: ids } });
      expect([status, body]).toEqual([200, []]);
    });

    verifies("DR-20");
    it("never takes the words of a path for an id", async () => {
      const { status, headers } = await admin.call("PUT", BY_IDS, { body: {} });
      expect([status, headers.get("allow")]).toEqual([405, "GET, POST"]);
    });
  });
});
