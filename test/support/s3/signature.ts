import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

export const ACCESS_KEY = "AKIDTEST";
export const SECRET_KEY = "test-secret";
export const REGION = "test-region-1";

const sha256 = (text: string | Buffer): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

const SCHEME =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

const encode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const canonicalQuery = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join("&");

/** Returns the fault of a request's signature (version 4); undefined if it is right. */
export const findSignatureFault = (
  { method = "", headers }: IncomingMessage,
  url: URL,
  body: Buffer,
): string | undefined => {
  const [, keyId, day = "", region = "", names = "", signature] =
    SCHEME.exec(headers.authorization ?? "") ?? [];
  const date = String(headers["x-amz-date"]);
  const hash = String(headers["x-amz-content-sha256"]);
  const signed = names.split(";");
  if (keyId !== ACCESS_KEY) return "no access key in the authorization";
  if (region !== REGION || !date.startsWith(day)) return "another region or day";
  if (headers.host !== url.host) return "another host";
  const needed = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))];
  const missing = needed.find((name) => !signed.includes(name));
  if (missing !== undefined) return `${missing} is not signed`;
  if (hash !== sha256(body)) return "another hash of the body";
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url),
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    names,
    hash,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (made, part) => hmac(made, part),
    `AWS4${SECRET_KEY}`,
  );
  return hmac(key, text).toString("hex") === signature ? undefined : "another signature";
};
