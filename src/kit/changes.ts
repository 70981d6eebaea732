/** Announcements between the processes that share a database. */
export type Changes = {
  /** Tells every process that watches the key, this one included; `detail` has at most 200 characters. */
  announce(key: string, detail?: string): Promise<void>;
  /**
   * Calls `act` with the detail of each announcement, and without one from time to time, because announcements can be
   * lost: each `pollMs` while none can be received. Returns a function that stops this.
   */
  watch(key: string, act: (detail?: string) => void, pollMs: number): () => void;
  close(): Promise<void>;
};
