import { isGlobal, trimBrackets } from "../kit/network.ts";
import { requiredText } from "./fields.ts";

const PORT_HTTPS = 443;
const FIRST_FREE_PORT = 1024;
const BLANK = /[\s\p{C}]/u;

export const NEEDS_HTTPS = "must be an https URL";

/** Returns what is wrong with a callback URL that no setting of a platform allows; undefined if nothing is. */
const findFault = (text: string): string | undefined => {
  const url = BLANK.test(text) ? null : URL.parse(text);
  if (url === null) return "must be an absolute URL";
  const { protocol, hostname, username, password, port } = url;
  // A platform can allow http to addresses that are not public, and to names that lead to them.
  const canBePlain = protocol === "http:" && !isGlobal(trimBrackets(hostname));
  if (protocol !== "https:" && !canBePlain) return NEEDS_HTTPS;
  if (username + password !== "") return "must not hold a user name or password";
  if (port !== "" && Number(port) !== PORT_HTTPS && Number(port) < FIRST_FREE_PORT) {
    return `must have port ${PORT_HTTPS}, or one from ${FIRST_FREE_PORT} on`;
  }
  return undefined;
};

/** The URL that a platform calls. The platform also checks the addresses that its host has. */
export const CallbackUrl = requiredText(2048)
  .superRefine((text, context) => {
    const message = text === "" ? undefined : findFault(text);
    if (message !== undefined) {
      context.addIssue({ code: "custom", message, params: { code: "format" } });
    }
  })
  .meta({ format: "uri", description: "https" });
