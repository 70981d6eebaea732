import { randomBytes, randomUUID } from "node:crypto";

/** Where record ids come from: UUID v4 text. */
export type NewId = () => string;

export const randomId: NewId = () => randomUUID();

/** 256 random bits as 43 base64url characters. */
export const randomToken = (): string => randomBytes(32).toString("base64url");
