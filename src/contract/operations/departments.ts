import { z } from "zod";
import { auditFields, CodeText, Description, RecordId, tenantPath } from "../fields.ts";
import { operation } from "../operation.ts";

export const Department = z.object({
  departmentId: z.string(),
  tenantId: z.string(),
  code: z.string(),
  description: z.string(),
  ...auditFields,
});
export type Department = z.infer<typeof Department>;

const DEPARTMENTS = "/dispute/v1/tenants/{tenantId}/departments";

export const departments = {
  get: operation({
    id: "departments.get",
    service: "gateway",
    method: "GET",
    path: `${DEPARTMENTS}/code/{departmentCode}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute department by code.",
    params: z.object({ ...tenantPath, departmentCode: CodeText }),
    output: Department,
    audit: "department.read",
    source: "gateway 4",
  }),
  list: operation({
    id: "departments.list",
    service: "gateway",
    method: "GET",
    path: DEPARTMENTS,
    access: "Dispute Configuration : READ",
    summary: "List the dispute departments.",
    params: z.object(tenantPath),
    output: z.array(Department),
    audit: "department.listed",
    source: "gateway 4",
  }),
  create: operation({
    id: "departments.create",
    service: "gateway",
    method: "POST",
    path: DEPARTMENTS,
    access: "Dispute Configuration : CREATE",
    summary: "Create a dispute department.",
    params: z.object(tenantPath),
    body: z.object({ code: CodeText, description: Description }),
    output: Department,
    fails: ["duplicate_code"],
    audit: "department.created",
    source: "gateway 4",
  }),
  update: operation({
    id: "departments.update",
    service: "gateway",
    method: "PUT",
    path: `${DEPARTMENTS}/{departmentId}`,
    access: "Dispute Configuration : UPDATE",
    summary: "Change a dispute department.",
    params: z.object({ ...tenantPath, departmentId: RecordId }),
    body: z.object({ description: Description.optional() }),
    output: Department,
    audit: "department.updated",
    source: "gateway 4",
  }),
  delete: operation({
    id: "departments.delete",
    service: "gateway",
    method: "DELETE",
    path: `${DEPARTMENTS}/{departmentId}`,
    access: "Dispute Configuration : DELETE",
    summary: "Delete a dispute department that nothing uses, by id.",
    params: z.object({ ...tenantPath, departmentId: RecordId }),
    output: null,
    fails: ["in_use"],
    audit: "department.deleted",
    source: "gateway 4",
  }),
  delete_by_code: operation({
    id: "departments.delete_by_code",
    service: "gateway",
    method: "DELETE",
    path: `${DEPARTMENTS}/by-code/{departmentCode}`,
    access: "Dispute Configuration : DELETE",
    summary: "Delete a dispute department that nothing uses, by code.",
    params: z.object({ ...tenantPath, departmentCode: CodeText }),
    output: null,
    fails: ["in_use"],
    audit: "department.deleted",
    source: "gateway 4",
  }),
};
