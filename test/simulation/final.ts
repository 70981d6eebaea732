import { existsSync } from "node:fs";
import { join } from "node:path";
import { HOUR, MINUTE } from "../../src/kit/clock.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { filesUnder, pdf } from "../support/pdf.ts";
import type { Choice } from "./choose.ts";
import { isAnonymous, nameOf, type Sent } from "./client.ts";
import { checkAnswers, checkReceived, checkRows } from "./exports.ts";
import { checkImports } from "./imports.ts";
import { readAccount } from "./kinds/accounts.ts";
import { categoriesOf } from "./kinds/configuration.ts";
import { readDispute } from "./kinds/disputes.ts";
import { readDocument } from "./kinds/documents.ts";
import { EXPORTS, QUERY, removeSchedule } from "./kinds/exports.ts";
import { readFile } from "./kinds/files.ts";
import { isLogin } from "./kinds/logins.ts";
import { readNote } from "./kinds/notes.ts";
import type { Population } from "./population.ts";
import type { Asked, Body, Tracked } from "./records.ts";
import type { Simulation } from "./simulation.ts";
import { stepBursts, stepGuesses, stepJobs } from "./steps.ts";

const MOST_ROUNDS = 60;

/** Lets time pass until no job waits. */
const finishWork = async (simulation: Simulation): Promise<void> => {
  const { world, inspector } = simulation;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    await stepJobs(simulation, [simulation.pickNode()]);
    const [next] = inspector.all<{ at: number | null }>(
      "select min(max(due_at, leased_until)) as at from jobs",
    );
    const now = Math.min(world.timeOf("a"), world.timeOf("b"));
    if (next?.at == null) return;
    await world.scheduler.pass(Math.max(1000, next.at - now + 1));
  }
  simulation.violate("work is left that does not end");
};

const choiceOf = <S>(record: Tracked<S>, asked: Asked<S>): Choice => ({
  record: record,
  asked: asked,
});

const FINISHED = { none: [], announced: ["Expired"], sent: ["Available"], gone: [] };

const ABANDONED = { ...FINISHED, sent: ["Available", "Failed"] };

/** A scan that was interrupted so many times is given up. */
const SCAN_TRIES = 3;

const readAll = (
  population: Population,
  disputeId: string,
  interrupted: Simulation["interrupted"],
): Choice[] => {
  const { documents, accounts, disputes, notes, files } = population;
  const isKnown = ({ id }: { id?: string }): boolean => id !== undefined;
  const statusesOf = ({ id = "" }: { id?: string }): typeof FINISHED =>
    (interrupted.get(id)?.size ?? 0) < SCAN_TRIES ? FINISHED : ABANDONED;
  return [
    ...documents.map((one) => choiceOf(one, readDocument(one.name))),
    ...accounts.map((one) => choiceOf(one, readAccount(one.name))),
    ...disputes.filter(isKnown).map((one) => choiceOf(one, readDispute(one))),
    ...notes.filter(isKnown).map((one) => choiceOf(one, readNote(one, disputeId))),
    ...files.filter(isKnown).map((one) => choiceOf(one, readFile(one, disputeId, statusesOf(one)))),
  ];
};

/** Sends one request after the other, without limits in between. */
const ask = async (
  simulation: Simulation,
  population: Population,
  choices: readonly Choice[],
): Promise<Sent[]> => {
  const { world } = simulation;
  const all: Sent[] = [];
  for (const choice of choices) {
    // The limits are per minute and per hour.
    const { exportPerHour } = world.limits;
    if (exportPerHour > 0) await world.scheduler.pass(HOUR / exportPerHour + MINUTE);
    const { sent, task } = simulation.send(
      simulation.pickNode(),
      population.tenantId,
      choice.asked,
    );
    await simulation.run([task]);
    simulation.judge([{ choice, sent }]);
    all.push(sent);
  }
  return all;
};

type Read = [
  simulation: Simulation,
  population: Population,
  asked: Pick<Asked<unknown>, "path" | "as"> & Partial<Asked<unknown>>,
];

/** Sends a request that must succeed. */
const read = async (
  ...[simulation, population, asked]: Read
): Promise<{ body: Body; text: string }> => {
  const effect: Asked<unknown>["effect"] = (after) => ({ status: 200, after });
  const [sent] = await ask(simulation, population, [
    { asked: { method: "GET", effect, ...asked } },
  ]);
  const { outcome, text } = sent as Sent;
  if (outcome.kind === "answered" && outcome.status < 300) return { body: outcome.body, text };
  return simulation.violate(`at the end, ${asked.path} answers ${text}`);
};

const get = async (...of: Read): Promise<Body> => (await read(...of)).body;

const readText = async (...of: Read): Promise<string> => (await read(...of)).text;

/** Compares a list with the records that may be in it: each at most once, and those that must be there exactly once. */
const checkList = <S>(
  simulation: Simulation,
  names: readonly string[],
  records: readonly Tracked<S>[],
  isThere: (state: S) => boolean,
): void => {
  const known = new Map(records.map((record) => [record.name, record]));
  const seen = new Set<string>();
  for (const name of names) {
    const record = known.get(name);
    if (record === undefined) simulation.violate(`no request has made ${name}`);
    if (seen.has(name)) simulation.violate(`${name} is there twice`);
    if (!record.states.some(isThere)) simulation.violate(`${name} is there, and should not be`);
    seen.add(name);
  }
  const lost = records.find(({ name, states }) => states.every(isThere) && !seen.has(name));
  if (lost !== undefined) simulation.violate(`${lost.name} is lost`);
};

const isLive = ({ phase }: { phase: string }): boolean => phase === "live";

/** Checks and deletes the schedules, so that the work ends. */
const removeSchedules = async (simulation: Simulation, population: Population): Promise<void> => {
  const { data } = await get(simulation, population, {
    path: `${EXPORTS}/schedules`,
    as: "export",
  });
  const names: string[] = data.map((schedule: Body) => schedule.scheduleName);
  checkList(simulation, names, population.schedules, isLive);
  for (const { id, scheduleName } of data) {
    const schedule = population.schedules.find(({ name }) => name === scheduleName);
    if (schedule === undefined) continue;
    schedule.id = id;
    schedule.states = schedule.states.filter(isLive);
    await ask(simulation, population, [choiceOf(schedule, removeSchedule(schedule))]);
  }
};

const checkLists = async (
  simulation: Simulation,
  population: Population,
  disputeId: string,
): Promise<void> => {
  const { tenantId } = population;
  const gateway = `/dispute/v1/tenants/${tenantId}/disputes`;
  const disputes: Body[] = await get(simulation, population, { path: gateway, as: "gateway" });
  const ours = disputes.filter((dispute) => dispute.disputeId !== disputeId);
  checkList(
    simulation,
    ours.map((dispute) => dispute.poNumber),
    population.disputes,
    isLive,
  );
  const codes = [
    ...disputes.map((dispute) => dispute.disputeCode as string),
    ...population.disputes
      .filter(({ id }) => !disputes.some((dispute) => dispute.disputeId === id))
      .flatMap(({ code }) => code ?? []),
  ];
  const twice = codes.find((code, index) => codes.indexOf(code) !== index);
  if (twice !== undefined) simulation.violate(`two disputes of ${tenantId} have the code ${twice}`);
  const notes = await get(simulation, population, {
    path: `${gateway}/${disputeId}/disputenotes`,
    as: "gateway",
  });
  checkList(
    simulation,
    notes.map((note: Body) => note.content.split(" ")[0]),
    population.notes,
    ({ content }) => content !== null,
  );
  const categories: Body[] = await get(simulation, population, {
    path: categoriesOf(tenantId),
    as: "gateway",
  });
  const ownCodes = categories.map((one) => one.code as string).filter((code) => code !== "PRICE");
  checkList(simulation, ownCodes, population.categories, ({ description }) => description !== null);
  const webhooks = await get(simulation, population, { path: `${EXPORTS}/webhooks`, as: "export" });
  const webhookNames = webhooks.data.map((one: Body) => new URL(one.callbackUrl).pathname.slice(1));
  checkList(simulation, webhookNames, population.webhooks, isLive);
};

/** Compares the PDFs of the tenant, and their bytes, with those that were sent. */
const checkPdfs = async (simulation: Simulation, population: Population): Promise<void> => {
  const { tenantId, pdfs } = population;
  const path = `/api/v1/ingest/documents/${tenantId}-pdfs/attachments`;
  const { attachments } = await get(simulation, population, { path, as: "ingest" });
  const bySize = new Map(pdfs.map((file) => [file.size, file]));
  const nameOfSize = (size: number): string => bySize.get(size)?.name ?? `a PDF of ${size} bytes`;
  checkList(
    simulation,
    attachments.map(({ fileSize }: Body) => nameOfSize(fileSize)),
    pdfs,
    ({ isStored }) => isStored,
  );
  for (const { id, fileSize } of attachments) {
    const name = nameOfSize(fileSize);
    const text = await readText(simulation, population, { path: `${path}/${id}`, as: "ingest" });
    if (text !== Buffer.from(pdf(name, fileSize)).toString()) {
      simulation.violate(`${name} has other bytes than were sent`);
    }
  }
};

/** Reads the rows of each completed run, and all payments. */
const checkExports = async (simulation: Simulation, population: Population): Promise<void> => {
  const { tenantId, blocks } = population;
  for (const run of simulation.exports.completed()) {
    if (run.tenant_id !== tenantId) continue;
    const path = `${EXPORTS}/export-runs/${run.schedule_id}/data?runId=${run.id}&limit=100000`;
    const body = await get(simulation, population, { path, as: "export" });
    simulation.check(() => simulation.exports.checkAnswer(population, body, simulation.now));
  }
  const path = `${EXPORTS}/payments/query`;
  const asked = { path, as: "export", method: "POST", body: { ...QUERY, limit: 100_000 } } as const;
  const body = await get(simulation, population, asked);
  const ids = body.data.map(({ id }: Body) => id);
  simulation.check(() => checkRows(ids, blocks, { from: simulation.now, to: simulation.now }));
};

/** Downloads the files of the tenant that are available. */
const checkFiles = async (
  simulation: Simulation,
  population: Population,
  disputeId: string,
): Promise<void> => {
  for (const file of population.files) {
    if (file.id === undefined || !file.states.every(({ phase }) => phase === "sent")) continue;
    const { path } = readFile(file, disputeId);
    const { downloadUrl, status } = await get(simulation, population, { path, as: "gateway" });
    if (status === "Failed") continue;
    const { pathname, search } = new URL(downloadUrl);
    const asked = { path: pathname + search, as: "visitor" } as const;
    if ((await readText(simulation, population, asked)) !== file.content)
      simulation.violate(`${file.name} has other bytes than were sent`);
  }
};

/** Checks that each request has its entry in the log of its tenant, with the status that answered it. */
const checkAudit = async (simulation: Simulation): Promise<void> => {
  const { retention, populations } = simulation;
  const byTool = Map.groupBy(retention.audits(), ({ tool }) => tool);
  for (const sent of simulation.sent) {
    const { number, as, tenantId, outcome, path, isStoreFull } = sent;
    if (isAnonymous(as) && !isLogin(sent)) continue;
    const entries = byTool.get(nameOf(number)) ?? [];
    const statuses = entries.map((entry) => entry.status_code).join(", ");
    const about = `request ${number} of ${tenantId} to ${path}`;
    if (entries.some((entry) => entry.tenant_id !== tenantId)) {
      simulation.violate(`${about} is in the log of another tenant`);
    }
    // A full store takes no entry.
    if (outcome.kind === "answered" && outcome.status === 503 && isStoreFull) continue;
    if (outcome.kind === "lost" ? entries.length > 1 : entries.length !== 1) {
      simulation.violate(`${about} has ${entries.length} entries: ${statuses}`);
    }
    if (outcome.kind === "answered" && entries[0]?.status_code !== outcome.status) {
      simulation.violate(`${about} was answered ${outcome.status}, its entry says ${statuses}`);
    }
  }
  const [node] = simulation.nodes;
  for (const { tenantId } of populations) {
    if (node === undefined) return;
    const { store } = node;
    let verdict: Awaited<ReturnType<typeof verifyAudit>> | undefined;
    const verify = async (): Promise<void> => {
      verdict = await verifyAudit({ store }, tenantId);
    };
    await simulation.run([simulation.start(node, verify)]);
    if (verdict?.ok !== true) simulation.violate(`the chain of ${tenantId}: ${verdict?.fault}`);
  }
};

/** Checks that the folder has the files of the records, and no others after the sweep. */
const checkFolder = async (simulation: Simulation): Promise<void> => {
  const { world, inspector } = simulation;
  await world.scheduler.pass(2 * HOUR);
  const [node] = simulation.nodes;
  if (node === undefined) return;
  await simulation.run([simulation.start(node, () => node.platform.sweep())]);
  const keys = inspector.all<{ file_key: string }>(
    `select file_key from document_attachments
     union all select file_key from dispute_attachments where file_key is not null
     union all select file_key from run_chunks`,
  );
  const folder = join(world.folder, "files");
  const known = new Set(keys.map(({ file_key }) => join(folder, file_key)));
  const missing = [...known].find((path) => !existsSync(path));
  if (missing !== undefined) simulation.violate(`the file ${missing} is lost`);
  const extra = filesUnder(folder).find((path) => !known.has(path));
  if (extra !== undefined) simulation.violate(`the file ${extra} belongs to nothing`);
  const faults = inspector.all("pragma foreign_key_check");
  const [integrity] = inspector.all<{ integrity_check: string }>("pragma integrity_check");
  if (faults.length > 0 || integrity?.integrity_check !== "ok") {
    simulation.violate("the database is damaged");
  }
};

/** Lets all work end, and checks everything that must be true then. */
export const checkEverything = async (simulation: Simulation): Promise<void> => {
  const { world, populations } = simulation;
  await simulation.startNodes();
  world.disk.isFull = false;
  world.disk.isStoreFull = false;
  // Past all leases and windows of limits, also those from before a clock was set back.
  await world.scheduler.pass(2 * HOUR + world.setBackMs);
  await stepJobs(simulation, simulation.nodes);
  simulation.check(() => simulation.exports.checkSlots(populations));
  for (const population of populations) await removeSchedules(simulation, population);
  await finishWork(simulation);
  simulation.check(() => simulation.exports.checkEnd(populations));
  const webhooks = populations.flatMap((population) => population.webhooks);
  const { received, isSigned } = world.outside;
  simulation.check(() => checkReceived(received, webhooks, isSigned));
  simulation.check(() => checkAnswers(simulation.retention.attempts(), received));
  for (const population of populations) {
    const { disputeId } = simulation.fixed[population.tenantId];
    await ask(simulation, population, readAll(population, disputeId, simulation.interrupted));
    await checkLists(simulation, population, disputeId);
    await checkPdfs(simulation, population);
    await checkExports(simulation, population);
    await checkFiles(simulation, population, disputeId);
  }
  await stepGuesses(simulation);
  if (world.limits.exportPerHour > 0) await stepBursts(simulation);
  simulation.check(() =>
    checkImports(
      simulation,
      populations.flatMap(({ imports }) => imports),
    ),
  );
  await checkAudit(simulation);
  await checkFolder(simulation);
};
