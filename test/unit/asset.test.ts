import { expect, it } from "vitest";
import { chooseCoding } from "../../src/kit/asset.ts";

it.each([
  ["br, gzip", "br"],
  ["gzip, br", "br"],
  ["gzip;q=1.0, br;q=0.2", "gzip"],
  ["br;q=0, *;q=0.1", "gzip"],
  ["x-gzip", "gzip"],
  ["*", "br"],
  ["identity", undefined],
  ["br;q=0, gzip;q=0.000", undefined],
  [null, undefined],
])("Accept-Encoding: %s chooses %s", (header, coding) => {
  expect(chooseCoding(header)).toBe(coding);
});
