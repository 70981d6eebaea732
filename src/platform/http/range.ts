import { Problem } from "../../contract/errors.ts";
import type { Span } from "../files/port.ts";

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Returns the bytes that a request asks for with Range (RFC 9110); undefined for the whole file, also for several ranges
 * and for a range of another version of it.
 *
 * @throws {Problem} range_not_satisfiable
 */
export const parseRange = (
  { method, headers }: Pick<Request, "method" | "headers">,
  size: number,
  etag: string,
): Span | undefined => {
  const [, first = "", last = ""] = RANGE.exec(headers.get("range") ?? "") ?? [];
  const isReversed = first !== "" && last !== "" && Number(last) < Number(first);
  const isOther = (headers.get("if-range") ?? etag) !== etag;
  if (method !== "GET" || first + last === "" || isReversed || isOther) return undefined;
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (from < to) return { from, to };
  const details = { headers: { "Content-Range": `bytes */${size}` } };
  throw new Problem("range_not_satisfiable", `The file has ${size} bytes.`, details);
};
