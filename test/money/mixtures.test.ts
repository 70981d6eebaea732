import { describe, expect, it } from "vitest";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { runMixture } from "./mixture.ts";

const MINUTE = 60_000;

/** A failure names its seed; `npm run money -- --mixtures 1 --seed N` replays it on SQLite. */
const MIXTURES = { sqlite: 200, postgres: 20 };

describe("mixtures of ledgers, remittances and bank statements", () => {
  onEveryStore("money", (at) => {
    verifies("MN-33", "MN-01", "MN-02", "MN-03", "MN-04", "MN-12");
    it(
      "adds up to the truth of which the files were written",
      async () => {
        const { store, clock, dialect } = at();
        let files = 0;
        for (let seed = 1; seed <= MIXTURES[dialect]; seed += 1) {
          files += await runMixture({ store, clock }, seed);
        }
        expect(files).toBeGreaterThan(MIXTURES[dialect]);
      },
      20 * MINUTE,
    );
  });
});
