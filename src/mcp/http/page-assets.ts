import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { parseWeighted } from "./headers.ts";

const CODINGS = ["br", "gzip"] as const;
type Coding = (typeof CODINGS)[number];

/** Higher qualities take seconds for a few percent. */
const BROTLI_QUALITY = 9;

const compress: Record<Coding, (text: string) => Promise<Uint8Array>> = {
  br: (text) =>
    promisify(brotliCompress)(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
    }),
  gzip: (text) => promisify(gzip)(text),
};

/** Returns the coding to which an Accept-Encoding header gives the most weight (RFC 9110, section 12.5.3). */
export const chooseCoding = (header: string | null): Coding | undefined => {
  const weights = new Map(
    (header ?? "").split(",").map((part) => {
      const { name, weight } = parseWeighted(part);
      return [name === "x-gzip" ? "gzip" : name, weight] as const;
    }),
  );
  const weightOf = (coding: Coding): number => weights.get(coding) ?? weights.get("*") ?? 0;
  const [best] = CODINGS.toSorted((one, other) => weightOf(other) - weightOf(one));
  return best !== undefined && weightOf(best) > 0 ? best : undefined;
};

/** A text that is served, compressed once for each coding. */
export type Asset = {
  type: string;
  text: string;
  read(coding: Coding | undefined): Promise<Uint8Array | string>;
};

/** Creates an asset. Compression runs beside the event loop. */
export const createAsset = (type: string, text: string): Asset => {
  const bodies = new Map<Coding, Promise<Uint8Array>>();
  return {
    type,
    text,
    async read(coding) {
      if (coding === undefined) return text;
      const body = bodies.get(coding) ?? compress[coding](text);
      bodies.set(coding, body);
      return body;
    },
  };
};
