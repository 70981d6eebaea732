import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Fields } from "../host.ts";
import { callTool, type Problem, type Reply, useSession } from "../session.ts";

export type Called = {
  reply: Reply | undefined;
  answer: Fields | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  reload: () => void;
};

/**
 * Calls a tool whenever its arguments change, and keeps the former answer until the next one is here. `first` is an
 * answer to the first arguments that is known already; without arguments nothing is called.
 */
export const useCall = (tool: string, args: Fields | undefined, first?: Reply): Called => {
  const { host } = useSession();
  const [state, setState] = useState<{ reply: Reply | undefined; isLoading: boolean }>({
    reply: first,
    isLoading: first === undefined && args !== undefined,
  });
  const known = useRef(first !== undefined);
  const turn = useRef(0);
  const key = args === undefined ? undefined : JSON.stringify(args);

  const load = useCallback(async () => {
    if (key === undefined) return;
    turn.current += 1;
    const mine = turn.current;
    setState(({ reply }) => ({ reply, isLoading: true }));
    const reply = await callTool(host, tool, JSON.parse(key) as Fields);
    // An answer to earlier arguments may come late.
    if (mine === turn.current) setState({ reply, isLoading: false });
  }, [host, tool, key]);

  useEffect(() => {
    if (known.current) known.current = false;
    else void load();
  }, [load]);

  const { reply } = state;
  return {
    ...state,
    answer: reply?.kind === "answer" ? reply.answer : undefined,
    problem: reply?.kind === "problem" ? reply.problem : undefined,
    reload: () => void load(),
  };
};
