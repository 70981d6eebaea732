import { Problem } from "../../../contract/errors.ts";
import { SCOPES } from "../../caller.ts";
import { parseSavedName, SAVED_TYPES, type SavedBytes } from "../../results/saved-files.ts";
import { kindOf } from "../../files/kind.ts";
import { SAVED } from "../../results/resource-uris.ts";
import { createIsUsable } from "../listing/tool-list.ts";
import type { OpenFile } from "./text.ts";
import type { ToolContext } from "../tool-context.ts";
import { nameSaved } from "../saving/save.ts";

const unknown = (name: string): Problem =>
  new Problem(
    "not_found",
    `You have saved no table ${JSON.stringify(name.slice(0, 100))} within the last day. Save it again with the tool's argument save.`,
  );

/**
 * Finds a table that the caller has saved. Others of the tenant have saved none of that name, and who may not use the
 * tool any more may not read what it gave.
 *
 * @throws {Problem} not_found, forbidden_permission
 */
export const findSaved = async (context: ToolContext, name: string): Promise<SavedBytes> => {
  const { saved, broker } = context;
  const parsed = parseSavedName(name);
  if (parsed === undefined || saved === undefined) throw unknown(name);
  const isUsable = createIsUsable({ scopes: SCOPES, rights: broker.rights });
  if (!isUsable(parsed.tool)) {
    const message = `You may not use ${parsed.tool} any more, which saved this table.`;
    throw new Problem("forbidden_permission", message);
  }
  const file = await saved.open(nameSaved(context, name));
  if (file === undefined) throw unknown(name);
  return file;
};

/** Opens a saved table to read it as a file. */
export const openSaved =
  (context: ToolContext, name: string): OpenFile =>
  async (maxBytes) => {
    const { size, bytes } = await findSaved(context, name);
    const mimeType = SAVED_TYPES[parseSavedName(name)?.format ?? "csv"];
    const fields = { fileName: name, mimeType, resourceUri: SAVED + name };
    const opened = { fields, fileName: name, mimeType, fileSize: size };
    const chunks: Uint8Array[] = [];
    if (size > maxBytes(kindOf(name, mimeType))) {
      // Ends the reading, so that nothing of the file stays open.
      for await (const _first of bytes) break;
      return { ...opened, bytes: undefined };
    }
    for await (const chunk of bytes) chunks.push(chunk);
    return { ...opened, bytes: Buffer.concat(chunks) };
  };
