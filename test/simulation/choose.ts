import { askAccount, askAccountNote } from "./kinds/accounts.ts";
import { askCategory } from "./kinds/configuration.ts";
import { askDispute, createDispute } from "./kinds/disputes.ts";
import { askDocument } from "./kinds/documents.ts";
import {
  createSchedule,
  createWebhook,
  EXPORTS,
  QUERY,
  removeSchedule,
  removeWebhook,
} from "./kinds/exports.ts";
import { announceFile, readFile, removeFile, sendFile, sendPdf } from "./kinds/files.ts";
import { chooseForeign } from "./foreign.ts";
import { askLogin, checkLogin } from "./kinds/logins.ts";
import { askNote, createNote } from "./kinds/notes.ts";
import { addTo, type Population } from "./population.ts";
import type { Asked, Body, Outcome, Tracked } from "./records.ts";
import type { World } from "./world.ts";

/** A request to send, and what it is compared with. */
export type Choice = {
  asked: Asked<unknown>;
  record?: Tracked<unknown>;
  /** Looks into the answer where no record explains it; throws for what must not be. */
  check?: (outcome: Outcome) => void;
};

export type Choosing = {
  world: World;
  population: Population;
  other: Population;
  /** The wall clock. */
  now: number;
  /** The dispute that is never deleted, and the document that exists from the beginning. */
  disputeId: string;
  otherDisputeId: string;
  onFault(fault: string): void;
  checkRows(outcome: Outcome): void;
  checkPayments(outcome: Outcome): void;
};

const on = <S>(record: Tracked<S>, asked: Asked<S>): Choice => ({
  record: record,
  asked: asked,
});

const read = (path: string, check?: Choice["check"]): Choice => ({
  asked: { method: "GET", path, as: "export", effect: (after) => ({ status: 200, after }) },
  ...(check === undefined ? {} : { check }),
});

/** Reads the rows of a schedule's last completed run. */
export const readRows = (scheduleId: string, check: (outcome: Outcome) => void): Choice =>
  read(`${EXPORTS}/export-runs/${scheduleId}/data?limit=100000`, check);

type Choose = (choosing: Choosing) => Choice | undefined;

const SAME_KEY_MS = 20 * 3_600_000;

const chooseDispute: Choose = ({ world: { dice }, population, now, onFault }) => {
  const known = population.disputes.filter(({ id }) => id !== undefined);
  const keyed = population.disputes.filter(
    ({ key }) => key !== undefined && Math.abs(now - key.sentAt) < SAME_KEY_MS,
  );
  if (keyed.length > 0 && dice.chance(0.25)) {
    const again = dice.pick(keyed.slice(-3));
    return on(again, createDispute(again, again.key?.amount ?? 1, onFault));
  }
  if (known.length > 0 && dice.chance(0.6)) {
    const dispute = dice.pick(known.slice(-4));
    return on(dispute, askDispute(dice, dispute));
  }
  const key = `key ${population.disputes.length}`;
  const dispute = addTo.disputes(population, dice.pick(population.documents).name);
  const amount = dice.whole(1, 9);
  if (dice.chance(0.6)) dispute.key = { text: key, sentAt: now, amount };
  return on(dispute, createDispute(dispute, amount, onFault));
};

const chooseNote: Choose = ({ world: { dice }, population, disputeId }) => {
  const known = population.notes.filter(({ id }) => id !== undefined);
  if (known.length > 0 && dice.chance(0.6)) {
    const note = dice.pick(known.slice(-2));
    return on(note, askNote(dice, note, disputeId));
  }
  const note = addTo.notes(population);
  return on(note, createNote(note, disputeId));
};

const chooseFile: Choose = ({ world: { dice }, population, disputeId }) => {
  const known = population.files.filter(({ id }) => id !== undefined);
  const file = known.length > 0 && dice.chance(0.7) ? dice.pick(known.slice(-2)) : undefined;
  if (file !== undefined) {
    const isSent = file.states.every(({ phase }) => phase !== "announced");
    return on(
      file,
      dice.weigh([
        [sendFile(file), isSent ? 1 : 9],
        [readFile(file, disputeId), 2],
        [removeFile(file, disputeId), 1],
      ]),
    );
  }
  const announced = addTo.files(population);
  return on(announced, announceFile(announced, disputeId));
};

const choosePdf: Choose = ({ world, population }) => {
  const { tenantId } = population;
  const file = addTo.pdfs(population);
  return on(file, sendPdf(file, world.accounts[tenantId].connectionId, `${tenantId}-pdfs`));
};

const chooseIngest: Choose = ({ world: { dice }, population }) => {
  const { tenantId } = population;
  return dice.weigh<() => Choice>([
    [
      () => {
        const document = dice.pick(population.documents);
        return on(document, askDocument(dice, document.name, tenantId));
      },
      4,
    ],
    [
      () => {
        const account = dice.pick(population.accounts);
        return on(account, askAccount(dice, account.name, tenantId));
      },
      2,
    ],
    [
      () => {
        const note = dice.pick(population.references);
        return on(note, askAccountNote(dice, note.name, [`${tenantId}-1`, `${tenantId}-2`]));
      },
      1,
    ],
  ])();
};

const chooseConfiguration: Choose = ({ world: { dice }, population }) => {
  const category = dice.pick(population.categories);
  return on(category, askCategory(dice, category.name, population.tenantId));
};

const chooseLogin: Choose = ({ world: { dice }, population: { tenantId } }) => {
  const as = dice.chance(0.8) ? "guess" : "visitor";
  return { asked: askLogin(tenantId, as), check: checkLogin(as) };
};

const MOST_SCHEDULES = 4;
const MOST_WEBHOOKS = 6;

const chooseSchedule: Choose = ({ world, population, now, checkRows }) => {
  const { dice } = world;
  const known = population.schedules.filter(({ id }) => id !== undefined);
  if (known.length > 0 && dice.chance(0.7)) {
    const schedule = dice.pick(known);
    const { id = "" } = schedule;
    if (schedule.isBusy !== true && dice.chance(0.1)) {
      schedule.isBusy = true;
      return on(schedule, removeSchedule(schedule));
    }
    return dice.weigh<() => Choice>([
      [() => read(`${EXPORTS}/export-runs/${id}/status`), 1],
      [() => readRows(id, checkRows), 3],
    ])();
  }
  if (population.schedules.length >= MOST_SCHEDULES) return undefined;
  const schedule = addTo.schedules(population);
  return on(schedule, createSchedule(dice, schedule, now));
};

const chooseWebhook: Choose = ({ world, population }) => {
  const { dice, outside, scheduler } = world;
  const known = population.webhooks.filter(({ id }) => id !== undefined);
  if (known.length > 0 && dice.chance(0.5)) {
    const webhook = dice.pick(known);
    if (dice.chance(0.7)) return read(`${EXPORTS}/webhooks/${webhook.id}/deliveries`);
    webhook.removals.push(scheduler.now);
    return on(webhook, removeWebhook(webhook));
  }
  if (population.webhooks.length >= MOST_WEBHOOKS) return undefined;
  // Not one that another request may delete meanwhile.
  const live = population.schedules.filter(
    ({ id, isBusy, states }) =>
      id !== undefined && isBusy !== true && states.every(({ phase }) => phase === "live"),
  );
  const schedule = live.length > 0 && dice.chance(0.3) ? dice.pick(live) : undefined;
  if (schedule !== undefined) schedule.isBusy = true;
  const webhook = addTo.webhooks(population, {
    host: dice.pick(outside.names),
    schedule,
    askedAt: scheduler.now,
  });
  return on(webhook, createWebhook(webhook, outside.isPublic(webhook.host)));
};

const choosePayments: Choose = ({ checkPayments }) => ({
  asked: {
    method: "POST",
    path: `${EXPORTS}/payments/query`,
    as: "export",
    body: { ...QUERY, limit: 100_000 },
    effect: (after) => ({ status: 200, after }),
  },
  check: checkPayments,
});

const LISTS: [string, "gateway" | "ingest" | "export"][] = [
  ["/dispute/v1/tenants/{t}/disputes", "gateway"],
  ["/api/v1/ingest/documents", "ingest"],
  ["/api/v1/ingest/accounts", "ingest"],
  [`${EXPORTS}/schedules`, "export"],
  [`${EXPORTS}/webhooks`, "export"],
  [`${EXPORTS}/audit-logs`, "export"],
];

const chooseList: Choose = ({ world: { dice }, population: { tenantId } }) => {
  const [path, as] = dice.pick(LISTS);
  const effect = <S>(after: S) => ({ status: 200, after });
  return {
    asked: { method: "GET", path: path.replace("{t}", tenantId), as, effect },
    check(outcome) {
      if (outcome.kind !== "answered" || outcome.status !== 200) return;
      const records: Body[] = outcome.body.data ?? outcome.body;
      const foreign = records.find((record) => (record.tenantId ?? tenantId) !== tenantId);
      if (foreign !== undefined) throw new Error(`${path} of ${tenantId} has ${foreign.id}`);
    },
  };
};

/** The kinds of requests; each run has some of them more often than others. */
export const CHOICES = {
  dispute: chooseDispute,
  note: chooseNote,
  file: chooseFile,
  pdf: choosePdf,
  ingest: chooseIngest,
  schedule: chooseSchedule,
  webhook: chooseWebhook,
  payments: choosePayments,
  foreign: chooseForeign,
  list: chooseList,
  configuration: chooseConfiguration,
  login: chooseLogin,
} satisfies Record<string, Choose>;
