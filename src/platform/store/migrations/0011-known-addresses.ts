import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

/** The addresses that users have logged in from, and an index that makes the purge of counters cheap. */
export const knownAddresses = (types: Types): Migration =>
  addition(types, {
    tables: {
      known_addresses: {
        columns: { user_id: "text", address_hash: "text", seen_at: "integer" },
        key: ["user_id", "address_hash"],
      },
    },
    unique: [],
    indexes: [
      ["known_addresses", ["seen_at"]],
      ["counters", ["window_ends_at"]],
    ],
  });
