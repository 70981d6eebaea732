import { sql } from "kysely";
import { contract } from "../../src/contract/index.ts";
import type { Operation } from "../../src/contract/operation.ts";
import type { Reply } from "../../src/client/port.ts";
import { disputePacket } from "../../src/insights/dispute-packet.ts";
import type { InsightContext } from "../../src/insights/insight.ts";
import { createContext, DISPUTES } from "../insights/context.ts";
import { atMost, type Benchmark, interleaved } from "../measure.ts";
import { STORES, type Served } from "../platform/served.ts";

const { precedents } = contract.disputes;
const DISPUTE_CODE = "D-501-01";
const MOST_RUNS = 15;

const REASONS = 10;

/** Gives the disputes ten reasons in place of one: the cases of one reason are precedents. */
const divideReasons = ({ store, ledgers: [{ tenantId }] }: Served): Promise<void> =>
  store.transaction(async (tx) => {
    const reason = await tx.selectFrom("reasons").selectAll().executeTakeFirstOrThrow();
    for (let number = 0; number < REASONS; number += 1) {
      const code = { code: `R${number}`, code_folded: `r${number}` };
      const text = { description: `Reason ${number}`, description_folded: `reason ${number}` };
      await tx
        .insertInto("reasons")
        .values({ ...reason, ...code, ...text, id: `reason-${number}` })
        .execute();
    }
    await tx
      .updateTable("disputes")
      .set({ reason_id: sql`'reason-' || substr(id, length(id), 1)` })
      .execute();
  }, tenantId);

/** Answers precedents from the first reply, so that all other parts of a packet are read alone. */
const withoutPrecedents = (context: InsightContext): InsightContext => {
  let first: Promise<unknown> | undefined;
  return {
    ...context,
    call<O extends Operation>(operation: O, args: Parameters<InsightContext["call"]>[1]) {
      if (operation.id !== precedents.id) return context.call(operation, args);
      first ??= context.call(precedents, args);
      return first as Promise<Reply<O>>;
    },
  };
};

/** A packet with precedents, against the same packet without reading them. */
export const packetBenchmarks: readonly Benchmark[] = Object.entries(STORES).map(
  ([store, { open, cost, unit }]): Benchmark => ({
    name: `work-precedents-${store}`,
    about: `dispute_packet among ${DISPUTES} disputes of ${REASONS} reasons on ${store} / without its precedents`,
    unit,
    aim: 2,
    async run(options) {
      const bench = await open(DISPUTES);
      await divideReasons(bench);
      await bench.settle();
      const context = createContext(bench, { isExtended: true });
      const bare = withoutPrecedents(context);
      const args = disputePacket.input.parse({ disputeId: DISPUTE_CODE });
      const act = (own: InsightContext) => async (): Promise<void> => {
        const { notes } = await disputePacket.run(own, args);
        if (notes.some((note) => note.includes("precedents"))) throw new Error(notes.join(" "));
      };
      try {
        return await interleaved(
          { ours: () => cost(act(context)), base: () => cost(act(bare)) },
          atMost(MOST_RUNS, options, 3),
        );
      } finally {
        await bench.close();
      }
    },
  }),
);
