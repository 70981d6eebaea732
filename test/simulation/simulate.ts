import { setApplyWhenInvoiceClosed } from "../../src/platform/admin/resolutions.ts";
import { openInspector } from "./inspector.ts";
import { startNode } from "./node.ts";
import type { Mistake } from "./mistakes.ts";
import { checkEverything } from "./final.ts";
import { send } from "./client.ts";
import type { Asked, Body } from "./records.ts";
import { Stuck, type Task } from "./scheduler.ts";
import { type TenantId, TENANTS } from "./settings.ts";
import { type Fixed, Simulation, Violation } from "./simulation.ts";
import {
  stepBursts,
  stepCrashingImports,
  stepCrashingJobs,
  stepCrashingScans,
  stepOutside,
  stepRequests,
  stepTime,
} from "./steps.ts";
import { createTemplate, type Template } from "./template.ts";
import { createWorld, type World } from "./world.ts";

const STEPS = 25;

/** The state at the beginning of every run. */
export type Beginning = { template: Template; fixed: Fixed };

type Post = [path: string, body: object, as: Asked<unknown>["as"]];

const listSetUp = (tenantId: TenantId): Post[] => {
  const gateway = `/dispute/v1/tenants/${tenantId}`;
  const ingest = "/api/v1/ingest";
  const dated = {
    account_number: `${tenantId}-1`,
    invoice_date: "2026-01-05",
    due_date: "2026-02-05",
  };
  return [
    [`${gateway}/categories`, { code: "PRICE", description: `${tenantId} prices` }, "gateway"],
    [
      `${gateway}/reasons`,
      { code: "WRONG", description: `${tenantId} reason`, categoryCode: "PRICE" },
      "gateway",
    ],
    [`${gateway}/resolutions`, { code: "CREDIT", description: `${tenantId} credit` }, "gateway"],
    [`${ingest}/accounts/${tenantId}-1`, { name: `${tenantId} one`, currency: "EUR" }, "ingest"],
    [`${ingest}/accounts/${tenantId}-2`, { name: `${tenantId} two`, currency: "EUR" }, "ingest"],
    [`${ingest}/documents/${tenantId}-pdfs`, dated, "ingest"],
    [
      `${gateway}/disputes`,
      {
        amount: 1,
        accountNumber: `${tenantId}-1`,
        documentNumber: `${tenantId}-disputed`,
        reasonCode: "WRONG",
        poNumber: `${tenantId}-fixed`,
      },
      "gateway",
    ],
  ];
};

const setUp = async (world: World): Promise<Fixed> => {
  const node = await startNode(world, "a");
  const fixed: Partial<Fixed> = {};
  for (const tenantId of TENANTS) {
    let last: Body;
    for (const [path, body, as] of listSetUp(tenantId)) {
      const effect: Asked<unknown>["effect"] = (after) => ({ status: 201, after });
      const asked = {
        method: "POST",
        path,
        as,
        body,
        effect,
        headers: { "X-Platform-Mcp-Tool": "setup" },
      };
      const { sent, task } = send(world, node, { tenantId, number: 0, asked });
      await world.scheduler.run([task]);
      if (sent.outcome.kind !== "answered" || sent.outcome.status !== 201)
        throw new Error(sent.text);
      last = sent.outcome.body;
    }
    fixed[tenantId] = { disputeId: last.disputeId };
    // Closes the disputes of a document that closes.
    const setting = { tenantId, code: "CREDIT", value: true };
    const { store, clock, life } = node;
    const task: Task = { life, isOver: false };
    void node.run(async () => {
      await setApplyWhenInvoiceClosed({ store, clock }, setting);
      task.isOver = true;
    });
    await world.scheduler.run([task]);
  }
  world.scheduler.end(node.life, "the end");
  return fixed as Fixed;
};

/** Creates the folder that every run begins with. */
export const createBeginning = async (parent: string): Promise<Beginning> => {
  const empty = await createTemplate(parent);
  const world = createWorld(empty, 0, parent);
  const fixed = await setUp(world);
  // Its log of changes is written into the file that is copied.
  openInspector(world.folder).close();
  return { template: { ...empty, folder: world.folder }, fixed };
};

export type Result = {
  seed: number;
  /** The failure of the run; undefined if there is none. */
  fault: Error | undefined;
  trace: readonly string[];
  hash: string;
};

const takeStep = async (simulation: Simulation): Promise<void> => {
  const { dice, limits } = simulation.world;
  await simulation.startNodes();
  const step = dice.weigh<() => Promise<void>>([
    [() => stepRequests(simulation), 10],
    [() => stepTime(simulation), 4],
    [() => stepOutside(simulation), 2],
    [() => stepCrashingJobs(simulation), 4],
    [() => stepCrashingScans(simulation), 2],
    [() => stepCrashingImports(simulation), 2],
    [() => stepBursts(simulation), limits.exportPerHour > 0 ? 2 : 0],
  ]);
  await step();
};

const isFault = (error: unknown): error is Error =>
  error instanceof Violation || error instanceof Stuck;

/** Runs one seed: the same seed gives the same run. */
export const simulate = async (
  { template, fixed }: Beginning,
  seed: number,
  parent: string,
  mistake?: Mistake,
): Promise<Result> => {
  const world = createWorld(template, seed, parent, mistake);
  const simulation = new Simulation(world, fixed);
  let fault: Error | undefined;
  try {
    for (let step = 1; step <= STEPS; step += 1) {
      world.tell(`step ${step}`);
      await takeStep(simulation);
    }
    world.tell("the end");
    await checkEverything(simulation);
  } catch (error) {
    if (!isFault(error)) throw error;
    fault = error;
  } finally {
    await simulation.close();
    world.remove();
  }
  return { seed, fault, trace: world.trace, hash: world.hash() };
};
