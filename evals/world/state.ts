import type { ApiRecord, Records, State } from "../task.ts";
import type { Api } from "./api.ts";
import { TENANT } from "./configuration.ts";

const DISPUTES = `/dispute/v1/tenants/${TENANT.tenantId}`;
const INGEST = "/api/v1/ingest";

/** The disputes of an activity request. */
const AT_ONCE = 1000;

/** Documents, disputes and accounts that tasks are about have numbers that begin like this. */
const CAST_DOCUMENTS = "6900";
const CAST_ACCOUNTS = "K-20";

const index = (rows: readonly ApiRecord[], key: (row: ApiRecord) => string): Records =>
  new Map(rows.map((row) => [key(row), row]));

const text = (row: ApiRecord, name: string): string => String(row[name]);

/** Reads all disputes, each with the time of its last activity and the counts of its notes and files. */
const readDisputes = async (api: Api): Promise<ApiRecord[]> => {
  const disputes = (await api("GET", `${DISPUTES}/disputes`)) as ApiRecord[];
  const activities = new Map<unknown, ApiRecord>();
  for (let from = 0; from < disputes.length; from += AT_ONCE) {
    const disputeIds = disputes.slice(from, from + AT_ONCE).map((one) => one["disputeId"]);
    const found = (await api("POST", `${DISPUTES}/disputes/activity`, {
      disputeIds,
    })) as ApiRecord[];
    for (const one of found) activities.set(one["disputeId"], one);
  }
  return disputes.map((one) => {
    const { lastActivityDate, noteCount, attachmentCount } = activities.get(one["disputeId"]) ?? {};
    return { ...one, lastActivityDate, noteCount, attachmentCount };
  });
};

const KINDS = ["categories", "reasons", "resolutions", "departments", "assignees"] as const;

const readConfiguration = async (api: Api): Promise<Records> => {
  const all = new Map<string, ApiRecord>();
  for (const kind of KINDS) {
    for (const row of (await api("GET", `${DISPUTES}/${kind}`)) as ApiRecord[]) {
      const id = Object.entries(row).find(([name]) => name.endsWith("Id") && name !== "tenantId");
      all.set(`${kind}/${String(row["code"] ?? id?.[1])}/${String(id?.[1])}`, row);
    }
  }
  return all;
};

const readData = async (api: Api, path: string): Promise<ApiRecord[]> =>
  ((await api("GET", path)) as { data: ApiRecord[] }).data;

/** Reads the rows of one kind below each dispute that has some. */
const readBelow = async (
  api: Api,
  disputes: readonly ApiRecord[],
  { noun, count }: { noun: string; count: string },
): Promise<ApiRecord[]> => {
  const having = disputes.filter((one) => Number(one[count]) > 0);
  const lists = having.map(async (one) => {
    const path = `${DISPUTES}/disputes/${text(one, "disputeId")}/${noun}`;
    const rows = (await api("GET", path)) as ApiRecord[];
    return rows.map((row) => ({ ...row, disputeCode: one["disputeCode"] }));
  });
  return (await Promise.all(lists)).flat();
};

/** Whether tasks are about a dispute, so that its notes and files are read; of others the counts are compared. */
const isCast = (one: ApiRecord): boolean => text(one, "documentNumber").startsWith(CAST_DOCUMENTS);

/** Reads what a task may change, through the documented API and with rights to all of it. */
export const readState = async (api: Api): Promise<State> => {
  const [disputes, configuration, accounts, documents, schedules] = await Promise.all([
    readDisputes(api),
    readConfiguration(api),
    readData(api, `${INGEST}/accounts?search=${CAST_ACCOUNTS}&limit=1000`),
    readData(api, `${INGEST}/documents?search=${CAST_DOCUMENTS}&limit=1000`),
    readData(api, "/api/v1/remittance-export/schedules?limit=1000").catch(() => []),
  ]);
  const cast = disputes.filter(isCast);
  const [notes, attachments] = await Promise.all([
    readBelow(api, cast, { noun: "disputenotes", count: "noteCount" }),
    readBelow(api, cast, { noun: "attachments", count: "attachmentCount" }),
  ]);
  return {
    disputes: index(disputes, (one) => text(one, "disputeCode")),
    notes: index(notes, (one) => text(one, "disputeNoteId")),
    attachments: index(attachments, (one) => text(one, "attachmentId")),
    configuration,
    accounts: index(accounts, (one) => text(one, "accountNumber")),
    documents: index(
      documents.filter((one) => text(one, "documentNumber").startsWith(CAST_DOCUMENTS)),
      (one) => text(one, "documentNumber"),
    ),
    schedules: index(schedules, (one) => text(one, "id")),
  };
};
