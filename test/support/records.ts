import type { Store } from "../../src/platform/store/port.ts";
import { type CreditRecords, seedCredit } from "./credit.ts";
import { type ExportRecords, type Exporting, seedExport } from "./export-records.ts";
import { type IngestRecords, type Ingesting, seedIngest } from "./ingest-records.ts";
import { type ScheduleRecords, seedSchedule } from "./schedule-records.ts";
import { CONFIGURATION, DISPUTES, type Caller, type Person } from "./platform.ts";

/** A record of every kind, made through the interface. What nothing uses may be deleted. */
export type Records = {
  tenantId: string;
  email: string;
  password: string;
  accessToken: string;
  userId: string;
  keyId: string;
  dispute: { disputeId: string; accountNumber: string; documentNumber: string };
  noteId: string;
  attachmentId: string;
  /** The records that the dispute refers to. */
  used: { reasonId: string; assigneeId: string; departmentId: string; reasonName: string };
  reason: { reasonId: string; reasonCode: string; externalReasonCode: string };
  /** The category of the reasons. */
  shelf: { categoryId: string; categoryCode: string };
  category: { categoryId: string; categoryCode: string };
  assignee: { assigneeId: string; assigneeEmail: string };
  /** The department of the assignee. */
  desk: { departmentId: string; departmentCode: string };
  department: { departmentId: string; departmentCode: string };
  resolution: { resolutionId: string; resolutionCode: string };
  auditCursor: string;
} & IngestRecords &
  ExportRecords &
  ScheduleRecords &
  CreditRecords;

/** A word in every description of a tenant's records, which occurs nowhere else. */
const canary = (tenantId: string): string => `canary-of-${tenantId}`;

type Seeding = {
  admin: Person;
  tenantId: string;
  /** Id of an API key of the calling user. */
  keyId: string;
  /** Reads the tenant's audit log. */
  auditor: Caller;
  /** For what comes by import alone. */
  store: Store;
  /** Makes codes and numbers differ from those of other seedings. */
  mark: string;
} & Ingesting &
  Exporting;

const maker =
  (who: Person) =>
  async (path: string, body?: unknown): Promise<Record<string, string>> => {
    const made = await who.call("POST", path, { body });
    if (made.status !== 201) throw new Error(`${path}: ${made.text}`);
    return made.body;
  };

const AUDIT_LOGS = "/api/v1/remittance-export/audit-logs";

const configuration = async ({ admin, tenantId, mark }: Seeding) => {
  const make = maker(admin);
  const description = canary(tenantId);
  const at = (noun: string) => `${CONFIGURATION}/${noun}`;
  const category = (code: string) => make(at("categories"), { code, description });
  const shelf = await category(`SHELF-${mark}`);
  const empty = await category(`EMPTY-${mark}`);
  const reason = (code: string, more: object = {}) =>
    make(at("reasons"), { code, description, categoryId: shelf["categoryId"], ...more });
  const inUse = await reason(`USED-${mark}`);
  const free = await reason(`FREE-${mark}`);
  const external = await reason(`EXT-${mark}`, { visibility: "External" });
  const department = (code: string) => make(at("departments"), { code, description });
  const desk = await department(`DESK-${mark}`);
  const vacant = await department(`VACANT-${mark}`);
  const assignee = (name: string) =>
    make(at("assignees"), {
      departmentId: desk["departmentId"],
      person: { firstName: name, lastName: description, email: `${name}-${mark}@work.example` },
    });
  const busy = await assignee("busy");
  const idle = await assignee("idle");
  const resolution = await make(at("resolutions"), { code: `RES-${mark}`, description });
  await admin.call("PUT", `${at("categories")}/${shelf["categoryId"]}`, {
    body: { defaultInternalReasonId: inUse["reasonId"] },
  });
  return { shelf, empty, inUse, free, external, desk, vacant, busy, idle, resolution };
};

/** One of everything in the tenant. */
export const seed = async (seeding: Seeding): Promise<Records> => {
  const { admin, tenantId, keyId, auditor, mark } = seeding;
  const made = await configuration(seeding);
  const valueOf = (record: Record<string, string>, key: string): string => record[key] ?? "";
  const numbers = { accountNumber: `ACC-${mark}`, documentNumber: `INV-${mark}` };
  const text = canary(tenantId);
  const ingested = await seedIngest({ ...seeding, ...numbers, text });
  const credit = await seedCredit(seeding.store, tenantId, { mark, text });
  const scheduled = await seedSchedule(seeding.store, tenantId, { mark, text });
  const dispute = await maker(admin)(DISPUTES, {
    ...numbers,
    amount: 12.5,
    poNumber: canary(tenantId),
    reasonId: made.inUse["reasonId"],
    assigneeId: made.busy["assigneeId"],
  });
  const disputeId = valueOf(dispute, "disputeId");
  const note = await maker(admin)(`${DISPUTES}/${disputeId}/disputenotes`, {
    content: canary(tenantId),
  });
  const attachment = await maker(admin)(`${DISPUTES}/${disputeId}/attachments`, {
    fileName: `${canary(tenantId)}.txt`,
  });
  // A cursor comes where older entries are left.
  for (let request = 0; request < 2; request += 1) await auditor("GET", AUDIT_LOGS);
  const page = await auditor("GET", `${AUDIT_LOGS}?limit=1`);
  return {
    tenantId,
    email: admin.email,
    password: admin.password,
    accessToken: admin.token,
    userId: admin.userId,
    keyId,
    dispute: { disputeId, ...numbers },
    noteId: valueOf(note, "disputeNoteId"),
    attachmentId: valueOf(attachment, "attachmentId"),
    used: {
      reasonId: valueOf(made.inUse, "reasonId"),
      assigneeId: valueOf(made.busy, "assigneeId"),
      departmentId: valueOf(made.desk, "departmentId"),
      reasonName: canary(tenantId),
    },
    reason: {
      reasonId: valueOf(made.free, "reasonId"),
      reasonCode: valueOf(made.free, "code"),
      externalReasonCode: valueOf(made.external, "code"),
    },
    shelf: {
      categoryId: valueOf(made.shelf, "categoryId"),
      categoryCode: valueOf(made.shelf, "code"),
    },
    category: {
      categoryId: valueOf(made.empty, "categoryId"),
      categoryCode: valueOf(made.empty, "code"),
    },
    assignee: {
      assigneeId: valueOf(made.idle, "assigneeId"),
      assigneeEmail: `idle-${mark}@work.example`,
    },
    desk: {
      departmentId: valueOf(made.desk, "departmentId"),
      departmentCode: valueOf(made.desk, "code"),
    },
    department: {
      departmentId: valueOf(made.vacant, "departmentId"),
      departmentCode: valueOf(made.vacant, "code"),
    },
    resolution: {
      resolutionId: valueOf(made.resolution, "resolutionId"),
      resolutionCode: valueOf(made.resolution, "code"),
    },
    auditCursor: page.body.pagination.cursor,
    ...ingested,
    ...credit,
    ...(await seedExport(seeding)),
    ...scheduled,
  };
};
