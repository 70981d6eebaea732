import { randomBytes, randomUUID } from "node:crypto";

/** Creates a record id: a UUID v4. Injected, so that tests can set it. */
export type NewId = () => string;

export const randomId: NewId = () => randomUUID();

/** Creates a token of 256 random bits, 43 base64url characters. */
export const randomToken = (): string => randomBytes(32).toString("base64url");

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns the id in a member whose name says that it is one: UUIDs in small letters, as they are stored (RFC 9562). */
export const lowerId = (name: string, value: string): string =>
  /ids?$/i.test(name) && UUID.test(value) ? value.toLowerCase() : value;
