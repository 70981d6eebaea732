import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { extname } from "node:path";
import { Problem } from "../../contract/errors.ts";
import { getMessage } from "../../kit/error.ts";
import type { AuthorizationServerNeeds } from "../../oauth/context.ts";
import type { Config } from "../../config/config.ts";

type Brand = NonNullable<AuthorizationServerNeeds["brand"]>;

const TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
};
const MAX_LOGO_BYTES = 64 * 1024;

const INTERNAL = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/;

/** Returns a platform's host for people; addresses within a network say nothing to them, and are not shown. */
export const namePlatform = ({ hostname }: URL): string => {
  const isAddress = isIP(hostname) !== 0 || hostname.startsWith("[");
  const isPublic = !isAddress && hostname.includes(".") && !INTERNAL.test(hostname);
  return isPublic ? hostname : "this platform";
};

const readLogo = (path: string): string => {
  const type = TYPES[extname(path).toLowerCase()];
  const refuse = (why: string): Problem =>
    new Problem("invalid_request", `RECEIVABLES_OPERATOR_LOGO ${path}: ${why}`);
  if (type === undefined) throw refuse("must be a PNG, SVG or WebP file.");
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    throw refuse(getMessage(error));
  }
  if (content.length > MAX_LOGO_BYTES) throw refuse("must have at most 64 KiB.");
  return `data:${type};base64,${content.toString("base64")}`;
};

/** Reads the operator's name and logo; undefined if neither is set. @throws {Problem} invalid_request */
export const readBrand = ({
  operator: { name, logo },
}: Pick<Config, "operator">): Brand | undefined =>
  name === undefined && logo === undefined
    ? undefined
    : { name: name ?? "Receivables", logo: logo === undefined ? undefined : readLogo(logo) };
