import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { type Bench, type Ledgers, openLedgers } from "./ledger.ts";
import { SIGNING } from "./signing.ts";

/** A platform on a PostgreSQL server of its own, with a tenant of each size. */
export const openPostgresLedgers = async <const Sizes extends readonly number[]>(
  sizes: Sizes,
): Promise<Bench<Ledgers<Sizes>> & { url: string }> => {
  const server = await startPostgres();
  const bench = await openLedgers(sizes, () => openPostgres(server.url, SIGNING));
  return {
    ...bench,
    url: server.url,
    async close() {
      await bench.close();
      await server.stop();
    },
  };
};
