import type { Dice } from "../support/dice.ts";
import { turnEventLoop } from "./machine.ts";

/** One process from its start to its end. Nothing of an ended one goes on. */
export type Life = {
  readonly name: string;
  hasEnded: boolean;
  /** The process ends at this call of it, counted from now; 0: it does not end by itself. */
  endsAt: number;
  /** Resolves when the process ends. */
  readonly ended: Promise<void>;
  /** Takes the process's open databases from it, which undoes its transactions. */
  end(): void;
};

type Gate = { life: Life; what: string; open(): void };
type Timer = { life: Life; at: number; number: number; every: number | undefined; fire(): void };

/** Requests and jobs of one step, and whether they have ended. */
export type Task = { life: Life; isOver: boolean };

const MOST_EVENTS = 50_000;
const MOST_MS_PER_CALL = 3;

/** The run went wrong in a way that no invariant names: nothing can go on, or nothing comes to an end. */
export class Stuck extends Error {}

/**
 * Decides the order of everything that happens. Each call of a process to its store, its files or the network waits
 * for its turn, and one of those that wait is chosen at a time. Time passes only between two calls, and jumps to the
 * next timer when no call waits.
 */
export class Scheduler {
  readonly #dice: Dice;
  readonly #tell: (line: string) => void;
  #gates: Gate[] = [];
  #timers: Timer[] = [];
  #timersMade = 0;
  #working = 0;
  /** Milliseconds since the beginning. */
  now = 0;

  constructor(dice: Dice, tell: (line: string) => void) {
    this.#dice = dice;
    this.#tell = tell;
  }

  /** Waits for a turn; never returns to a process that has ended. */
  turn(life: Life, what: string): Promise<void> {
    return new Promise((open) => {
      if (!life.hasEnded) this.#gates.push({ life, what, open });
    });
  }

  /** Waits for a turn sometimes only. Every call counts towards the end of the process. */
  async touch(life: Life, what: string): Promise<void> {
    if (this.#dice.chance(0.1)) return this.turn(life, what);
    this.#count(life, what);
    if (life.hasEnded) await new Promise(() => {});
  }

  /** Runs real input or output. Nothing else is chosen meanwhile. */
  async work<T>(act: () => Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await act();
    } finally {
      this.#working -= 1;
    }
  }

  setTimer(life: Life, fire: () => void, ms: number, repeats: boolean): object {
    const wait = Math.max(1, ms);
    this.#timersMade += 1;
    const every = repeats ? wait : undefined;
    const timer = { life, at: this.now + wait, number: this.#timersMade, every, fire };
    this.#timers.push(timer);
    const handle = { ref: () => handle, unref: () => handle, timer };
    return handle;
  }

  clearTimer(handle: unknown): void {
    const cleared = (handle as { timer?: Timer } | undefined)?.timer;
    this.#timers = this.#timers.filter((timer) => timer !== cleared);
  }

  end(life: Life, what: string): void {
    this.#tell(`  ${life.name} ends at ${what}`);
    life.hasEnded = true;
    this.#gates = this.#gates.filter((gate) => gate.life !== life);
    this.#timers = this.#timers.filter((timer) => timer.life !== life);
    life.end();
  }

  /** Runs until the tasks are over and no call waits. */
  async run(tasks: readonly Task[]): Promise<void> {
    const isOver = (): boolean => tasks.every((task) => task.isOver || task.life.hasEnded);
    for (let events = 0; events < MOST_EVENTS; events += 1) {
      await this.#settle();
      if (this.#gates.length > 0) this.#openOne();
      else if (isOver()) return;
      else this.#fireNext(Infinity);
    }
    throw new Stuck(`more than ${MOST_EVENTS} events in one step`);
  }

  /** Lets time pass, with the timers that end meanwhile. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    while (this.#fireNext(until)) await this.run([]);
    this.now = Math.max(this.now, until);
  }

  async #settle(): Promise<void> {
    do {
      await turnEventLoop();
      // A commit runs at the end of the turn in which its transactions ended.
      await turnEventLoop();
    } while (this.#working > 0);
  }

  #count(life: Life, what: string): void {
    if (life.endsAt === 0) return;
    life.endsAt -= 1;
    if (life.endsAt === 0) this.end(life, what);
  }

  #openOne(): void {
    const [gate] = this.#gates.splice(this.#dice.whole(0, this.#gates.length - 1), 1);
    if (gate === undefined) return;
    this.now += this.#dice.whole(0, MOST_MS_PER_CALL);
    this.#tell(`  ${gate.life.name} ${gate.what}`);
    this.#count(gate.life, gate.what);
    if (!gate.life.hasEnded) gate.open();
  }

  /** Fires the next timer that ends by then; returns whether there was one. */
  #fireNext(until: number): boolean {
    const [next] = this.#timers.toSorted((a, b) => a.at - b.at || a.number - b.number);
    if (next === undefined && until === Infinity) throw new Stuck("a task waits for nothing");
    if (next === undefined || next.at > until) return false;
    this.now = Math.max(this.now, next.at);
    this.#tell(`  ${next.life.name} timer`);
    if (next.every === undefined) this.#timers = this.#timers.filter((timer) => timer !== next);
    else next.at = this.now + next.every;
    next.fire();
    return true;
  }
}
