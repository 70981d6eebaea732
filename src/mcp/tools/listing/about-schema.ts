import type { JsonSchema } from "./schemas.ts";

/** The schema of what every result has before its data. */
export const ABOUT: JsonSchema = { type: "object", description: "data, etag, notes, links" };
