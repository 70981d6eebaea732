import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** Creates the records of the built-in authorization server: clients, grants, codes, tokens, people. */
export const oauth = (types: Types): Migration =>
  addition(types, {
    tables: {
      oauth_records: {
        columns: {
          kind: "text",
          id: "text",
          grant_id: "text?",
          owner: "text?",
          payload: "text",
          consumed_at: "integer?",
          expires_at: "integer",
        },
        key: ["kind", "id"],
      },
    },
    unique: [],
    indexes: [
      ["oauth_records", ["grant_id"], "grant_id"],
      ["oauth_records", ["owner"], "owner"],
      ["oauth_records", ["expires_at"]],
    ],
  });
