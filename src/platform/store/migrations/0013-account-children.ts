import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** The index behind the search for the accounts below one. */
export const accountChildren = (types: Types): Migration =>
  addition(types, {
    tables: {},
    unique: [],
    indexes: [["accounts", ["tenant_id", "parent_account_number"], "parent_account_number"]],
  });
