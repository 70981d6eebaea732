import { randomInt } from "node:crypto";
import { randomId } from "../../src/kit/ids.ts";
import { openChildStore } from "../support/child-store.ts";
import { createAudit } from "../../src/platform/http/audit.ts";

// Writes argv[3] entries to the log of tenant argv[2], several at once, their moments in no order around argv[4].
const [tenantId = "", times = "0", around = "0"] = process.argv.slice(2);
const store = await openChildStore();
const audit = createAudit(store);
const AT_ONCE = 5;

const record = () =>
  audit.record({
    tenantId,
    id: randomId(),
    at: Number(around) + randomInt(-1000, 1000),
    method: "GET",
    endpoint: "/audit-logs",
    action: randomInt(2) === 0 ? "audit.queried" : null,
    statusCode: 200,
    metadata: { writer: process.pid },
  });

for (let done = 0; done < Number(times); done += AT_ONCE) {
  await Promise.all(Array.from({ length: AT_ONCE }, record));
}
await store.close();
