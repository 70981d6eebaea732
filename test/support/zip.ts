import yazl from "yazl";

/** Packs files into a ZIP. */
export const packZip = async (files: Record<string, string | Buffer>): Promise<Buffer> => {
  const zip = new yazl.ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const pieces: Buffer[] = [];
  for await (const piece of zip.outputStream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
};
