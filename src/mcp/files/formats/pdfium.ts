import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { init, type WrappedPdfiumModule } from "@embedpdf/pdfium";

export type Pdfium = WrappedPdfiumModule;

/** A page of WebAssembly memory has 64 KiB: 512 MiB. */
const MAX_MEMORY_PAGES = 8192;

const MEMORY_SECTION = 5;
const HEADER_BYTES = 8;

/** Reads an unsigned LEB128 number. Returns it and the index behind it. */
const readNumber = (bytes: Uint8Array, from: number): [value: number, end: number] => {
  let [value, shift, at] = [0, 1, from];
  for (;;) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * shift;
    shift *= 128;
    at += 1;
    if (byte < 0x80) return [value, at];
  }
};

/** Writes a number into the bytes that another one takes. */
const writeNumber = (bytes: Uint8Array, from: number, end: number, value: number): void => {
  let left = value;
  for (let at = from; at < end; at += 1) {
    bytes[at] = (left & 0x7f) | (at < end - 1 ? 0x80 : 0);
    left = Math.floor(left / 128);
  }
};

/** Lowers the most memory that a program may have. Nothing else bounds it: a thread's limits are those of its heap. */
const boundMemory = (program: Uint8Array): void => {
  let at = HEADER_BYTES;
  while (at < program.length) {
    const [length, start] = readNumber(program, at + 1);
    if (program[at] === MEMORY_SECTION) {
      const [, flags] = readNumber(program, start);
      const [, from] = readNumber(program, flags + 1);
      const [, end] = readNumber(program, from);
      writeNumber(program, from, end, MAX_MEMORY_PAGES);
      return;
    }
    at = start + length;
  }
};

// In the bundle, the program lies compressed next to the other chunks.
const readProgram = async (): Promise<Uint8Array<ArrayBuffer>> => {
  if (!import.meta.url.endsWith(".ts")) {
    const packed = await readFile(new URL("pdfium.wasm.br", import.meta.url));
    return new Uint8Array(brotliDecompressSync(packed));
  }
  const path = fileURLToPath(import.meta.resolve("@embedpdf/pdfium/pdfium.wasm"));
  return new Uint8Array(await readFile(path));
};

const start = async (): Promise<Pdfium> => {
  const program = await readProgram();
  boundMemory(program);
  const pdfium = await init({ wasmBinary: program.buffer });
  pdfium.PDFiumExt_Init();
  return pdfium;
};

let started: Promise<Pdfium> | undefined;

/** Starts PDFium, once in a thread. Its memory is its own and never shrinks, so the thread ends after large files. */
export const startPdfium = (): Promise<Pdfium> => {
  started ??= start();
  return started;
};

/** The program's memory. It is another array after the memory has grown. */
export const memoryOf = ({ pdfium }: Pdfium): Uint8Array =>
  // Its types leave out what the loader adds.
  (pdfium as unknown as { HEAPU8: Uint8Array }).HEAPU8;

/** Copies bytes into the program's memory. Returns their address. */
export const copyIn = (pdfium: Pdfium, bytes: Uint8Array): number => {
  const address = pdfium.pdfium.wasmExports.malloc(bytes.byteLength);
  if (address === 0) throw new RangeError("no memory is left");
  memoryOf(pdfium).set(bytes, address);
  return address;
};

/** Runs with some memory of the program, and frees it. */
export const withMemory = <T>(
  { pdfium }: Pdfium,
  bytes: number,
  use: (address: number) => T,
): T => {
  const address = pdfium.wasmExports.malloc(bytes);
  if (address === 0) throw new RangeError("no memory is left");
  try {
    return use(address);
  } finally {
    pdfium.wasmExports.free(address);
  }
};

/** Reads UTF-16 text that the program wrote; `units` does not count its final zero. */
export const readUtf16 = (pdfium: Pdfium, address: number, units: number): string =>
  Buffer.from(memoryOf(pdfium).subarray(address, address + units * 2)).toString("utf16le");

/** Reads a 32-bit integer that the program wrote. */
export const readInteger = (pdfium: Pdfium, address: number): number =>
  new DataView(memoryOf(pdfium).buffer).getUint32(address, true);

/** Reads a 32-bit float that the program wrote. */
export const readFloat = (pdfium: Pdfium, address: number): number =>
  new DataView(memoryOf(pdfium).buffer).getFloat32(address, true);
