import { randomBytes, randomUUID } from "node:crypto";

/** Creates a record id: a UUID v4. Injected, so that tests can set it. */
export type NewId = () => string;

export const randomId: NewId = () => randomUUID();

/** Creates a token of 256 random bits, 43 base64url characters. */
export const randomToken = (): string => randomBytes(32).toString("base64url");
