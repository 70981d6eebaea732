import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** Business units, companies' scores, and buyers' applications for credit. */
export const credit = (types: Types): Migration =>
  addition(types, {
    tables: {
      business_units: {
        columns: { tenant_id: "text", id: "text", display_name: "text", value_list: "text" },
        key: ["tenant_id", "id"],
      },
      company_scores: {
        columns: { tenant_id: "text", company_id: "text", as_of: "integer", fields: "text" },
        key: ["tenant_id", "company_id", "as_of"],
      },
      credit_applications: {
        columns: {
          tenant_id: "text",
          id: "text",
          status_type: "text",
          status_at: "integer",
          activity_at: "integer",
          unit_ids: "text",
          summary: "text",
          detail: "text",
        },
        key: ["tenant_id", "id"],
      },
    },
    unique: [],
    // With the id that orders equal dates, and the status that is counted.
    indexes: [
      ["credit_applications", ["tenant_id", "status_at", "id", "status_type"]],
      ["credit_applications", ["tenant_id", "activity_at", "id", "status_type"]],
    ],
  });
