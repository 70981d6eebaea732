import { z } from "zod";
import { parsePrivate } from "../config/private-file.ts";
import { HEADER_WORD } from "../kit/header-word.ts";
import { PROFILE_NAME } from "../kit/profile-name.ts";
import { trimEndOf } from "../kit/text.ts";
import { toCredentials, type Profile } from "./profiles.ts";

const Url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });
const Text = z.string().min(1);

const Fields = z.strictObject({
  baseUrl: Url.optional(),
  extBaseUrl: Url.optional(),
  tenantId: Text.optional(),
  headerWord: z.string().regex(HEADER_WORD, "must be a word of letters and digits").optional(),
  email: Text.optional(),
  apiKey: Text.optional(),
  apiKeyFile: Text.optional(),
  extApiKey: Text.optional(),
  extApiKeyFile: Text.optional(),
  password: Text.optional(),
  passwordFile: Text.optional(),
  subjects: z.array(Text.max(512)).optional(),
});
const Entry = Fields.refine(
  ({ baseUrl, extBaseUrl }) => baseUrl !== undefined || extBaseUrl === undefined,
  { path: ["extBaseUrl"], error: "is set without baseUrl" },
);
type Entry = z.infer<typeof Entry>;

const File = z.record(z.string().regex(PROFILE_NAME, "is not a valid profile name"), Entry);

const SECRETS = ["apiKey", "extApiKey", "password"] as const;

/** Reads an entry's secrets, given inline or as the path of a file. */
const readSecrets = (name: string, entry: Entry, readFile: (path: string) => string) => {
  const found: Partial<Record<(typeof SECRETS)[number], string>> = {};
  for (const secret of SECRETS) {
    const path = entry[`${secret}File`];
    const value = entry[secret];
    if (path !== undefined && value !== undefined) {
      throw new Error(`profile ${name} has both ${secret} and ${secret}File: choose one`);
    }
    const text = path === undefined ? value : trimEndOf(readFile(path), "\r\n");
    if (text !== undefined) found[secret] = text;
  }
  return found;
};

/**
 * Parses a profiles file.
 *
 * @throws {Error} with every fault, without any value of the file
 */
export const parseProfiles = (text: string, readFile: (path: string) => string): Profile[] =>
  Object.entries(parsePrivate(File, text)).map(([name, entry]) => ({
    name,
    baseUrl: entry.baseUrl,
    extBaseUrl: entry.extBaseUrl,
    tenantId: entry.tenantId,
    headerWord: entry.headerWord,
    subjects: entry.subjects,
    credentials: toCredentials({ ...readSecrets(name, entry, readFile), email: entry.email }),
  }));
