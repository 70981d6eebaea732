import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { NewId } from "../../src/kit/ids.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { createOutside, type Outside } from "./outside.ts";
import type { Mistake } from "./mistakes.ts";
import { createRandomBytes, createRandomId } from "./randomness.ts";
import { type Life, Scheduler } from "./scheduler.ts";
import {
  BEGINNING,
  chooseKeeping,
  type Keeping,
  type Limits,
  LOW_LIMITS,
  NO_LIMITS,
} from "./settings.ts";
import { copyTemplate, type Template } from "./template.ts";

/** Everything that a run of one seed consists of, except the nodes. */
export type World = {
  seed: number;
  dice: Dice;
  scheduler: Scheduler;
  outside: Outside;
  folder: string;
  accounts: Template["accounts"];
  limits: Limits;
  keeping: Keeping;
  /** A mistake in every node. */
  mistake: Mistake | undefined;
  /** A full disk takes no files; one of the store takes no transactions either. */
  disk: { isFull: boolean; isStoreFull: boolean; keptAt: Map<string, number> };
  /** Called after each commit of a process. */
  afterCommit(life: Life): void;
  /** Milliseconds by which the wall clocks were set forward or back. */
  clockOffset: number;
  /** Milliseconds by which they were set back, in all. */
  setBackMs: number;
  newId: NewId;
  randomBytes(size: number): Buffer;
  /** The wall clock of a node. */
  timeOf(node: string): number;
  tell(line: string): void;
  trace: readonly string[];
  hash(): string;
  remove(): void;
};

/** The seed of one purpose: a further use of one sequence does not change the others. */
const seedOf = (seed: number, purpose: string): number =>
  createHash("sha256").update(`${seed} ${purpose}`).digest().readInt32BE();

export const createWorld = (
  template: Template,
  seed: number,
  parent: string,
  mistake?: Mistake,
): World => {
  const folder = mkdtempSync(join(parent, "receivables-simulation-"));
  copyTemplate(template, folder);
  const trace: string[] = [];
  const tell = (line: string): void => void trace.push(line);
  const dice = createDice(seedOf(seed, "steps"));
  const scheduler = new Scheduler(createDice(seedOf(seed, "order")), tell);
  const randomBytes = createRandomBytes(xoroshiro128plus(seedOf(seed, "bytes")));
  const outside = createOutside(createDice(seedOf(seed, "outside")), scheduler);
  // The clocks of two machines differ a little.
  const skew = dice.pick([0, 0, 40, 1500]);
  const world: World = {
    seed,
    dice,
    scheduler,
    outside,
    folder,
    accounts: template.accounts,
    limits: dice.chance(0.25) ? LOW_LIMITS : NO_LIMITS,
    keeping: chooseKeeping(createDice(seedOf(seed, "keeping"))),
    mistake,
    disk: { isFull: false, isStoreFull: false, keptAt: new Map() },
    afterCommit: () => {},
    clockOffset: 0,
    setBackMs: 0,
    newId: createRandomId(randomBytes),
    randomBytes,
    timeOf: (node) =>
      BEGINNING + scheduler.now + world.clockOffset + (node.startsWith("b") ? skew : 0),
    tell,
    trace,
    hash: () => createHash("sha256").update(trace.join("\n")).digest("hex"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  return world;
};
