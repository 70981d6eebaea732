import { findProgramKind } from "./names.ts";
import { mismatch, type ScanContext } from "./scan-context.ts";

// Programs ignore these characters in addresses.
const IGNORED = /[\0- \u007f-\u00a0\u200b-\u200f\u2028\u2029\ufeff]/g;
const WEB = /^(?:https?|mailto|tel):/i;
const SCHEME = /^[a-z][a-z0-9+.-]{0,63}:/i;
const HOST_AND_PORT = /^[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}:\d{1,5}(?:[/?#]|$)/;
const SERVER = /^[\\/]{2}/;

const decodePercent = (text: string): string =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

const isWeb = (target: string): boolean => {
  if (WEB.test(target) || HOST_AND_PORT.test(target)) return true;
  if (SCHEME.test(target) || SERVER.test(target)) return false;
  const kind = findProgramKind(withoutQuery(target));
  // Without a scheme, example.com is a host.
  return kind === undefined || kind === ".com";
};

const withoutQuery = (target: string): string => target.replace(/[?#][^]*$/, "");

const both = (target: string): string[] => {
  const text = target.replaceAll(IGNORED, "");
  return [text, decodePercent(text).replaceAll(IGNORED, "")];
};

/** Returns whether a link leads to the web, a mail address, a telephone number or a place beside the file. */
export const isWebLink = (target: string): boolean => both(target).every(isWeb);

/** Returns whether a path or file URL leads to the reader's own computer, and not to a server. */
export const isLocalPath = (target: string): boolean =>
  both(target).every((text) => {
    const path = text.replace(/^file:(?:\/\/(?=\/))?/i, "");
    const isFile = path !== text || /^[a-z]:/i.test(text);
    return (isFile || !SCHEME.test(text)) && !SERVER.test(path);
  });

// Programs that show these files run nothing in them.
const DOCUMENT = /\.(?:x?html?|pdf|txt|md|csv|rtf|od[tsp]|docx?|xlsx?|pptx?|png|jpe?g|gif)$/i;

/** Returns whether a link leads to a document on the reader's own computer. */
export const isLocalDocument = (target: string): boolean =>
  isLocalPath(target) && both(target).every((text) => DOCUMENT.test(withoutQuery(text)));

/**
 * Checks a link that a person can click. Programs that print or convert pages make local files of relative links, so
 * that those to documents are only unusual.
 *
 * @throws {Refusal}
 */
export const checkLink = (target: string, { warn }: ScanContext): void => {
  if (isWebLink(target)) return;
  const shown = target.slice(0, 100);
  if (!isLocalDocument(target)) {
    throw mismatch(`A link leads to ${shown}. Only https, mailto and tel links are accepted.`);
  }
  warn("EXTERNAL_LINK", `a link leads to a file of the writer's computer, ${shown}.`);
};

/** Returns whether a target is on the web, over https. */
export const isSecureWebLink = (target: string): boolean =>
  both(target).every((text) => /^https:/i.test(text));
