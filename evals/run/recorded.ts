import type { Transcript } from "../task.ts";
import type { Player } from "./player.ts";

/** Creates a player that makes the calls of a transcript and gives its answer. */
export const createRecordedPlayer =
  ({ calls, answer }: Transcript): Player =>
  async ({ call }) => {
    for (const one of calls) await call(one.name, one.arguments);
    return answer;
  };
