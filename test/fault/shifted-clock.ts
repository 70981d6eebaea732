import { readFileSync } from "node:fs";

// Preloaded into a node: its wall clock differs from the machine's by the milliseconds in a file, which may change.
const path = process.env["SHIFTED_CLOCK_FILE"] ?? "";
const LOOK_EVERY_MS = 50;

const readShift = (): number => {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return 0;
  }
};

if (path !== "") {
  let shift = readShift();
  setInterval(() => {
    shift = readShift();
  }, LOOK_EVERY_MS).unref();
  const Real = Date;
  const now = (): number => Real.now() + shift;
  globalThis.Date = new Proxy(Real, {
    construct: (target, values) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values) as Date,
    get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
  });
}
