import { SaxesParser } from "saxes";
import { detectMalware, detectPrograms } from "../signatures.ts";
import { createAttachedRefusal } from "./names.ts";

/** Bytes of one embedded file, and files of one PDF. */
export const MAX_XML_BYTES = 5 * 1024 * 1024;
export const MAX_XML_FILES = 5;
const MAX_DEPTH = 64;

const NAME = /^[A-Za-z0-9][\w .()-]{0,99}\.xml$/i;

/** Namespaces of invoices (CII, UBL) are URNs. Browsers run scripts in the namespaces of XHTML, SVG and XSLT. */
const NAMESPACE =
  /^(?:urn:.*|http:\/\/www\.w3\.org\/2001\/XMLSchema(?:-instance)?|http:\/\/www\.w3\.org\/2000\/09\/xmldsig#)$/;

/** Refuses a name under which a program could open the file as something else than XML. */
export const checkXmlName = (name: string): void => {
  if (!NAME.test(name)) throw createAttachedRefusal();
};

/**
 * Refuses an embedded file that is not the XML of an electronic invoice (Factur-X, ZUGFeRD, Order-X): well-formed, in
 * UTF-8, without a document type, processing instructions, and elements that a browser would run.
 *
 * @throws {Refusal}
 */
export const checkXmlInvoice = (bytes: Uint8Array): void => {
  if (bytes.byteLength > MAX_XML_BYTES) throw createAttachedRefusal();
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  detectMalware(latin1);
  detectPrograms(latin1);
  const refuse = (): never => {
    throw createAttachedRefusal();
  };
  let depth = 0;
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", refuse);
  parser.on("doctype", refuse);
  parser.on("processinginstruction", refuse);
  parser.on("opentag", ({ uri, ns }) => {
    depth += 1;
    const isKnown = NAMESPACE.test(uri) && Object.values(ns).every((one) => NAMESPACE.test(one));
    if (!isKnown || depth > MAX_DEPTH) refuse();
  });
  parser.on("closetag", () => {
    depth -= 1;
  });
  try {
    parser.write(new TextDecoder("utf-8", { fatal: true }).decode(bytes)).close();
  } catch {
    refuse();
  }
};
