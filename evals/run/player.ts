/** A tool as the server lists it. `inputSchema` is JSON Schema. */
export type ToolSpec = { name: string; description: string; inputSchema: Record<string, unknown> };

/** Text of a tool's reply, and whether the server calls it an error. */
export type ToolResult = { text: string; isError: boolean };

/** The task, the tools and the limits that a player is given. */
export type Seat = {
  task: string;
  prompt: string;
  /** Instructions of the server to models. */
  instructions: string;
  tools: readonly ToolSpec[];
  /** Calls a tool. @throws {Error} if the limit of calls is reached or the server is gone */
  call(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  /** Aborted when the time of the task is over. */
  signal: AbortSignal;
  /** Adds tokens that a provider reports; without any, they are counted. */
  addTokens(count: number): void;
};

/** Does a task and returns the answer. @throws {Error} with the reason why there is none */
export type Player = (seat: Seat) => Promise<string>;
