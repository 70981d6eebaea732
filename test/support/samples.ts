import type { Operation } from "../../src/contract/operation.ts";
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
  /** Those that the dispute bears. */
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
};

/** A word that stands in every description of a tenant's records and nowhere else. */
export const canary = (tenantId: string): string => `canary-of-${tenantId}`;

type Seeding = {
  admin: Person;
  tenantId: string;
  /** Whose API key is among the records. */
  owner: Person;
  /** Reads the tenant's audit log. */
  auditor: Caller;
  /** Makes codes and numbers differ from those of other seedings. */
  mark: string;
};

const maker =
  (who: Person) =>
  async (path: string, body?: unknown): Promise<Record<string, string>> => {
    const made = await who.call("POST", path, { body });
    if (made.status !== 201) throw new Error(`${path}: ${made.text}`);
    return made.body;
  };

const API_KEYS = "/authentication/v1/tenants/{t}/users/profile/api-key";
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
  const { admin, tenantId, owner, auditor, mark } = seeding;
  const made = await configuration(seeding);
  const text = (record: Record<string, string>, key: string): string => record[key] ?? "";
  const numbers = { accountNumber: `ACC-${mark}`, documentNumber: `INV-${mark}` };
  const dispute = await maker(admin)(DISPUTES, {
    ...numbers,
    amount: 12.5,
    poNumber: canary(tenantId),
    reasonId: made.inUse["reasonId"],
    assigneeId: made.busy["assigneeId"],
  });
  const disputeId = text(dispute, "disputeId");
  const note = await maker(admin)(`${DISPUTES}/${disputeId}/disputenotes`, {
    content: canary(tenantId),
  });
  const key = await maker(owner)(API_KEYS);
  await auditor("GET", AUDIT_LOGS);
  const page = await auditor("GET", `${AUDIT_LOGS}?limit=1`);
  return {
    tenantId,
    email: admin.email,
    password: admin.password,
    accessToken: admin.token,
    userId: admin.userId,
    keyId: text(key, "keyId"),
    dispute: { disputeId, ...numbers },
    noteId: text(note, "disputeNoteId"),
    used: {
      reasonId: text(made.inUse, "reasonId"),
      assigneeId: text(made.busy, "assigneeId"),
      departmentId: text(made.desk, "departmentId"),
      reasonName: canary(tenantId),
    },
    reason: {
      reasonId: text(made.free, "reasonId"),
      reasonCode: text(made.free, "code"),
      externalReasonCode: text(made.external, "code"),
    },
    shelf: { categoryId: text(made.shelf, "categoryId"), categoryCode: text(made.shelf, "code") },
    category: {
      categoryId: text(made.empty, "categoryId"),
      categoryCode: text(made.empty, "code"),
    },
    assignee: {
      assigneeId: text(made.idle, "assigneeId"),
      assigneeEmail: `idle-${mark}@work.example`,
    },
    desk: {
      departmentId: text(made.desk, "departmentId"),
      departmentCode: text(made.desk, "code"),
    },
    department: {
      departmentId: text(made.vacant, "departmentId"),
      departmentCode: text(made.vacant, "code"),
    },
    resolution: {
      resolutionId: text(made.resolution, "resolutionId"),
      resolutionCode: text(made.resolution, "code"),
    },
    auditCursor: page.body.pagination.cursor,
  };
};

export type Arguments = Record<string, unknown>;
type Sample = (records: Records, fresh: string) => Arguments;

/**
 * Valid arguments of each operation, beside the tenant: the first succeeds; the others name further records.
 * `fresh` is for what must be new; whatever else differs between two tenants' samples names a record.
 */
export const SAMPLES: Record<string, readonly Sample[]> = {
  "auth.login": [({ email, password }) => ({ email, password })],
  "auth.verify_session": [({ accessToken }) => ({ accessToken })],
  "auth.logout": [() => ({ accessToken: "no-such-session" })],
  "api_keys.create": [() => ({})],
  "api_keys.delete": [({ keyId }) => ({ keyId })],
  "users.list": [() => ({})],
  "users.list_v1": [() => ({})],
  "users.profile": [() => ({})],
  "disputes.get": [({ dispute: { disputeId } }) => ({ disputeId })],
  "disputes.list": [
    () => ({}),
    ({ dispute }) => ({ DocumentNumber: dispute.documentNumber }),
    ({ dispute }) => ({ AccountNumber: dispute.accountNumber }),
    ({ used }) => ({ AssigneeId: used.assigneeId }),
    ({ used }) => ({ DepartmentId: used.departmentId }),
    ({ used }) => ({ ReasonName: used.reasonName }),
    ({ used }) => ({ DepartmentName: used.reasonName }),
    ({ used }) => ({ CategoryName: used.reasonName }),
  ],
  "disputes.create": [
    ({ reason }, fresh) => ({ ...newDispute(fresh), reasonId: reason.reasonId }),
    ({ reason }, fresh) => ({ ...newDispute(fresh), reasonCode: reason.reasonCode }),
    ({ reason }, fresh) => ({
      ...newDispute(fresh),
      externalReasonCode: reason.externalReasonCode,
    }),
    ({ used, assignee }, fresh) => ({
      ...newDispute(fresh),
      reasonId: used.reasonId,
      assigneeId: assignee.assigneeId,
    }),
  ],
  "disputes.update": [
    ({ dispute: { disputeId } }) => ({ disputeId, amount: 7 }),
    ({ dispute: { disputeId }, reason }) => ({ disputeId, reasonId: reason.reasonId }),
    ({ dispute: { disputeId }, reason }) => ({ disputeId, reasonCode: reason.reasonCode }),
    ({ dispute: { disputeId }, assignee }) => ({ disputeId, assigneeId: assignee.assigneeId }),
    ({ dispute: { disputeId }, assignee }) => ({
      disputeId,
      assigneeEmail: assignee.assigneeEmail,
    }),
    ({ dispute: { disputeId }, resolution }) => ({
      disputeId,
      status: 1,
      resolutionId: resolution.resolutionId,
    }),
    ({ dispute: { disputeId }, resolution }) => ({
      disputeId,
      status: 1,
      resolutionCode: resolution.resolutionCode,
    }),
  ],
  "disputes.delete": [({ dispute: { disputeId } }) => ({ disputeId })],
  "disputes.list_by_document_numbers": [
    ({ dispute: { accountNumber, documentNumber } }) => ({
      accountNumber,
      documentNumbers: [documentNumber],
    }),
  ],
  "disputes.list_by_ids": [({ dispute: { disputeId } }) => ({ disputeIds: [disputeId] })],
  "dispute_notes.get": [({ dispute: { disputeId }, noteId }) => ({ disputeId, noteId })],
  "dispute_notes.list": [({ dispute: { disputeId } }) => ({ disputeId })],
  "dispute_notes.create": [({ dispute: { disputeId } }, fresh) => ({ disputeId, content: fresh })],
  "dispute_notes.update": [
    ({ dispute: { disputeId }, noteId }, fresh) => ({ disputeId, noteId, content: fresh }),
  ],
  "dispute_notes.delete": [({ dispute: { disputeId }, noteId }) => ({ disputeId, noteId })],
  "reasons.get": [
    ({ shelf, reason }) => ({ categoryCode: shelf.categoryCode, reasonCode: reason.reasonCode }),
  ],
  "reasons.get_by_id": [({ reason }) => ({ reasonId: reason.reasonId })],
  "reasons.list": [() => ({})],
  "reasons.list_by_category": [({ shelf }) => ({ categoryCode: shelf.categoryCode })],
  "reasons.create": [
    ({ shelf }, fresh) => ({ ...named(fresh), categoryId: shelf.categoryId }),
    ({ shelf }, fresh) => ({ ...named(fresh), categoryCode: shelf.categoryCode }),
  ],
  "reasons.update": [
    ({ reason, shelf }) => ({ reasonId: reason.reasonId, categoryId: shelf.categoryId }),
    ({ reason, category }) => ({ reasonId: reason.reasonId, categoryCode: category.categoryCode }),
  ],
  "reasons.delete": [
    ({ shelf, reason }) => ({ categoryCode: shelf.categoryCode, reasonCode: reason.reasonCode }),
  ],
  "categories.get": [({ category }) => ({ categoryCode: category.categoryCode })],
  "categories.get_by_id": [({ category }) => ({ categoryId: category.categoryId })],
  "categories.list": [() => ({})],
  "categories.create": [
    (_records, fresh) => named(fresh),
    ({ reason }, fresh) => ({ ...named(fresh), defaultInternalReasonId: reason.reasonId }),
  ],
  "categories.update": [
    ({ category }, fresh) => ({ categoryId: category.categoryId, description: fresh }),
    ({ category, reason }) => ({
      categoryId: category.categoryId,
      defaultInternalReasonId: reason.reasonId,
    }),
  ],
  "categories.delete": [({ category }) => ({ categoryCode: category.categoryCode })],
  "departments.get": [({ department }) => ({ departmentCode: department.departmentCode })],
  "departments.get_by_id": [({ department }) => ({ departmentId: department.departmentId })],
  "departments.list": [() => ({})],
  "departments.create": [(_records, fresh) => named(fresh)],
  "departments.update": [
    ({ department }, fresh) => ({ departmentId: department.departmentId, description: fresh }),
  ],
  "departments.delete": [({ department }) => ({ departmentId: department.departmentId })],
  "departments.delete_by_code": [
    ({ department }) => ({ departmentCode: department.departmentCode }),
  ],
  "assignees.get": [({ assignee }) => ({ assigneeEmail: assignee.assigneeEmail })],
  "assignees.get_by_id": [({ assignee }) => ({ assigneeId: assignee.assigneeId })],
  "assignees.list": [() => ({}), ({ desk }) => ({ DepartmentId: desk.departmentId })],
  "assignees.create": [
    ({ desk }, fresh) => ({ departmentId: desk.departmentId, person: newPerson(fresh) }),
    ({ desk }, fresh) => ({ departmentCode: desk.departmentCode, person: newPerson(fresh) }),
  ],
  "assignees.update": [
    ({ assignee, desk }) => ({
      assigneeEmail: assignee.assigneeEmail,
      departmentId: desk.departmentId,
    }),
    ({ assignee, department }) => ({
      assigneeEmail: assignee.assigneeEmail,
      departmentCode: department.departmentCode,
    }),
    ({ assignee, desk, userId }) => ({
      assigneeEmail: assignee.assigneeEmail,
      departmentId: desk.departmentId,
      userId,
    }),
  ],
  "assignees.delete": [({ assignee }) => ({ assigneeId: assignee.assigneeId })],
  "assignees.delete_by_email": [
    ({ desk, assignee }) => ({
      departmentCode: desk.departmentCode,
      assigneeEmail: assignee.assigneeEmail,
    }),
  ],
  "resolutions.get": [({ resolution }) => ({ resolutionCode: resolution.resolutionCode })],
  "resolutions.get_by_id": [({ resolution }) => ({ resolutionId: resolution.resolutionId })],
  "resolutions.list": [() => ({})],
  "resolutions.create": [(_records, fresh) => named(fresh)],
  "resolutions.update": [
    ({ resolution }, fresh) => ({ resolutionId: resolution.resolutionId, description: fresh }),
  ],
  "resolutions.delete": [({ resolution }) => ({ resolutionId: resolution.resolutionId })],
  "resolutions.delete_by_code": [
    ({ resolution }) => ({ resolutionCode: resolution.resolutionCode }),
  ],
  "audit_logs.list": [() => ({}), ({ auditCursor }) => ({ limit: 1, cursor: auditCursor })],
};

const named = (fresh: string): Arguments => ({ code: fresh, description: fresh });

const newDispute = (fresh: string): Arguments => ({
  amount: 10,
  accountNumber: fresh,
  documentNumber: fresh,
});

const newPerson = (fresh: string): Arguments => ({
  firstName: fresh,
  lastName: fresh,
  email: `${fresh}@work.example`,
});

export type Wire = { method: string; path: string; body: Arguments | undefined };

const pick = (shape: object | undefined, args: Arguments): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(shape ?? {}, name)));

/** How arguments travel on one of an operation's routes. */
export const wire = (
  operation: Operation,
  route: Pick<Operation, "method" | "path">,
  args: Arguments,
): Wire => {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(args[name])),
  );
  const query = new URLSearchParams(
    Object.entries(pick(operation.query.shape, args)).map(([name, value]) => [name, String(value)]),
  ).toString();
  return {
    method: route.method,
    path: query === "" ? path : `${path}?${query}`,
    body:
      operation.body === null || route.method === "GET"
        ? undefined
        : pick(operation.body.shape, args),
  };
};
