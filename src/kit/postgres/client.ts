import { callbackify } from "node:util";
import pg from "pg";
import { destroyConnection, Hosts, isDestroyed, READ_ONLY } from "./hosts.ts";

export type HostConfig = pg.ClientConfig & {
  /** Without it the client finds the server among those of `connectionString`. */
  hosts?: Hosts;
  /** Runs within the time limit of connecting. The pool's own `onConnect` has none. */
  prepare?: (client: pg.ClientBase) => Promise<unknown>;
};

/** A client that connects to the server that {@link Hosts} finds. */
export class HostClient extends pg.Client {
  readonly #hosts: Hosts;
  readonly #prepare: HostConfig["prepare"];
  /** URL of the server that it is connected to. */
  url = "";
  /** Whether its server has refused a write because it is read-only. */
  isReadOnly = false;
  onReadOnly = (): void => {};

  constructor(config: HostConfig = {}) {
    const hosts = config.hosts ?? new Hosts(config.connectionString ?? "");
    super({ ...config, connectionString: hosts.urls[0] ?? "" });
    this.#hosts = hosts;
    this.#prepare = config.prepare;
    const { connection } = this as unknown as { connection: NodeJS.EventEmitter };
    connection.on("errorMessage", ({ code }: { code?: string }) => {
      if (code !== READ_ONLY) return;
      this.isReadOnly = true;
      this.#hosts.forget(this.url);
      this.onReadOnly();
    });
  }

  override connect(...[done]: unknown[]): never {
    if (typeof done !== "function") return this.#open() as never;
    callbackify(() => this.#open())(done as () => void);
    return undefined as never;
  }

  async #open(): Promise<void> {
    this.url = await this.#hosts.find();
    // The pool has given up meanwhile, and a socket that is connected again would have no time limit.
    if (isDestroyed(this)) throw new Error("no server was found in time");
    // Both are read when the socket connects.
    const { host, port } = new pg.Client({ connectionString: this.url });
    Object.assign(this, { host, port });
    try {
      await super.connect();
      await this.#hosts.verify(this);
      await this.#prepare?.(this);
    } catch (error) {
      this.#hosts.forget(this.url);
      destroyConnection(this);
      throw error;
    }
  }
}
