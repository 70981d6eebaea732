import type { Source } from "../../src/contract/payments/catalogue.ts";
import type { Clock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { undoImport } from "../../src/platform/admin/imports.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import type { ImportReport } from "../../src/platform/import/import-file.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { importText } from "../support/importing.ts";
import { checkReport, expectEqual } from "./check-report.ts";
import { checkEnd, checkState, type State } from "./check-state.ts";
import { type MoneyFile, writeFiles } from "./files.ts";
import { readPayments } from "./read-payments.ts";
import { makeTruth, type Truth } from "./truth.ts";

export type World = { store: Store; clock: Clock & { advance(ms: number): void } };

/** `dry`: a dry run before the import; `undone`: the import is taken back, and repeated. */
type Step = { file: MoneyFile; as: "whole" | "dry" | "again" | "undone" | { cut: number } };

const SECOND = 1000;

/** Chooses an order of the files, with repetitions and cut files in between. */
const mix = (files: readonly MoneyFile[], dice: Dice): Step[] => {
  const left = [...files];
  const done: MoneyFile[] = [];
  const steps: Step[] = [];
  while (left.length > 0) {
    const [file] = left.splice(dice.whole(0, left.length - 1), 1);
    if (file === undefined) break;
    if (file.cuts !== undefined && dice.chance(0.3))
      steps.push({ file, as: { cut: dice.whole(...file.cuts) } });
    steps.push({ file, as: dice.chance(0.15) ? "dry" : "whole" });
    done.push(file);
    if (dice.chance(0.3)) steps.push({ file: dice.pick(done), as: "again" });
    if (dice.chance(0.1)) steps.push({ file: dice.pick(done), as: "undone" });
  }
  return [
    ...steps,
    ...done.filter(() => dice.chance(0.2)).map((file) => ({ file, as: "again" }) as const),
  ];
};

const describeStep = ({ file, as }: Step): string =>
  typeof as === "string" ? `${file.name} (${as})` : `${file.name} (cut at ${as.cut})`;

/** A tenant of its own, whose customers are known. */
class Mixture {
  readonly #world: World;
  readonly #tenantId: string;
  readonly #truth: Truth;
  /** The ids of the imports of files by their names. */
  readonly #imports = new Map<string, string>();

  constructor(world: World, tenantId: string, truth: Truth) {
    this.#world = world;
    this.#tenantId = tenantId;
    this.#truth = truth;
  }

  async begin(): Promise<void> {
    const needs = { ...this.#world, newId: randomId };
    await createTenant(needs, { tenantId: this.#tenantId, name: "Money", currency: "EUR" });
    const lines = this.#truth.customers.map(({ number, name }) => `${number},${name},EUR`);
    const text = `account_number,name,currency\n${lines.join("\n")}\n`;
    await this.#import({ name: "accounts.csv", kind: "accounts", bytes: Buffer.from(text) });
  }

  async #import(
    { name, kind, bytes, map, source }: Omit<MoneyFile, "sums" | "leftOut" | "detailed">,
    dryRun = false,
  ) {
    this.#world.clock.advance(SECOND);
    const done = await importText(this.#world, this.#tenantId, kind, bytes, {
      file: name,
      dryRun,
      ...(map === undefined ? {} : { map }),
      ...(source === undefined ? {} : { source }),
    });
    if (!dryRun && done.report.written > 0) this.#imports.set(name, done.report.importId);
    return done;
  }

  readonly #read = async (): Promise<State> => {
    const { store } = this.#world;
    const read = (source: Source) => readPayments(store, this.#tenantId, source);
    return {
      cashapp: await read("cashapp"),
      iandp: await read("iandp"),
      bpn: await read("bpn"),
    };
  };

  async #dry(file: MoneyFile): Promise<void> {
    const before = JSON.stringify(await this.#read());
    const dry = await this.#import(file, true);
    checkReport(file, dry.report, dry.rejects, false);
    if (before !== JSON.stringify(await this.#read()))
      throw new Error("The dry run changed payments.");
    const { report } = await this.#import(file);
    const show = ({ importId: _id, ...one }: ImportReport) => one;
    expectEqual("Report of the dry run", show(dry.report), show(report));
  }

  async #undo(file: MoneyFile): Promise<void> {
    const { store, clock } = this.#world;
    clock.advance(SECOND);
    const importId = this.#imports.get(file.name);
    if (importId === undefined) return;
    this.#imports.delete(file.name);
    await undoImport({ store, clock, record: async () => {} }, importId);
    checkState(this.#truth, (await this.#read()).cashapp);
  }

  async #cut(file: MoneyFile, place: number): Promise<void> {
    const before = JSON.stringify(await this.#read());
    const cut = { ...file, bytes: file.bytes.subarray(0, place) };
    const answer = await this.#import(cut).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (answer === undefined) throw new Error("The cut file was not refused.");
    const after = JSON.stringify(await this.#read());
    if (before !== after) throw new Error("The cut file changed payments.");
  }

  async step({ file, as }: Step): Promise<void> {
    if (typeof as !== "string") return this.#cut(file, as.cut);
    if (as === "dry") await this.#dry(file);
    if (as === "undone") await this.#undo(file);
    const before = as === "again" ? JSON.stringify(await this.#read()) : undefined;
    const { report, rejects } = await this.#import(file);
    checkReport(file, report, rejects, as === "again");
    const after = await this.#read();
    if (before !== undefined && before !== JSON.stringify(after))
      throw new Error("The repeated file changed payments.");
    checkState(this.#truth, after.cashapp);
  }

  async end(files: readonly MoneyFile[]): Promise<void> {
    checkEnd(this.#truth, files, await this.#read());
  }
}

const STRIDE = 2;

/**
 * Makes a truth from a seed, imports its files in a mixed order into a tenant, and checks each report and what is
 * stored against the truth.
 *
 * @throws {Error} with the seed and the files before the fault
 */
export const runMixture = async (world: World, seed: number): Promise<number> => {
  // Truth and files have dice of their own, so that a change of one leaves the other.
  const truth = makeTruth(createDice(seed * STRIDE));
  const dice = createDice(seed * STRIDE + 1);
  const files = await writeFiles(truth, dice);
  const mixture = new Mixture(world, `money-${seed}`, truth);
  const done: string[] = [];
  try {
    await mixture.begin();
    for (const step of mix(files, dice)) {
      done.push(describeStep(step));
      await mixture.step(step);
    }
    done.push("the end");
    await mixture.end(files);
    return done.length - 1;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Mixture ${seed}: ${message}\nFiles: ${done.join(", ")}\nReplay it with: npm run money -- --mixtures 1 --seed ${seed}`,
      { cause: error },
    );
  }
};
