import type { AttemptRow, Inspector, RunRow, SlotRow } from "./inspector.ts";
import type { TrackedSchedule, TrackedWebhook } from "./kinds/exports.ts";
import type { Received } from "./outside.ts";
import type { Block, Population } from "./population.ts";
import type { Body } from "./records.ts";

/** A run as it was seen between two steps. */
type Seen = {
  row: RunRow;
  /** The beginning of the step in which it was booked. */
  bookedFrom: number;
  /** Between these times it ended. */
  endedFrom: number;
  endedBy: number;
};

const ENDED = new Set(["completed", "failed"]);

const firstIdOf = ({ from }: Block): string => `payment-${from}`;

/**
 * Checks rows of payments: whole additions only, none twice; those that were committed before the read began are all
 * there, and none that was asked for after its end is.
 */
export const checkRows = (
  ids: readonly string[],
  blocks: readonly Block[],
  { from, to }: { from: number; to: number },
): void => {
  const byFirst = new Map(blocks.map((block) => [firstIdOf(block), block]));
  const found = new Set<Block>();
  for (let at = 0; at < ids.length;) {
    const block = byFirst.get(ids[at] ?? "");
    if (block === undefined || found.has(block)) throw new Error(`row ${at} is ${ids[at]}`);
    const rows = ids.slice(at, at + block.count);
    if (rows.at(-1) !== `payment-${block.from + block.count - 1}`) {
      throw new Error(`only a part of the rows from ${ids[at]} on is there`);
    }
    if (block.askedAt > to) throw new Error(`${ids[at]} was added later`);
    found.add(block);
    at += block.count;
  }
  const missing = blocks.find(
    ({ doneAt = Infinity }, index) => doneAt < from && !found.has(blocks[index] as Block),
  );
  if (missing !== undefined) throw new Error(`${firstIdOf(missing)} is missing`);
};

/** Follows export runs, their snapshots and the deliveries about them. */
export const createExportCheck = (inspector: Inspector) => {
  const seen = new Map<string, Seen>();
  const rowsOf = new Map<string, string>();

  return {
    /** Looks at the runs after a step; `from` and `to` are its beginning and its end. */
    observe(from: number, to: number): void {
      const slots = new Set<string>();
      for (const row of inspector.runs()) {
        const slot = `${row.schedule_id} ${row.slot_at}`;
        if (slots.has(slot)) throw new Error(`the slot ${slot} has two runs`);
        slots.add(slot);
        const known = seen.get(row.id);
        const hasEnded = known !== undefined && known.endedBy < Infinity;
        if (hasEnded && known.row.status !== row.status) {
          throw new Error(`run ${row.id} was ${known.row.status} and is ${row.status}`);
        }
        if (hasEnded) continue;
        const ends = ENDED.has(row.status) || row.status === "canceled";
        const ended = ends
          ? { endedFrom: from, endedBy: to }
          : { endedFrom: Infinity, endedBy: Infinity };
        seen.set(row.id, { row, bookedFrom: known?.bookedFrom ?? from, ...ended });
      }
    },
    /** Checks the rows of a run, as an answer gives them. */
    checkAnswer({ blocks }: Population, body: Body, now: number): void {
      const ids = (body.data as { id: string }[]).map(({ id }) => id);
      const { runId } = body;
      const { rowCount } = body.pagination;
      if (ids.length !== rowCount)
        throw new Error(`run ${runId} has ${ids.length} of ${rowCount} rows`);
      const text = ids.join();
      if ((rowsOf.get(runId) ?? text) !== text)
        throw new Error(`run ${runId} has other rows than before`);
      rowsOf.set(runId, text);
      const run = seen.get(runId);
      checkRows(ids, blocks, { from: run?.bookedFrom ?? 0, to: run?.endedBy ?? now });
    },
    completed: (): RunRow[] =>
      [...seen.values()].map(({ row }) => row).filter(({ status }) => status === "completed"),
    /** Checks that each slot is one of its schedule, and that no slot is left out before the next one. */
    checkSlots(populations: readonly Population[]): void {
      const schedules = populations.flatMap((population) => population.schedules);
      const byName = new Map(schedules.map(({ name, slots }) => [name, slots]));
      for (const row of inspector.slots()) checkSlot(row, byName.get(row.name));
    },
    /** Checks at the end that every run ended, and that its webhooks were told of it. */
    checkEnd(populations: readonly Population[]): void {
      const runs = [...seen.values()];
      const unfinished = runs.find(({ endedBy }) => endedBy === Infinity);
      if (unfinished !== undefined) {
        throw new Error(`run ${unfinished.row.id} is ${unfinished.row.status} at the end`);
      }
      const attempts = Map.groupBy(inspector.attempts(), ({ delivery_id }) => delivery_id);
      for (const of of attempts.values()) checkAttempts(of);
      const deliveries = [...attempts.values()].flatMap(([first]) => first ?? []);
      for (const { webhooks, tenantId } of populations) {
        const told = runs.filter(({ row }) => row.tenant_id === tenantId && ENDED.has(row.status));
        for (const webhook of webhooks) checkTold(webhook, told, deliveries);
      }
    },
  };
};

const checkSlot = ({ name, at, changed_at }: SlotRow, slots: TrackedSchedule["slots"]): void => {
  if (slots === undefined) throw new Error(`no request has made the schedule ${name}`);
  const { firstAt, everyMs } = slots;
  if (at < firstAt || (at - firstAt) % everyMs !== 0) {
    throw new Error(`${name} has no slot at ${at}: they begin at ${firstAt}, every ${everyMs} ms`);
  }
  // The last change planned the slot, except the first.
  if (changed_at === null || at === firstAt) return;
  if (at <= changed_at || at > changed_at + everyMs) {
    throw new Error(`at ${changed_at}, ${name} has planned ${at}, which is not the next slot`);
  }
};

const MOST_ATTEMPTS = 5;

const checkAttempts = (attempts: readonly AttemptRow[]): void => {
  const words = attempts.map(({ attempt, status }) => `${attempt} ${status}`).join(", ");
  const last = attempts.at(-1);
  const isInOrder = attempts.every(
    ({ attempt, status }, index) =>
      attempt === index + 1 && (index === attempts.length - 1 || status === "failed"),
  );
  const isEnded =
    last?.status === "delivered" ||
    (last?.status === "abandoned" && attempts.length === MOST_ATTEMPTS);
  if (isInOrder && isEnded && attempts.length <= MOST_ATTEMPTS) return;
  throw new Error(`delivery ${last?.delivery_id} has the attempts ${words}`);
};

/** Compares the deliveries to a webhook with the runs that ended while it lived. */
const checkTold = (
  { id, schedule, askedAt, madeBy, removals, states, name }: TrackedWebhook,
  runs: readonly Seen[],
  deliveries: readonly AttemptRow[],
): void => {
  if (id === undefined) return;
  const matching = runs.filter(
    ({ row }) => schedule === undefined || row.schedule_id === schedule.id,
  );
  // A request to delete it that was lost may not have been carried out.
  const removedFrom = Math.min(...removals, Infinity);
  const removedTo = states.some(({ phase }) => phase === "live") ? Infinity : Math.max(...removals);
  const must = matching.filter(
    (run) => madeBy <= run.endedFrom && run.endedBy <= removedFrom,
  ).length;
  const may = matching.filter((run) => askedAt <= run.endedBy && run.endedFrom <= removedTo).length;
  const count = deliveries.filter(({ webhook_id }) => webhook_id === id).length;
  if (count < must || count > may) {
    throw new Error(`${name} was told of ${count} runs; ${must} to ${may} ended while it lived`);
  }
};

/** Checks what receivers got: signed, to a public address, about one run, and not too often. */
export const checkReceived = (
  received: readonly Received[],
  webhooks: readonly TrackedWebhook[],
  isSigned: (message: Received, secret: string) => boolean,
): void => {
  for (const message of received) {
    const webhook = webhooks.find(({ name }) => message.path === `/${name}`);
    const about = `attempt ${message.attempt} of ${message.deliveryId}`;
    if (webhook === undefined) throw new Error(`${about} went to ${message.path}`);
    if (webhook.secret !== undefined && !isSigned(message, webhook.secret)) {
      throw new Error(`${about} has a wrong signature`);
    }
    if (message.address.startsWith("10.")) throw new Error(`${about} went to a private address`);
    if (message.attempt > MOST_ATTEMPTS) throw new Error(`${about} is one too many`);
  }
};

/** Checks that each recorded attempt has the status that its receiver answered, and is delivered by a success only. */
export const checkAnswers = (
  attempts: readonly AttemptRow[],
  received: readonly Received[],
): void => {
  for (const { delivery_id, attempt, status, http_status } of attempts) {
    const about = `attempt ${attempt} of ${delivery_id}`;
    const isSuccess = http_status !== null && http_status >= 200 && http_status < 300;
    if ((status === "delivered") !== isSuccess) {
      throw new Error(`${about} is ${status} after the answer ${http_status}`);
    }
    const answers = received
      .filter((message) => message.deliveryId === delivery_id && message.attempt === attempt)
      .map(({ answer }) => answer);
    if (http_status !== null && !answers.includes(http_status)) {
      throw new Error(
        `${about} has the answer ${http_status}; its receiver gave ${answers.join()}`,
      );
    }
  }
};
