import { promisify } from "node:util";

export type Weighted = { name: string; weight: number };

/** Parses one member of a list with weights (RFC 9110, section 12.4.2). */
export const parseWeighted = (text: string): Weighted => {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((part) => part.startsWith("q="))?.slice(2);
  return { name, weight: weight === undefined ? 1 : Number(weight) };
};

const CODINGS = ["br", "gzip"] as const;
type Coding = (typeof CODINGS)[number];

/** Higher qualities take seconds for a few percent. */
const BROTLI_QUALITY = 9;

// Loaded on demand: most processes compress nothing.
const compress = async (coding: Coding, text: string): Promise<Uint8Array<ArrayBuffer>> => {
  const { brotliCompress, constants, gzip } = await import("node:zlib");
  return coding === "gzip"
    ? promisify(gzip)(text)
    : promisify(brotliCompress)(text, {
        params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
      });
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
  text: string;
  /** Returns the body of the answer to a request, in the coding that it prefers, and the headers that describe it. */
  read(request: Pick<Request, "headers">): Promise<{
    body: Uint8Array<ArrayBuffer> | string;
    coding: Coding | undefined;
    headers: Record<string, string>;
  }>;
};

/** Creates an asset of a media type. Compression runs beside the event loop. */
export const createAsset = (type: string, text: string): Asset => {
  const bodies = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>();
  const described = { "Content-Type": `${type}; charset=utf-8`, Vary: "Accept-Encoding" };
  return {
    text,
    async read(request) {
      const coding = chooseCoding(request.headers.get("accept-encoding"));
      if (coding === undefined) return { body: text, coding, headers: described };
      const body = bodies.get(coding) ?? compress(coding, text);
      bodies.set(coding, body);
      return { body: await body, coding, headers: { ...described, "Content-Encoding": coding } };
    },
  };
};
