import { AsyncLocalStorage } from "node:async_hooks";
import type { ClientRequest, RequestOptions } from "node:http";
import { syncBuiltinESMExports } from "node:module";

/** What a program gets from the machine that it runs on. */
export type Machine = {
  randomBytes(size: number): Buffer;
  /** Milliseconds on a clock that only advances. */
  monotonic(): number;
  setTimer(callback: () => void, ms: number, repeats: boolean): object;
  clearTimer(timer: unknown): void;
  /** Waits until other work had a turn. */
  yield(): Promise<void>;
  request(url: URL, options: RequestOptions): ClientRequest;
};

const machines = new AsyncLocalStorage<Machine>();

/** Runs `act`, and everything that it starts, on a machine of the simulation instead of the real one. */
export const runOn = <T>(machine: Machine, act: () => T): T => machines.run(machine, act);

const crypto = process.getBuiltinModule("node:crypto");
const http = process.getBuiltinModule("node:http");
const https = process.getBuiltinModule("node:https");
const zlib = process.getBuiltinModule("node:zlib");
const timers = process.getBuiltinModule("node:timers/promises");

const real = {
  randomBytes: crypto.randomBytes,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  sleep: timers.setTimeout,
  yield: timers.setImmediate,
  now: performance.now.bind(performance),
  requestPlain: http.request,
  requestSecure: https.request,
};

/** Waits until the microtasks that are ready, and those that they add, have run. */
export const turnEventLoop = (): Promise<void> =>
  new Promise((resolve) => void real.setImmediate(resolve));

type Call = (...values: never[]) => unknown;

const replace = <K extends string>(target: Record<K, unknown>, name: K, call: Call): void => {
  Object.defineProperty(target, name, { value: call, configurable: true, writable: true });
};

const replaceTimers = (): void => {
  const start =
    (repeats: boolean, otherwise: Call): Call =>
    (callback: (...values: unknown[]) => void, ms: number, ...values: unknown[]) => {
      const machine = machines.getStore();
      if (machine === undefined) return otherwise(callback as never, ms as never);
      return machine.setTimer(() => callback(...values), ms, repeats);
    };
  const clear =
    (otherwise: Call): Call =>
    (timer: unknown) => {
      machines.getStore()?.clearTimer(timer);
      if (machines.getStore() === undefined) otherwise(timer as never);
    };
  replace(globalThis, "setTimeout", start(false, real.setTimeout as Call));
  replace(globalThis, "setInterval", start(true, real.setInterval as Call));
  replace(globalThis, "clearTimeout", clear(real.clearTimeout as Call));
  replace(globalThis, "clearInterval", clear(real.clearInterval as Call));
  replace(timers, "setTimeout", (ms: number, value: unknown) => {
    const machine = machines.getStore();
    if (machine === undefined) return real.sleep(ms, value);
    return new Promise((resolve) => void machine.setTimer(() => resolve(value), ms, false));
  });
  replace(timers, "setImmediate", (value: unknown) => {
    const machine = machines.getStore();
    return machine === undefined ? real.yield(value) : machine.yield().then(() => value);
  });
  replace(performance, "now", () => machines.getStore()?.monotonic() ?? real.now());
};

// The pool of threads would finish in any order.
const replaceCompression = (): void => {
  const inline =
    (name: "zstdCompress" | "zstdDecompress"): Call =>
    (bytes: Buffer, options: object, done: (error: null, result: Buffer) => void) => {
      const result = zlib[`${name}Sync`](bytes, options);
      queueMicrotask(() => done(null, result));
    };
  replace(zlib, "zstdCompress", inline("zstdCompress"));
  replace(zlib, "zstdDecompress", inline("zstdDecompress"));
};

// Argon2 takes 30 ms on a thread of the pool; no test of the simulation is about its strength.
const replacePasswordHash = (): void => {
  type Parameters = { message: string; nonce: Buffer; tagLength: number };
  type Done = (error: null, tag: Buffer) => void;
  replace(crypto, "argon2", (_name: string, parameters: Parameters, done: Done) => {
    const { message, nonce, tagLength } = parameters;
    const tag = crypto.hkdfSync("sha256", message, nonce, "", tagLength);
    queueMicrotask(() => done(null, Buffer.from(tag)));
  });
};

/**
 * Lets the modules of Node ask the machine of the running program for randomness, timers and requests. It must be
 * called before the platform's modules are loaded, because some of them keep the functions that they import. Outside
 * of `runOn` everything stays as it is.
 */
export const replaceMachine = (): void => {
  replace(
    crypto,
    "randomBytes",
    (size: number) => machines.getStore()?.randomBytes(size) ?? real.randomBytes(size),
  );
  replaceTimers();
  replaceCompression();
  replacePasswordHash();
  for (const [module, otherwise] of [
    [http, real.requestPlain],
    [https, real.requestSecure],
  ] as const) {
    replace(
      module,
      "request",
      (url: URL, options: RequestOptions) =>
        machines.getStore()?.request(url, options) ?? otherwise(url, options),
    );
  }
  syncBuiltinESMExports();
};
