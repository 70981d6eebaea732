import PostalMime, { type Address, type Attachment, type Email } from "postal-mime";
import { type Content, toParts } from "../content.ts";
import { Unreadable } from "../port.ts";
import { readHtml } from "./html.ts";

const MAX_DEPTH = 20;
const MAX_HEADER_BYTES = 256 * 1024;
const MOST_NAMED = 100;

const oneLine = (text: string): string => text.replaceAll(/[\n\r\t]+/g, " ").trim();

const addressOf = (one: Address): string => {
  if (one.group !== undefined) return `${one.name}: ${one.group.map(addressOf).join(", ")}`;
  const { name, address } = one;
  return name === "" ? address : `${name} <${address}>`;
};

const addressesOf = (list: readonly Address[] = []): string =>
  [
    ...list.slice(0, MOST_NAMED).map(addressOf),
    ...(list.length > MOST_NAMED ? [`and ${list.length - MOST_NAMED} more`] : []),
  ].join(", ");

const sizeOf = ({ content }: Attachment): number =>
  typeof content === "string" ? content.length : content.byteLength;

const nameOf = (attachment: Attachment): string => {
  const { filename, mimeType } = attachment;
  return `${oneLine(filename ?? "without a name")} (${mimeType}, ${sizeOf(attachment)} bytes)`;
};

const bodyOf = ({ text, html }: Email): string => {
  if (text !== undefined && text.trim() !== "") return text.trim();
  return html === undefined ? "" : readHtml(html);
};

const BEGIN = /^begin(-base64)? [0-7]{3,4} {1,9}(.{1,255})$/;
const END = /^(?:end|====)$/;
const UUENCODED = /^(?:[!-`][ -`]{1,89}|`)$/;
const BASE64 = /^[\w+/]{1,100}={0,3}$/;

/** Divides a text from the files in it, in uuencode or Base64 as mail programs wrote them before MIME. */
const divide = (text: string): { body: string; files: string[] } => {
  const [files, lines]: [string[], string[]] = [[], []];
  let data: RegExp | undefined;
  for (const whole of text.split("\n")) {
    const line = whole.trimEnd();
    const [, base64, name] = BEGIN.exec(line) ?? [];
    if (name !== undefined) {
      files.push(`${name} (in the text)`);
      data = base64 === undefined ? UUENCODED : BASE64;
    } else if (data?.test(line) !== true) {
      if (data === undefined || !END.test(line)) lines.push(whole);
      data = undefined;
    }
  }
  return { body: lines.join("\n").trim(), files };
};

const describe = (mail: Email): string => {
  const { from, to, cc, date, subject, attachments } = mail;
  const { body, files } = divide(bodyOf(mail));
  const named = [...attachments.slice(0, MOST_NAMED).map(nameOf), ...files.slice(0, MOST_NAMED)];
  const lines = [
    ["From", from === undefined ? "" : addressOf(from)],
    ["To", addressesOf(to)],
    ["Cc", addressesOf(cc)],
    ["Date", date],
    ["Subject", subject],
    ["Attachments", named.join(", ")],
  ].flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}: ${oneLine(value)}`],
  );
  return [...lines, "", body].join("\n").trim();
};

/** Reads an e-mail: who wrote to whom and when, the body, and the names of its attachments. @throws {Unreadable} */
export const readMail = async (bytes: Uint8Array<ArrayBuffer>): Promise<Content> => {
  try {
    const mail = await PostalMime.parse(bytes, {
      maxNestingDepth: MAX_DEPTH,
      maxHeadersSize: MAX_HEADER_BYTES,
    });
    return toParts([{ name: "message", text: describe(mail) }]);
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable("The file is no e-mail that can be read.");
  }
};
