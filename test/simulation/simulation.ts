import { ATTACHMENT_JOB } from "../../src/platform/services/dispute-attachments/job.ts";
import { addPayments } from "../support/exports.ts";
import { listCascades } from "./cascades.ts";
import { type Choice, CHOICES, type Choosing, readRows } from "./choose.ts";
import { createClaimCheck } from "./claims.ts";
import { isAnonymous, nameOf, send, type Sending, type Sent } from "./client.ts";
import { chooseImport, importFile } from "./imports.ts";
import { checkRows, createExportCheck } from "./exports.ts";
import { createQuotaCheck } from "./quota.ts";
import { createRetentionCheck, type RetentionCheck } from "./retention.ts";
import { type Inspector, openInspector } from "./inspector.ts";
import type { TrackedSchedule } from "./kinds/exports.ts";
import { createLimitCheck } from "./limits.ts";
import { type Node, startNode } from "./node.ts";
import {
  type Block,
  createPopulation,
  firstPayment,
  FOREIGN,
  type Population,
} from "./population.ts";
import { type Done, explain, type Tracked } from "./records.ts";
import type { Life, Task } from "./scheduler.ts";
import { type TenantId, TENANTS } from "./settings.ts";
import type { World } from "./world.ts";

/** A platform does not do what the documents say. */
export class Violation extends Error {}

type Kind = keyof typeof CHOICES;
const KINDS = Object.keys(CHOICES) as Kind[];

export const NODES = ["a", "b"] as const;

export type Fixed = Record<TenantId, { disputeId: string }>;

/** Two nodes, their tenants and what must be true of them. */
export class Simulation {
  readonly world: World;
  readonly inspector: Inspector;
  readonly populations: Population[] = TENANTS.map(createPopulation);
  readonly sent: Sent[] = [];
  readonly exports: ReturnType<typeof createExportCheck>;
  readonly #nodes = new Map<string, Node>();
  readonly #weights: (readonly [Kind, number])[];
  readonly limits: ReturnType<typeof createLimitCheck>;
  readonly retention: RetentionCheck;
  readonly quota: ReturnType<typeof createQuotaCheck>;
  readonly fixed: Fixed;
  #starts = 0;
  #payments = 0;
  #imports = 0;
  /** The claims on scans that the end of a process has left, by the id of the file. */
  readonly interrupted = new Map<string, Set<string>>();
  /** The fault that a check has found while a step ran. */
  #fault: string | undefined;

  constructor(world: World, fixed: Fixed) {
    this.world = world;
    this.fixed = fixed;
    this.inspector = openInspector(world.folder);
    const { retention, tenantFileBytes } = world.keeping;
    this.retention = createRetentionCheck(this.inspector, retention.auditLogs);
    this.quota = createQuotaCheck(this.inspector, tenantFileBytes);
    const { attempts } = this.retention;
    this.exports = createExportCheck({ ...this.inspector, attempts });
    this.limits = createLimitCheck(world.limits);
    const checkClaims = createClaimCheck(this.inspector, world.timeOf);
    world.afterCommit = (life) => {
      this.#fault ??= checkClaims(life) ?? this.quota.afterCommit();
    };
    // Each run leaves out some kinds, so that others meet more often.
    this.#weights = KINDS.map((kind) => [kind, world.dice.pick([0, 1, 1, 2, 5])] as const);
    this.#weights.push(["list", 1], ["schedule", 1], ["webhook", 1]);
  }

  get nodes(): Node[] {
    return [...this.#nodes.values()];
  }

  get now(): number {
    return this.world.scheduler.now;
  }

  async startNodes(): Promise<void> {
    for (const name of NODES) {
      if (this.#nodes.has(name)) continue;
      this.#starts += 1;
      // One after the other, so that ids are the same each time.
      this.#nodes.set(name, await startNode(this.world, `${name}${this.#starts}`));
    }
  }

  /** A node that runs, by chance. */
  pickNode(): Node {
    return this.world.dice.pick(this.nodes);
  }

  /** Runs what was begun, then forgets nodes that have ended. */
  async run(tasks: readonly Task[]): Promise<void> {
    await this.world.scheduler.run(tasks);
    const { world } = this;
    this.check(() => this.retention.observe(Math.max(world.timeOf("a"), world.timeOf("b"))));
    if (this.#fault !== undefined) this.violate(this.#fault);
    for (const [name, node] of this.#nodes) {
      node.life.endsAt = 0;
      if (!node.life.hasEnded) continue;
      this.#nodes.delete(name);
      this.#noteInterrupted();
    }
  }

  #noteInterrupted(): void {
    for (const { id, lease } of this.inspector.claims(ATTACHMENT_JOB)) {
      this.interrupted.set(id, (this.interrupted.get(id) ?? new Set()).add(lease));
    }
  }

  /** Runs something of a node as a task. */
  start(node: Node, act: () => Promise<unknown>): Task {
    const task: Task = { life: node.life, isOver: false };
    const run = async (): Promise<void> => {
      try {
        await act();
      } catch (error) {
        if (!node.life.hasEnded) this.world.tell(`  ${node.life.name} failed: ${String(error)}`);
      }
      task.isOver = true;
    };
    void node.run(run);
    return task;
  }

  /** Runs the due jobs of a node as a task. */
  startJobs(node: Node): Task {
    const run = async (): Promise<void> => {
      this.quota.noteJobs();
      await node.platform.worker.runDue();
    };
    return this.start(node, run);
  }

  /** Removes old data as a task. */
  startPurge(node: Node): Task {
    return this.start(node, async () => {
      const now = node.clock();
      await node.platform.purge();
      if (!node.life.hasEnded) this.retention.noteRemoval({ now });
    });
  }

  send(node: Node, tenantId: TenantId, asked: Choice["asked"]): Sending {
    const sending = send(this.world, node, { tenantId, number: this.sent.length, asked });
    this.sent.push(sending.sent);
    return sending;
  }

  choose(
    population: Population,
    node: Node,
    kind: Kind = this.world.dice.weigh(this.#weights),
  ): Choice | undefined {
    const { tenantId } = population;
    const other = this.populations.find((one) => one !== population) ?? population;
    const choosing: Choosing = {
      world: this.world,
      population,
      other,
      now: node.clock(),
      disputeId: this.fixed[tenantId].disputeId,
      otherDisputeId: this.fixed[other.tenantId].disputeId,
      onFault: (fault) => this.violate(fault),
      checkRows: this.#createRowCheck(population),
      checkPayments: this.#createPaymentCheck(population),
    };
    return CHOICES[kind](choosing);
  }

  #createRowCheck(population: Population): Choosing["checkRows"] {
    return (outcome) => {
      if (outcome.kind !== "answered" || outcome.status !== 200) return;
      this.exports.checkAnswer(population, outcome.body, this.now);
    };
  }

  chooseRows(population: Population, { id = "" }: TrackedSchedule): Choice {
    return readRows(id, this.#createRowCheck(population));
  }

  #createPaymentCheck({ blocks }: Population): Choosing["checkPayments"] {
    const from = this.now;
    return (outcome) => {
      if (outcome.kind !== "answered" || outcome.status !== 200) return;
      const ids = (outcome.body.data as { id: string }[]).map(({ id }) => id);
      checkRows(ids, blocks, { from, to: this.now });
    };
  }

  /** Adds payments in one transaction, as an import does. */
  addPayments(node: Node, { tenantId, blocks }: Population): Task {
    const count = this.world.dice.pick([1, 3, 40, 700]);
    const from = firstPayment(tenantId) + this.#payments;
    this.#payments += count;
    const block: Block = { from, count, askedAt: this.now, doneAt: undefined };
    blocks.push(block);
    this.world.tell(`  ${node.life.name} adds ${count} payments of ${tenantId} from ${from}`);
    return this.start(node, async () => {
      await addPayments({ store: node.store, now: node.clock() }, tenantId, { from, count });
      if (!node.life.hasEnded) block.doneAt = this.now;
    });
  }

  /** Imports a file, which was imported before or not. */
  importFile(node: Node, { tenantId, imports }: Population): Task {
    const file = chooseImport(this.world.dice, imports, tenantId);
    this.#imports += 1;
    const number = this.#imports;
    const { newId } = this.world;
    this.world.tell(`  ${node.life.name} imports ${file.keys.length} rows of ${file.mark}`);
    file.isBusy = true;
    return this.start(node, () => importFile(node, file, { number, newId }));
  }

  violate(what: string): never {
    throw new Violation(what);
  }

  /** Turns an error of a check into a violation. */
  check(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (error instanceof Violation) throw error;
      throw new Violation(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  /** Finds out from the audit log, which is written with each change, whether a lost request was carried out. */
  resolveLost(sent: Sent): void {
    if (sent.outcome.kind !== "lost" || isAnonymous(sent.as)) return;
    const entries = this.inspector.findAudits(nameOf(sent.number));
    sent.outcome = { kind: "lost", applied: entries.some((entry) => entry.status_code < 300) };
  }

  /** Compares the answers to the requests of one step with each other, and with what was known before. */
  judge(judged: readonly { choice: Choice; sent: Sent }[]): void {
    const groups = new Map<Tracked<unknown>, Done<unknown>[]>();
    const add = (record: Tracked<unknown>, done: Done<unknown>): void =>
      void groups.set(record, [...(groups.get(record) ?? []), done]);
    for (const { choice, sent } of judged) {
      this.resolveLost(sent);
      const { outcome, text } = sent;
      this.check(() => choice.check?.(outcome));
      this.#checkForeign(sent);
      if (this.#isFailure(outcome)) this.violate(`a failure without a reason: ${text}`);
      if (outcome.kind === "answered" && outcome.status < 300) choice.asked.learn?.(outcome.body);
      if (choice.record !== undefined) add(choice.record, { asked: choice.asked, outcome, text });
    }
    for (const population of this.populations) {
      for (const [dispute, done] of listCascades(population, judged)) add(dispute, done);
    }
    for (const [record, done] of groups) {
      const states = explain(record.states, done);
      if (states.length === 0) {
        const before = JSON.stringify(record.states);
        const answers = done.map(({ asked, outcome }) => describe(asked, outcome)).join("; ");
        this.violate(`${record.name}: nothing explains ${answers} after ${before}`);
      }
      record.states = states;
      delete record.isBusy;
    }
    this.check(() => this.limits.check(judged.map(({ sent }) => sent)));
    this.check(() => this.quota.check(judged.map(({ sent }) => sent)));
  }

  /** The store and the files may be unavailable while the disk is full; an ended node does not answer at all. */
  #isFailure(outcome: Sent["outcome"]): boolean {
    if (outcome.kind === "lost") return false;
    // Whether the quota allowed it is checked for all requests of a step together.
    if (outcome.status === 507) return false;
    return outcome.status === 503 ? !this.world.disk.isFull : outcome.status >= 500;
  }

  #checkForeign({ tenantId, path, text, number }: Sent): void {
    // An error, or the audit log, repeats the name that the tenant itself has sent.
    if (FOREIGN[tenantId].test(path) || path.endsWith("/audit-logs")) return;
    const [found] = FOREIGN[tenantId].exec(text) ?? [];
    if (found === undefined) return;
    this.violate(`the answer to request ${number} of ${tenantId} has ${found}`);
  }

  end(life: Life, after: number): void {
    life.endsAt = after;
  }

  async close(): Promise<void> {
    this.world.afterCommit = () => {};
    for (const node of this.nodes) this.world.scheduler.end(node.life, "the end");
    this.inspector.close();
  }
}

const describe = ({ method, path, body }: Choice["asked"], outcome: Sent["outcome"]): string => {
  const sent = body === undefined ? "" : ` ${JSON.stringify(body)}`;
  if (outcome.kind === "lost") return `${method} ${path}${sent} lost (${outcome.applied})`;
  return `${method} ${path}${sent} ${outcome.status} ${JSON.stringify(outcome.body)}`;
};
