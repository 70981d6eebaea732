import { describe, expect, it } from "vitest";
import { fourfoldGrowth, MAX_FOURFOLD_GROWTH } from "./growth.ts";

/** Text that is repeated, what precedes it, and what follows it. */
export type Payload = string | readonly [before: string, repeated: string, after?: string];
export type Scan = (text: string) => unknown;

/** What is read, how, and the texts that it reads. */
export type Scanner = readonly [name: string, scan: Scan, payloads: readonly Payload[]];

/** Scans, and accepts a refusal, which most of the texts deserve. */
const scanOrRefuse = async (scan: Scan, text: string): Promise<void> => {
  try {
    await scan(text);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
  }
};

const textOf = (payload: Payload, size: number): string => {
  const [before, repeated, after = ""] = typeof payload === "string" ? ["", payload] : payload;
  return before + repeated.repeat(Math.ceil(size / repeated.length)) + after;
};

/** Describes scanners: each takes linear time for each of its texts. */
export const describeScanners = (scanners: readonly Scanner[]): void => {
  describe.each(scanners)("the scanner of %s", (_name, scan, payloads) => {
    it.each(payloads.map((payload) => [JSON.stringify(payload), payload] as const))(
      "takes linear time for repeated %s",
      async (_shown, payload) => {
        const texts = new Map<number, string>();
        const growth = await fourfoldGrowth(async (size) => {
          const text = texts.get(size) ?? textOf(payload, size);
          texts.set(size, text);
          await scanOrRefuse(scan, text);
        });
        expect(growth).toBeLessThan(MAX_FOURFOLD_GROWTH);
      },
      60_000,
    );
  });
};
