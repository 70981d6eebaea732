import { useEffect, useRef, useState } from "preact/hooks";
import type { Fields } from "../host.ts";
import type { Reply } from "../reply.ts";
import { callTool, useSession } from "../session.ts";

export type Part = Extract<Reply, { kind: "answer" }>;

/** Reads the answer of a tool part by part, from its beginning on; `last` is undefined while a part is awaited. */
export const useParts = (tool: string, args: Fields) => {
  const { host } = useSession();
  const [parts, setParts] = useState<readonly Part[]>([]);
  const [last, setLast] = useState<Reply>();
  const lastCursor = useRef<string>(undefined);
  const load = async (cursor?: string): Promise<void> => {
    lastCursor.current = cursor;
    setLast(undefined);
    const reply = await callTool(host, tool, { ...args, ...(cursor && { cursor }) });
    if (reply.kind === "answer") setParts((before) => [...before, reply]);
    setLast(reply);
  };
  useEffect(() => void load(), []);
  return { parts, last, load, retry: (): void => void load(lastCursor.current) };
};
