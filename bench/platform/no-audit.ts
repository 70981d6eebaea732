import type * as audit from "../../src/platform/http/audit.ts";
import type { NewEntry } from "../../src/platform/store/audit/entries.ts";

export * from "../../src/platform/http/audit.ts";

const NOTHING: NewEntry = {
  tenantId: "none",
  id: "",
  at: 0,
  method: "",
  endpoint: "",
  action: null,
  statusCode: 0,
  metadata: {},
};

export const buildEntry: typeof audit.buildEntry = () => NOTHING;

export const createAudit: typeof audit.createAudit = () => ({
  append: async () => {},
  record: async () => {},
});
