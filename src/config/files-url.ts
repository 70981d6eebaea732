import { resolve } from "node:path";
import { z } from "zod";

/** Objects of a bucket; the platform opens them. */
type S3Location = {
  bucket: string;
  prefix: string;
  endpoint: string | undefined;
  region: string | undefined;
};

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^([\w-][\w.-]{0,254}(\/[\w-][\w.-]{0,254})*)?$/;
const REGION = /^[a-z0-9-]{1,63}$/;

const isOrigin = (text: string): boolean =>
  URL.canParse(text) && /^https?:\/\/[^/?#@]+\/?$/.test(text);

const parseS3 = (text: string): S3Location | undefined => {
  if (!URL.canParse(text)) return undefined;
  const {
    protocol,
    username,
    password,
    host: bucket,
    pathname,
    searchParams,
    hash,
  } = new URL(text);
  const prefix = pathname.replace(/^\//, "").replace(/\/$/, "");
  const { endpoint, region, ...others } = Object.fromEntries(searchParams);
  const isValid =
    protocol === "s3:" &&
    username + password + hash === "" &&
    BUCKET.test(bucket) &&
    PREFIX.test(prefix) &&
    (endpoint === undefined || isOrigin(endpoint)) &&
    (region === undefined || REGION.test(region)) &&
    Object.keys(others).length === 0;
  return isValid ? { bucket, prefix, endpoint, region } : undefined;
};

/** The schema of the setting. */
export const FilesUrl = z
  .string()
  .refine(
    (text) => !SCHEME.test(text) || parseS3(text) !== undefined,
    "must be a folder, or s3://BUCKET/PREFIX with no parameters but endpoint (a URL) and region",
  )
  .optional()
  .meta({
    description:
      "where files and snapshots are stored: a folder, or `s3://BUCKET/PREFIX?endpoint=URL&region=REGION`; all nodes must use the same one",
    shown: "`files` in the data folder",
  });

/** Parses a valid place of files. */
export const toFilesLocation = (text: string): { folder: string } | S3Location =>
  (SCHEME.test(text) ? parseS3(text) : undefined) ?? { folder: resolve(text) };
