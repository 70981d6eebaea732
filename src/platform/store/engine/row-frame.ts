import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";

const LEVEL = 3;

/** Options of the zstd frames that rows of exports are kept in. */
export const FRAME = {
  chunkSize: 1024 ** 2,
  params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
};

const compress = promisify(zstdCompress);

/** Compresses rows to one zstd frame. */
export const compressRows = (rows: Uint8Array): Promise<Buffer> => compress(rows, FRAME);
