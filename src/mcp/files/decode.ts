const isAt = (bytes: Uint8Array, ...first: number[]): boolean =>
  first.every((value, index) => bytes[index] === value);

const SAMPLE = 4096;

/** The encoding of UTF-16 without a byte order mark: plain text has a zero in every second byte. */
const utf16Of = (bytes: Uint8Array): string | undefined => {
  const sample = bytes.subarray(0, SAMPLE);
  let [even, odd] = [0, 0];
  for (const [index, value] of sample.entries()) {
    if (value !== 0) continue;
    if (index % 2 === 0) even += 1;
    else odd += 1;
  }
  const half = sample.length / 2;
  if (half >= 2 && odd > half * 0.7 && even < half * 0.1) return "utf-16le";
  return half >= 2 && even > half * 0.7 && odd < half * 0.1 ? "utf-16be" : undefined;
};

const markedEncoding = (bytes: Uint8Array): string | undefined => {
  if (isAt(bytes, 0xef, 0xbb, 0xbf)) return "utf-8";
  if (isAt(bytes, 0xff, 0xfe)) return "utf-16le";
  return isAt(bytes, 0xfe, 0xff) ? "utf-16be" : undefined;
};

/** Decodes text in the encoding that it has: UTF-8, UTF-16, otherwise Windows-1252, which takes every byte. */
export const decodeText = (bytes: Uint8Array): string => {
  const known = markedEncoding(bytes) ?? utf16Of(bytes);
  if (known !== undefined) return new TextDecoder(known).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
};

/** Decodes text in an encoding that its file names; undefined for an unknown one. */
export const decodeAs = (bytes: Uint8Array, encoding: string): string | undefined => {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return undefined;
  }
};
