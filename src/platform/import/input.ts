import { Problem } from "../../contract/errors.ts";
import { type OpenFile, readArchive } from "./archive.ts";
import { type Content, DETECTION_BYTES, detectContent } from "./detect.ts";
import { cutFillers, detectEncoding, toUtf8 } from "./encoding.ts";

/** A file that can be opened from its start with each call. */
export type InputFile = {
  name: string;
  bytes: () => AsyncIterable<Uint8Array>;
};

export type Input = InputFile & {
  /** The open file, or its bytes: a ZIP is not read from its start. */
  place: OpenFile | Uint8Array;
};

/** Tells the kind of a file by its first bytes. */
export const detectFile = async ({ bytes }: InputFile): Promise<Content> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes()) {
    parts.push(chunk);
    size += chunk.length;
    if (size >= DETECTION_BYTES) break;
  }
  return detectContent(cutFillers(Buffer.concat(parts).subarray(0, DETECTION_BYTES)));
};

/** Creates the refusal of a file of another kind; what to do with it can stand after a semicolon. */
export const createForeign = (name: string, foreign: string): Problem => {
  const [kind = "", ...advice] = foreign.split("; ");
  const refused = [`${name} is ${kind}, which cannot be imported`, ...advice].join("; ");
  return new Problem("invalid_request", `${refused}. Nothing was changed.`);
};

/** Adds the name of a ZIP's member to the refusal of it. */
const nameMember = (name: string, error: unknown): unknown => {
  if (!(error instanceof Problem) || error.message.includes(name)) return error;
  return new Problem("invalid_request", `In the archive, ${name}: ${error.message}`);
};

/** Calls a function with the members of a ZIP, or with the file itself. */
export const eachFile = async (
  input: Input,
  act: (file: InputFile) => Promise<void>,
): Promise<void> => {
  if ((await detectFile(input)) !== "zip") return act(input);
  for (const member of await readArchive(input.place)) {
    await act(member).catch((error: unknown) => {
      throw nameMember(member.name, error);
    });
  }
};

/** Opens a text as UTF-8. The content decides on its encoding unless that is given. */
export const openText = async (
  { bytes }: InputFile,
  given?: string,
): Promise<{ bytes: () => AsyncIterable<Uint8Array>; encoding: string }> => {
  const encoding = given ?? (await detectEncoding(bytes()));
  return { bytes: () => toUtf8(bytes(), encoding), encoding };
};
