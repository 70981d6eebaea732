import { checkLink, isSecureWebLink } from "../links.ts";
import { mismatch, type ScanContext } from "../scan-context.ts";

const QUOTED = /"[^"]{0,5000}"/g;
/** Fields of programs that store citations; their data can hold any word. */
const DATA = new Set(["ADDIN", "CITATION", "BIBLIOGRAPHY"]);
const EXCHANGE = /\bDDE(?:AUTO)?\b/i;
const OBJECTS = new Set(["LINK", "CONTROL", "HTMLCONTROL", "DATABASE"]);
const INCLUDES = new Set(["INCLUDEPICTURE", "INCLUDETEXT", "INCLUDE", "IMPORT", "RD"]);
const TOKEN = /\\([a-z!*#@])(?![^\s"])|["\u201c]([^"\u201c\u201d]*)["\u201d]|[^\s"\u201c\u201d]+/gi;
/** Switches whose argument is no address. */
const WITH_ARGUMENT = "lotsc*#@nx";

/** Returns a field's kind in capitals, and its address; in a code, backslashes are doubled. */
const parseCode = (code: string): { kind: string; target: string; isLocal: boolean } => {
  const words: string[] = [];
  const switches: string[] = [];
  let isArgument = false;
  for (const { 0: whole, 1: name, 2: quoted } of code.matchAll(TOKEN)) {
    if (name !== undefined) {
      switches.push(name.toLowerCase());
      isArgument = WITH_ARGUMENT.includes(name.toLowerCase());
    } else {
      if (!isArgument) words.push(quoted ?? whole);
      isArgument = false;
    }
  }
  const [kind = "", target = ""] = words;
  return {
    kind: kind.trim().toUpperCase(),
    target: target.replaceAll("\\\\", "\\"),
    isLocal: switches.includes("l") && target === "",
  };
};

/**
 * Checks the code of a field of Word or RTF.
 *
 * @throws {Refusal} for fields that start programs or load something, and links that leave the web
 */
export const checkFieldCode = (code: string, nest: ScanContext): void => {
  const { kind, target, isLocal } = parseCode(code);
  const shown = code.trim().slice(0, 100);
  const address = target.slice(0, 100);
  if (EXCHANGE.test(kind) || (!DATA.has(kind) && EXCHANGE.test(code.replaceAll(QUOTED, " ")))) {
    throw mismatch(`A field starts a program (DDE): ${shown}`);
  }
  if (OBJECTS.has(kind)) throw mismatch(`A field loads an object or data (${kind}): ${shown}`);
  if (kind === "HYPERLINK" && !isLocal) checkLink(target, nest);
  if (!INCLUDES.has(kind) || target === "") return;
  if (!isSecureWebLink(target)) throw mismatch(`A field (${kind}) loads ${address}.`);
  nest.warn("EXTERNAL_LINK", `a field (${kind}) loads ${address}.`);
};

const TEXTS = /"[^"]{0,32767}"/g;
// Names of sheets and workbooks can hold any character.
const SHEETS = /'[^']{0,500}'(?=!)|\[[^\]]{0,500}\]/g;
const MACRO = /\b(?:CALL|REGISTER|REGISTER\.ID|EXEC|FOPEN)\s{0,10}\(/i;
const NETWORK = /\b(?:WEBSERVICE|RTD|IMAGE|IMPORT(?:DATA|HTML|XML|FEED|RANGE))\s{0,10}\(/i;
const LINK = /\bHYPERLINK\s{0,10}\(\s{0,10}"([^"]{0,5000})"/gi;

/** Checks a formula of a workbook. @throws {Refusal} for DDE, macro functions and links that leave the web */
export const checkFormula = (formula: string, nest: ScanContext): void => {
  const bare = formula.replaceAll(TEXTS, '""').replaceAll(SHEETS, "");
  const shown = formula.slice(0, 100);
  if (bare.includes("|")) throw mismatch(`A formula starts a program (DDE): ${shown}`);
  if (MACRO.test(bare)) throw mismatch(`A formula calls a program or macro: ${shown}`);
  for (const [, target = ""] of formula.matchAll(LINK)) checkLink(target, nest);
  if (NETWORK.test(formula))
    nest.warn("NETWORK_FORMULA", `a formula reads from the network: ${shown}`);
};
