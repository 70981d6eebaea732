import { setTimeout as pause } from "node:timers/promises";
import type { Dice } from "../support/dice.ts";
import { type Answer, type Asked, type Server, unlessCut } from "./server.ts";
import { LOGIN, type SoakCluster } from "./soak-cluster.ts";
import type { CompletedRun, SoakSchedule } from "./soak-exports.ts";
import type { Deed, World } from "./world.ts";

export type Soak = {
  dice: Dice;
  cluster: SoakCluster;
  world: World;
  unanswered: Deed[];
  asked: number;
  /** PDF files whose uploads were acknowledged: the number that their bytes are made of, by id. */
  uploads: Map<string, number>;
  sentFiles: number;
  schedules: SoakSchedule[];
  /** Runs that had completed before the round. */
  runs: CompletedRun[];
  /** Ids of schedules of runs whose end was announced without a schedule. */
  announced: string[];
  connectionId: string;
  counts: Record<string, number>;
  lastToolError?: string;
  log: (line: string) => void;
};

export const count = ({ counts }: Soak, what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};

export const nodesOf = ({ cluster }: Soak): Server[] => [...cluster.platforms, cluster.mcp];

/** Asks until the answer comes, for what must work between faults. */
export const must = async (soak: Soak, asked: Asked): Promise<Answer["body"]> => {
  for (let tries = 0; ; tries += 1) {
    const answer = await unlessCut(soak.dice.pick(nodesOf(soak)).send(asked));
    if (answer !== undefined && answer.status < 300) return answer.body;
    if ((answer !== undefined && answer.status !== 503) || tries > 60) {
      throw new Error(`${asked.path}: ${JSON.stringify(answer?.body)}`);
    }
    await pause(500);
  }
};

const LOGGING_IN: Asked = { method: "POST", path: "/authentication/v1/login", body: LOGIN };

export const signIn = async (soak: Soak): Promise<void> => {
  soak.world.token = (await must(soak, LOGGING_IN)).accessToken;
};

/** A node whose clock is ahead refuses earlier sessions; every node takes one that begins there. */
export const signInAgain = async (soak: Soak, node: Server): Promise<void> => {
  const answer = await unlessCut(node.send(LOGGING_IN));
  if (answer?.status === 200) soak.world.token = answer.body.accessToken;
  count(soak, "ended sessions");
};
