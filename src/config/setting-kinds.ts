import { z } from "zod";
import { isNetwork } from "../kit/network.ts";
import { findTimeZone } from "../kit/time-zone.ts";
import { CORE, RESEARCH, toolsetChoices, toolsetNames } from "../../tools/toolsets.ts";

/** The meaning of a setting and its default as shown in documents. */
export const describeSetting = (description: string, shown: string) => ({ description, shown });

export const refuse = (message: string) => ({ error: message });

export const Text = z.string();
export const Flag = z.stringbool({
  truthy: ["true", "1", "yes", "on"],
  falsy: ["false", "0", "no", "off"],
  error: "must be true or false",
});

export const wholeNumber = (
  fallback: number,
  [min, max]: readonly [min: number, max: number],
  meaning: string,
) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(fallback)
    .meta(describeSetting(meaning, String(fallback)));
};

export const keptDays = (fallback: number, what: string) =>
  wholeNumber(fallback, [1, 36_500], `days for which ${what} are stored`);

export const isPlainUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === "";
};

export const Url = Text.refine(
  isPlainUrl,
  "must be an http or https URL without user name, query and fragment",
);

export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

export const Toolsets = list.superRefine((names, context) => {
  const strange = names.filter((name) => !toolsetChoices.includes(name));
  if (names.length > 0 && strange.length === 0) return;
  const shown = strange.map((name) => name.slice(0, 50)).join(", ");
  context.addIssue({
    code: "custom",
    message: `contains unknown toolsets: ${shown || "an empty list"}; the toolsets are ${toolsetNames.join(", ")}, or ${CORE}, ${RESEARCH} or all`,
  });
});

export const ZoneName = Text.refine(
  (name) => findTimeZone(name) !== undefined,
  "must be the IANA name of a time zone, such as Europe/Berlin or UTC",
);

// Keys are sent in a header; spaces and non-ASCII characters come from copying errors.
export const Key = Text.regex(
  /^[\x21-\x7e]{1,512}$/,
  "must be a key of printable ASCII without spaces",
);
export const DAY_SECONDS = 86_400;

/** So many requests in a time. */
export const rateOf = (fallback: number, what: string) =>
  wholeNumber(fallback, [0, 1_000_000_000], `${what}; 0 = off`);

export const Networks = list.refine(
  (networks) => networks.every(isNetwork),
  "must be a comma list of networks as CIDR",
);

const MAX_RETRIES = 4;

export const areDelays = (seconds: readonly string[]): boolean =>
  seconds.length === MAX_RETRIES &&
  seconds.every((text) => /^\d{1,5}$/.test(text) && Number(text) <= DAY_SECONDS);

export const isScanner = (text: string): boolean =>
  /^clamd:\/(?!\/)\S+$/.test(text) ||
  /^clamd:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?\/?$/i.test(text);
