import { findNearest } from "../kit/nearest.ts";
import { knownSettings } from "./config.ts";

const PREFIX = "RECEIVABLES_";

const withoutPrefix = (name: string): string =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;

// Compared without the prefix, which all of them share.
const KNOWN = knownSettings.map(withoutPrefix);

/** Says that a name is not a setting, and which setting it resembles. */
export const describeUnknownSetting = (name: string): string => {
  const [near] = findNearest(withoutPrefix(name), KNOWN, 1);
  return near === undefined
    ? `${name} is not a setting. Unset it; docs/settings.md lists the settings.`
    : `${name} is not a setting. Did you mean ${PREFIX}${near}?`;
};
