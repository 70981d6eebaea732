import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Runs `act` without more room for new objects: what loading code and the demo tenant fills, V8 would keep, about 32 MB.
 */
export const withoutMoreRoom = async <T>(act: () => Promise<T>): Promise<T> => {
  setFlagsFromString("--semi-space-growth-factor=1");
  try {
    return await act();
  } finally {
    // V8's default.
    setFlagsFromString("--semi-space-growth-factor=2");
  }
};

/**
 * Has functions optimized after fewer calls. V8's defaults are 400, and 500 since a function last met another type: more
 * than the tool calls of most sessions. Up to there a call takes a fifth less time with these, and afterwards the same.
 * Must run after the code is loaded, because Node's own modules are loaded from a cache only with the flags of the start.
 */
export const optimizeEarly = (): void => {
  setFlagsFromString("--invocation-count-for-maglev=50");
  setFlagsFromString("--minimum-invocations-after-ic-update=20");
};

/**
 * Gives memory that loading the code and the demo tenant has left back to the operating system, about 25 MB: an idle V8
 * would keep it. Must run before requests are answered, because it holds the event loop for about 150 ms.
 */
export const releaseMemory = (): void => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (how: { type: "major"; flavor: "last-resort" }) => void;
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", flavor: "last-resort" });
};
