import { z } from "zod";
import { configurationOf } from "../configuration.ts";
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

const department = configurationOf("department");

export const departments = defineOperations("gateway", "departments", {
  get: {
    ...department.read,
    path: `${DEPARTMENTS}/code/{departmentCode}`,
    summary: "Read one dispute department by code.",
    params: z.object({ ...tenantPath, departmentCode: CodeText }),
    output: Department,
  },
  get_by_id: {
    ...department.read,
    path: `${DEPARTMENTS}/{departmentId}`,
    summary: "Read one dispute department by id.",
    params: z.object({ ...tenantPath, departmentId: RecordId }),
    output: Department,
    extension: true,
  },
  list: {
    ...department.list,
    path: DEPARTMENTS,
    summary: "List the dispute departments.",
    output: z.array(Department),
  },
  create: {
    ...department.create,
    path: DEPARTMENTS,
    summary: "Create a dispute department.",
    body: z.object({ code: UniqueCode, description: Description }),
    output: Department,
    errors: ["duplicate_code"],
  },
  update: {
    ...department.update,
    path: `${DEPARTMENTS}/{departmentId}`,
    summary: "Update a dispute department.",
    params: z.object({ ...tenantPath, departmentId: RecordId }),
    body: z.object({ description: Description.optional() }),
    output: Department,
  },
  delete: {
    ...department.delete,
    path: `${DEPARTMENTS}/{departmentId}`,
    summary: "Delete an unused dispute department by id.",
    params: z.object({ ...tenantPath, departmentId: RecordId }),
  },
  delete_by_code: {
    ...department.delete,
    path: `${DEPARTMENTS}/by-code/{departmentCode}`,
    summary: "Delete an unused dispute department by code.",
    params: z.object({ ...tenantPath, departmentCode: CodeText }),
  },
});
