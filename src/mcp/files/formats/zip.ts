import type { Entry } from "yauzl";
import { type Content, toParts } from "../content.ts";
import { openArchive } from "./archive.ts";

const isFolder = ({ fileName }: Entry): boolean => fileName.endsWith("/");

const describe = (entry: Entry): string => {
  const day = entry.getLastModDate().toISOString().slice(0, "2026-01-31".length);
  const name = entry.fileName.replaceAll(/[\n\r\t]/g, " ");
  return [name, isFolder(entry) ? "folder" : `${entry.uncompressedSize} bytes`, day].join("\t");
};

/** Lists the entries of a ZIP archive: name, size and day. Nothing is unpacked. */
export const readZip = async (bytes: Uint8Array): Promise<Content> => {
  const { entries } = await openArchive(bytes);
  const count = entries.filter((entry) => !isFolder(entry)).length;
  const head = `${count} ${count === 1 ? "file" : "files"}`;
  return toParts([{ name: "entries", text: [head, ...entries.map(describe)].join("\n") }]);
};
