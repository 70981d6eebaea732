import { crc32, deflateRawSync } from "node:zlib";

export type ZipEntry = {
  name: string;
  data?: Uint8Array | string;
  stored?: boolean;
  flags?: number;
  method?: number;
  /** Of the file in Unix, kind and permissions. */
  mode?: number;
  /** Values of the local header that differ from the index. */
  localName?: string;
  claimedSize?: number;
  claimedPackedSize?: number;
  /** The offset of the entry in the index. */
  claimedAt?: number;
};

const UTF8 = 0x800;

const built = (entry: ZipEntry, at: number) => {
  const data = Buffer.from(entry.data ?? "");
  const packed = entry.stored === true ? data : deflateRawSync(data, { level: 9 });
  const method = entry.method ?? (entry.stored === true ? 0 : 8);
  const name = Buffer.from(entry.name);
  const localName = Buffer.from(entry.localName ?? entry.name);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE((entry.flags ?? 0) | UTF8, 2);
  common.writeUInt16LE(method, 4);
  common.writeUInt16LE(0x5a21, 8);
  common.writeUInt32LE(crc32(data), 10);
  common.writeUInt32LE(entry.claimedPackedSize ?? packed.byteLength, 14);
  common.writeUInt32LE(entry.claimedSize ?? data.byteLength, 18);
  common.writeUInt16LE(localName.byteLength, 22);
  const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, localName, packed]);
  common.writeUInt16LE(name.byteLength, 22);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
  rest.writeUInt32LE(entry.claimedAt ?? at, 10);
  const index = Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), common, rest, name]);
  return { local, index };
};

/** Builds a ZIP archive, also with inconsistent headers. */
export const zip = (
  entries: readonly ZipEntry[],
  { before = "", comment = "" }: { before?: string | Uint8Array; comment?: string } = {},
): Buffer => {
  const head = Buffer.from(before);
  const locals: Buffer[] = [head];
  const indexes: Buffer[] = [];
  let at = head.byteLength;
  for (const entry of entries) {
    const { local, index } = built(entry, at);
    locals.push(local);
    indexes.push(index);
    at += local.byteLength;
  }
  const index = Buffer.concat(indexes);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(index.byteLength, 12);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, index, end, Buffer.from(comment)]);
};
