import { z } from "zod";
import { auditFields, CodeText, Description, RecordId, tenantPath, UniqueCode } from "../fields.ts";
import { defineOperations } from "../operation.ts";

export const Department = z.object({
  departmentId: z.string(),
  tenantId: z.string(),
  code: z.string(),
  description: z.string(),
  ...auditFields,
});
export type Department = z.infer<typeof Department>;

const DEPARTMENTS = "/dispute/v1/tenants/{tenantId}/departments";

export const departments = defineOperations("gateway", "departments", {
  get: {
    method: "GET",
    path: `${DEPARTMENTS}/code/{departmentCode}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute department by code.",
    params: z.object({ ...tenantPath, departmentCode: CodeText }),
    output: Department,
    audit: "department.read",
  },
  get_by_id: {
    method: "GET",
    path: `${DEPARTMENTS}/{departmentId}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute department by id.",
    params: z.object({ ...tenantPath, departmentId: RecordId }),
    output: Department,
    extension: true,
    audit: "department.read",
  },
  list: {
    method: "GET",
    path: DEPARTMENTS,
    access: "Dispute Configuration : READ",
    summary: "List the dispute departments.",
    params: z.object(tenantPath),
    output: z.array(Department),
    audit: "department.listed",
  },
  create: {
    method: "POST",
    path: DEPARTMENTS,
    access: "Dispute Configuration : CREATE",
    summary: "Create a dispute department.",
    params: z.object(tenantPath),
    body: z.object({ code: UniqueCode, description: Description }),
    output: Department,
    errors: ["duplicate_code"],
    audit: "department.created",
  },
  update: {
    method: "PUT",
    path: `${DEPARTMENTS}/{departmentId}`,
    access: "Dispute Configuration : UPDATE",
    summary: "Update a dispute department.",
    params: z.object({ ...tenantPath, departmentId: RecordId }),
    body: z.object({ description: Description.optional() }),
    output: Department,
    audit: "department.updated",
  },
  delete: {
    method: "DELETE",
    path: `${DEPARTMENTS}/{departmentId}`,
    access: "Dispute Configuration : DELETE",
    summary: "Delete an unused dispute department by id.",
    params: z.object({ ...tenantPath, departmentId: RecordId }),
    output: null,
    effects: [{ kind: "deletes", target: "department" }],
    errors: ["in_use"],
    audit: "department.deleted",
  },
  delete_by_code: {
    method: "DELETE",
    path: `${DEPARTMENTS}/by-code/{departmentCode}`,
    access: "Dispute Configuration : DELETE",
    summary: "Delete an unused dispute department by code.",
    params: z.object({ ...tenantPath, departmentCode: CodeText }),
    output: null,
    effects: [{ kind: "deletes", target: "department" }],
    errors: ["in_use"],
    audit: "department.deleted",
  },
});
