import { DAY, HOUR, MINUTE, SECOND } from "../../src/kit/clock.ts";
import type { Choice } from "./choose.ts";
import type { Sent } from "./client.ts";
import { EXPORTS } from "./kinds/exports.ts";
import { askLogin, checkLogin } from "./kinds/logins.ts";
import type { Node } from "./node.ts";
import type { Task } from "./scheduler.ts";
import type { Simulation } from "./simulation.ts";

const MOST_AT_ONCE = 5;
const MOST_CALLS_BEFORE_END = 60;

/** Sends several requests at the same time to both nodes, with jobs beside them, and judges the answers. */
export const stepRequests = async (simulation: Simulation): Promise<void> => {
  const { world, populations } = simulation;
  const { dice } = world;
  const from = simulation.now;
  const judged: { choice: Choice; sent: Sent }[] = [];
  const tasks: Task[] = [];
  if (dice.chance(0.15)) {
    simulation.end(simulation.pickNode().life, dice.whole(1, MOST_CALLS_BEFORE_END));
  }
  if (dice.chance(0.25)) {
    tasks.push(simulation.addPayments(simulation.pickNode(), dice.pick(populations)));
  }
  if (dice.chance(0.15)) {
    tasks.push(simulation.importFile(simulation.pickNode(), dice.pick(populations)));
  }
  if (dice.chance(0.05)) {
    const node = simulation.pickNode();
    tasks.push(simulation.start(node, () => node.platform.sweep()));
  }
  for (let left = dice.whole(1, MOST_AT_ONCE); left > 0; left -= 1) {
    const node = simulation.pickNode();
    const population = dice.pick(populations);
    const choice = simulation.choose(population, node);
    if (choice === undefined) continue;
    const { sent, task } = simulation.send(node, population.tenantId, choice.asked);
    judged.push({ choice, sent });
    tasks.push(task);
  }
  for (const node of simulation.nodes) {
    if (dice.chance(0.4)) tasks.push(simulation.startJobs(node));
  }
  await simulation.run(tasks);
  simulation.check(() => simulation.exports.observe(from, simulation.now));
  simulation.judge(judged);
  for (const { webhooks, imports } of populations) {
    for (const file of imports) file.isBusy = false;
    for (const webhook of webhooks) {
      if (webhook.id !== undefined) webhook.madeBy = Math.min(webhook.madeBy, simulation.now);
    }
  }
};

/** Runs due jobs on a node, or on both at once, one of which may end, while the rows of the runs are read. */
export const stepCrashingJobs = async (simulation: Simulation): Promise<void> => {
  const { world, populations } = simulation;
  const { dice } = world;
  const node = simulation.pickNode();
  // Most slots follow each other after five minutes.
  if (dice.chance(0.6)) await world.scheduler.pass(6 * MINUTE);
  if (dice.chance(0.5)) simulation.end(node.life, dice.whole(1, MOST_CALLS_BEFORE_END));
  const reads = populations.flatMap((population) =>
    population.schedules
      .filter(({ id }) => id !== undefined && dice.chance(0.5))
      .map((schedule) => {
        const choice = simulation.chooseRows(population, schedule);
        const sending = simulation.send(simulation.pickNode(), population.tenantId, choice.asked);
        return { choice, ...sending };
      }),
  );
  await stepJobs(
    simulation,
    dice.chance(0.6) ? simulation.nodes : [node],
    reads.map(({ task }) => task),
  );
  simulation.judge(reads);
};

/** Runs the due jobs of nodes; checks that each due slot has its run then. */
export const stepJobs = async (
  simulation: Simulation,
  nodes: readonly Node[],
  beside: readonly Task[] = [],
): Promise<void> => {
  const { inspector } = simulation;
  const from = simulation.now;
  const earliest = Math.min(...nodes.map((node) => node.clock()));
  const isUnfinished = new Set(
    inspector
      .runs()
      .filter(({ status }) => status === "pending" || status === "running")
      .map(({ schedule_id }) => schedule_id),
  );
  const due = inspector.dueSchedules(earliest).filter(({ id }) => !isUnfinished.has(id));
  const leased = new Set(
    inspector
      .all<{ id: string }>("select id from jobs where leased_until > ?", earliest)
      .map(({ id }) => id),
  );
  const tasks = nodes.map((node) => simulation.startJobs(node));
  await simulation.run([...tasks, ...beside]);
  simulation.check(() => simulation.exports.observe(from, simulation.now));
  if (!tasks.every(({ isOver }) => isOver) || simulation.world.disk.isStoreFull) return;
  const slots = new Set(inspector.runs().map((run) => `${run.schedule_id} ${run.slot_at}`));
  const stillDue = new Set(inspector.dueSchedules(earliest).map(({ id }) => id));
  for (const { id, next_run_at: slot } of due) {
    if (leased.has(id)) continue;
    if (slots.has(`${id} ${slot}`) && !stillDue.has(id)) continue;
    simulation.violate(`the slot ${slot} of schedule ${id} has no run, or no slot follows it`);
  }
};

/** More than the lease of a scan. */
const AFTER_LEASE_MS = 2 * MINUTE;
/** More than a scan takes. */
const MOST_CALLS_OF_A_SCAN = 16;

/** Sends two requests about files of a tenant, mostly an upload, and ends nodes while they scan. */
export const stepCrashingScans = async (simulation: Simulation): Promise<void> => {
  const { world, populations } = simulation;
  const { dice, scheduler } = world;
  const population = dice.pick(populations);
  for (let left = 2; left > 0; left -= 1) {
    const node = simulation.pickNode();
    const choice = simulation.choose(population, node, "file");
    if (choice === undefined) continue;
    const { sent, task } = simulation.send(node, population.tenantId, choice.asked);
    await simulation.run([task]);
    simulation.judge([{ choice, sent }]);
  }
  for (let left = dice.whole(1, 4); left > 0; left -= 1) {
    await simulation.startNodes();
    const node = simulation.pickNode();
    simulation.end(node.life, dice.whole(1, MOST_CALLS_OF_A_SCAN));
    await stepJobs(simulation, [node]);
    await scheduler.pass(AFTER_LEASE_MS);
  }
  await simulation.startNodes();
};

const IMPORTS_AT_MOST = 4;
/** More than the import of a small file takes. */
const MOST_CALLS_OF_AN_IMPORT = 24;
/** A payment is also compared with documents and other payments, and written late. */
const CALLS_OF_PAYMENTS = 3;

/** Imports files of a tenant one after the other, while nodes end. */
export const stepCrashingImports = async (simulation: Simulation): Promise<void> => {
  const { dice } = simulation.world;
  const population = dice.pick(simulation.populations);
  for (let left = dice.whole(2, IMPORTS_AT_MOST); left > 0; left -= 1) {
    await simulation.startNodes();
    const node = simulation.pickNode();
    const calls = dice.chance(0.6) ? dice.whole(1, MOST_CALLS_OF_AN_IMPORT) : undefined;
    const task = simulation.importFile(node, population);
    const isMoney = population.imports.some(({ isBusy, kind }) => isBusy && kind === "payments");
    if (calls !== undefined) {
      simulation.end(node.life, isMoney ? calls * CALLS_OF_PAYMENTS : calls);
    }
    await simulation.run([task]);
    for (const file of population.imports) file.isBusy = false;
  }
  await simulation.startNodes();
};

/** More than the account admits within a quarter of an hour. */
const GUESSES_AT_ONCE = 12;

/** Guesses at the password of one account, sent at the same time to both nodes. */
export const stepGuesses = async (simulation: Simulation): Promise<void> => {
  const { tenantId } = simulation.world.dice.pick(simulation.populations);
  const choice: Choice = { asked: askLogin(tenantId, "guess"), check: checkLogin("guess") };
  const sending = Array.from({ length: GUESSES_AT_ONCE }, () =>
    simulation.send(simulation.pickNode(), tenantId, choice.asked),
  );
  await simulation.run(sending.map(({ task }) => task));
  simulation.judge(sending.map(({ sent }) => ({ choice, sent })));
};

/** More than the window of any limit admits. */
const REQUESTS_AT_ONCE = 9;

/** Bursts of requests to each service, two within an hour, sent at the same time to both nodes. */
export const stepBursts = async (simulation: Simulation): Promise<void> => {
  const { world } = simulation;
  const { tenantId } = world.dice.pick(simulation.populations);
  const paths = [
    ["gateway", `/dispute/v1/tenants/${tenantId}/disputes/${simulation.fixed[tenantId].disputeId}`],
    ["export", `${EXPORTS}/schedules`],
    ["ingest", `/api/v1/ingest/accounts/${tenantId}-1`],
  ] as const;
  // No window is open then.
  await world.scheduler.pass(HOUR + MINUTE);
  for (const waitMs of [2 * MINUTE, 0]) {
    const sending = paths.flatMap(([as, path]) =>
      Array.from({ length: REQUESTS_AT_ONCE }, () => {
        const effect = <S>(after: S) => ({ status: 200, after });
        const choice: Choice = { asked: { method: "GET", path, as, effect } };
        return { choice, ...simulation.send(simulation.pickNode(), tenantId, choice.asked) };
      }),
    );
    await simulation.run(sending.map(({ task }) => task));
    simulation.judge(sending);
    await world.scheduler.pass(waitMs);
  }
};

const LEAPS = [SECOND, 30 * SECOND, 61 * SECOND, 5 * MINUTE, 16 * MINUTE, HOUR, 25 * HOUR];

/** Lets time pass, sets the clocks forward or back, or moves close to the turn of a day, which is one of a month too. */
export const stepTime = async ({ world, limits }: Simulation): Promise<void> => {
  const { dice, scheduler } = world;
  if (dice.chance(0.1)) {
    const jump = dice.pick([-2 * HOUR, -5 * MINUTE, -3 * SECOND, 3 * SECOND, HOUR]);
    world.clockOffset += jump;
    if (jump < 0) {
      world.setBackMs -= jump;
      limits.forget();
    }
    world.tell(`clocks are set by ${jump} ms`);
    return;
  }
  const now = world.timeOf("a");
  const leap = dice.chance(0.1) ? DAY - (now % DAY) - SECOND : dice.pick(LEAPS);
  world.tell(`${leap} ms pass`);
  await scheduler.pass(leap);
};

/** The acts of operators and of the rest of the world. */
export const stepOutside = async (simulation: Simulation): Promise<void> => {
  const { world } = simulation;
  const { dice } = world;
  const node = simulation.pickNode();
  const act = dice.weigh<() => Task[]>([
    [
      () => {
        world.tell(world.outside.change());
        return [];
      },
      4,
    ],
    [
      () => {
        const { disk } = world;
        disk.isFull = !disk.isFull && dice.chance(0.5);
        disk.isStoreFull = disk.isFull && dice.chance(0.3);
        world.tell(
          `the disk is ${disk.isFull ? "full" : "not full"}, for files${disk.isStoreFull ? " and store" : ""}`,
        );
        return [];
      },
      2,
    ],
    [() => [simulation.start(node, () => node.platform.sweep())], 1],
    [() => [simulation.startPurge(node)], 1],
    [() => [simulation.start(node, () => node.platform.purgeCounters())], 1],
    [() => [simulation.startJobs(node), simulation.start(node, () => node.close())], 1],
  ]);
  const from = simulation.now;
  await simulation.run(act());
  simulation.check(() => simulation.exports.observe(from, simulation.now));
};
