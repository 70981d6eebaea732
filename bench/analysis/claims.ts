import { contract } from "../../src/contract/index.ts";
import { matchClaims } from "../../src/insights/match-claims.ts";
import { createContext } from "../insights/context.ts";
import { atMost, type Benchmark, interleaved } from "../measure.ts";
import { fillAccounts, fillDocuments } from "../platform/listed-rows.ts";
import { STORES } from "../platform/served.ts";

const DOCUMENTS = Number(process.env["BENCH_DOCUMENTS"] ?? 1_000_000);
const DOCUMENTS_PER_ACCOUNT = 10;
const LINES = 50;
const MOST_RUNS = 15;

/** The numbers of so many documents of different accounts, from all over the tenant. */
const chooseNumbers = (): string[] =>
  Array.from({ length: LINES }, (_, line) => {
    const number = Math.floor((DOCUMENTS / LINES) * line) + line;
    return String(number % DOCUMENTS).padStart(7, "0");
  });

/** Matching a claim sheet, against reading each of its documents by its number. */
export const claimBenchmarks: readonly Benchmark[] = Object.entries(STORES).map(
  ([store, { open, cost, unit }]): Benchmark => ({
    name: `work-claims-${store}`,
    about: `match_claims of ${LINES} lines among ${DOCUMENTS} documents on ${store} / reading ${LINES} documents by number`,
    unit,
    aim: 3,
    async run(options) {
      const bench = await open();
      const { tenantId } = bench.ledgers[0];
      await fillDocuments(bench.store, tenantId, DOCUMENTS);
      await fillAccounts(bench.store, tenantId, DOCUMENTS / DOCUMENTS_PER_ACCOUNT);
      await bench.settle();
      const context = createContext(bench, { isExtended: true });
      const numbers = chooseNumbers();
      // As customers write them: other case, spaces in place of dashes.
      const lines = numbers.map((number) => ({ reference: `DOCUMENT ${number}`, amount: 1.5 }));
      const ours = async (): Promise<void> => {
        const { items } = await matchClaims.run(context, matchClaims.input.parse({ lines }));
        if (items.some(({ document }) => document === undefined)) throw new Error("not found");
      };
      const reads = async (): Promise<void> => {
        for (const number of numbers) {
          await context.call(contract.documents.get, { document_number: `document-${number}` });
        }
      };
      try {
        return await interleaved(
          { ours: () => cost(ours), base: () => cost(reads) },
          atMost(MOST_RUNS, options, 3),
        );
      } finally {
        await bench.close();
      }
    },
  }),
);
