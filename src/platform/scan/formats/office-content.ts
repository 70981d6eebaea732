import { readXml, type XmlAttributes } from "../../formats/xml-stream.ts";
import { checkLink, isLocalPath } from "../links.ts";
import { mismatch, type ScanContext } from "../scan-context.ts";
import { checkFieldCode, checkFormula } from "./fields.ts";

/** Bytes without which a part is harmless. Entities, DOCTYPE and other encodings can hide dangerous contents. */
export const INTEREST =
  /instrtext|fldsimple|oleobj|olelink|ddelink|connectstring|udl|href|src\s{0,20}=|vanish|hidden|&#|<!|\||webservice|hyperlink|import|\b(?:rtd|call|exec|fopen|image|register)\b|encoding\s{0,20}=\s{0,20}.(?!utf-8)|\0/i;

const OBJECTS = new Set(["oleobject", "oleobj", "olelink", "ddelink"]);
const PICTURES = new Set(["imagedata", "fill", "stroke", "image"]);
const FORMULAS = /^(?:f|formula[12]?|definedname|calculatedcolumnformula)$/;
const MAX_CODE_LENGTH = 1024 * 1024;

const checkElement = (name: string, attributes: XmlAttributes, nest: ScanContext): void => {
  const { src, href, val = "", state = "" } = attributes;
  if (OBJECTS.has(name)) throw mismatch("The file holds an object (OLE) or a DDE link.");
  if (["connectstring", "udl"].includes(name) && val !== "") {
    throw mismatch("The file holds a data source of a mail merge.");
  }
  if (PICTURES.has(name)) {
    const found = [href, src].find((source) => source !== undefined && !isLocalPath(source));
    if (found !== undefined) throw mismatch(`A picture (${name}) is loaded from ${found}.`);
  } else if (href !== undefined) checkLink(href, nest);
  if (name === "vanish" && !/^(?:0|false|off)$/i.test(val)) {
    nest.warn("HIDDEN_TEXT", "there is hidden text.");
  }
  if (name === "sheet" && /hidden/i.test(state)) nest.warn("HIDDEN_TEXT", "a sheet is hidden.");
};

/** Checks the contents of a part: fields, formulas, objects, links and pictures. @throws {Refusal} */
export const checkContent = async (
  pieces: AsyncIterable<Buffer>,
  nest: ScanContext,
): Promise<void> => {
  // The codes of the open fields, which a document can spread over many runs; the first collects stray ones.
  const codes = [""];
  let formula = "";
  await readXml(pieces, {
    open(name, attributes) {
      checkElement(name, attributes, nest);
      if (name === "fldsimple") checkFieldCode(attributes["instr"] ?? "", nest);
      if (FORMULAS.test(name)) formula = "";
      if (name !== "fldchar") return;
      if (attributes["fldchartype"] === "begin") codes.push("");
      if (attributes["fldchartype"] === "end") checkFieldCode(codes.pop() ?? "", nest);
    },
    text(name, content) {
      if (FORMULAS.test(name)) formula += content;
      if (name !== "instrtext" && name !== "delinstrtext") return;
      const code = (codes.pop() ?? "") + content;
      if (code.length > MAX_CODE_LENGTH) throw mismatch("A field is too long to be checked.");
      codes.push(code);
    },
    close(name) {
      if (FORMULAS.test(name)) checkFormula(formula, nest);
    },
  });
  for (const code of codes) checkFieldCode(code, nest);
};
