import { openChildStore } from "../support/child-store.ts";
import { createRateLimiter } from "../../src/platform/rate-limiter.ts";

// Asks argv[2] times at the moment argv[3] for a tenant's request, and prints how often it was let in.
const [times = 0, now = 0, exportPerMinute = 0, exportPerHour = 0] = process.argv
  .slice(2)
  .map(Number);
const store = await openChildStore();
const rest = { gatewayPerMinute: 0, loginPerMinute: 0, visitorPerMinute: 0 };
const limiter = createRateLimiter(store, { ...rest, exportPerMinute, exportPerHour });
let granted = 0;
for (let asked = 0; asked < times; asked += 1) {
  const [{ status }] = await Promise.allSettled([limiter.keyed("export", "shared", now)]);
  if (status === "fulfilled") granted += 1;
}
await store.close();
process.stdout.write(String(granted));
