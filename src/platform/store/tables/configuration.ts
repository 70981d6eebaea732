import type { Flag, Tracked } from "./column.ts";

export type CategoryRow = Tracked & {
  tenant_id: string;
  id: string;
  code: string;
  code_folded: string;
  description: string;
  description_folded: string;
  default_internal_reason_id: string | null;
  default_external_reason_id: string | null;
  /** The assignee of new disputes of the category that name no assignee. */
  default_assignee_id: string | null;
};

export type ReasonRow = Tracked & {
  tenant_id: string;
  id: string;
  category_id: string;
  code: string;
  code_folded: string;
  description: string;
  description_folded: string;
  active: Flag;
  visibility: "Internal" | "External" | "All";
};

export type DepartmentRow = Tracked & {
  tenant_id: string;
  id: string;
  code: string;
  code_folded: string;
  description: string;
  description_folded: string;
};

export type AssigneeRow = Tracked & {
  tenant_id: string;
  id: string;
  department_id: string;
  user_id: string | null;
  email: string;
  email_folded: string;
  first_name: string;
  last_name: string;
  /** First and last name, folded. */
  name_folded: string;
  /** Phones, title, language, timezone, address. */
  person: string;
  active: Flag;
  all_updates: Flag;
  daily_digest: Flag;
};

export type ResolutionRow = Tracked & {
  tenant_id: string;
  id: string;
  code: string;
  code_folded: string;
  description: string;
  active: Flag;
  is_valid: Flag;
  apply_when_invoice_closed: Flag;
};

export type ConfigurationTables = {
  categories: CategoryRow;
  reasons: ReasonRow;
  departments: DepartmentRow;
  assignees: AssigneeRow;
  resolutions: ResolutionRow;
};
