import type { RandomGenerator } from "pure-rand/types/RandomGenerator";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import type { NewId } from "../../src/kit/ids.ts";

type RandomBytes = (size: number) => Buffer;

export const createRandomBytes =
  (source: RandomGenerator): RandomBytes =>
  (size) =>
    Buffer.from(Array.from({ length: size }, () => uniformInt(source, 0, 255)));

/** UUIDs whose order is not the order of their making, as in reality. */
export const createRandomId =
  (randomBytes: RandomBytes): NewId =>
  () => {
    const hex = randomBytes(16).toString("hex");
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join("-");
  };
