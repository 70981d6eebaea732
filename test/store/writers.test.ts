import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findCounter } from "../../src/platform/store/queries/counters.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const postgres = dialects.filter(({ name }) => name === "postgres");

describe.each(postgres)("connections of writers ($name)", (dialect) => {
  let store: Store;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const database = await dialect.create();
    ({ remove } = database);
    store = await database.open();
  });
  afterAll(async () => {
    await store.close();
    await remove();
  });

  verifies("OP-51", "C-91");
  it("leave some to other tenants and to reads, however many changes of one tenant wait", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const changes = Array.from({ length: 40 }, () => store.transaction(() => held, "busy"));
    const use = () => store.pools().find(({ pool }) => pool === "writers");
    await expect.poll(use).toMatchObject({ busy: 2, waiting: 38 });
    const others = ["one", "two", "three"].map((tenant) =>
      store.transaction(async () => tenant, tenant),
    );
    expect(await Promise.all(others)).toEqual(["one", "two", "three"]);
    expect(await findCounter(store.read, "none", 0)).toBeUndefined();
    expect(use()).toMatchObject({ busy: 2, waiting: 38 });
    release();
    await Promise.all(changes);
    expect(use()).toMatchObject({ busy: 0, waiting: 0 });
  });
});
