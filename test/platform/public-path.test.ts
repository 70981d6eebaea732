import { afterAll, beforeAll, expect, it } from "vitest";
import {
  configure,
  DISPUTES,
  type Person,
  startPlatform,
  type TestPlatform,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

let at: TestPlatform;
let admin: Person;

beforeAll(async () => {
  at = await startPlatform(undefined, { publicUrl: "https://example.com/receivables/" });
  admin = await at.tenant("behind");
  await configure(admin);
});
afterAll(() => at.close());

const createDispute = () =>
  admin.call("POST", DISPUTES, {
    body: { amount: 1, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" },
  });

it("the path of a created record begins with it too", async () => {
  const { status, headers, body } = await createDispute();
  const path = `${DISPUTES.replace("{t}", "behind")}/${body.disputeId}`;
  expect([status, headers.get("location")]).toEqual([201, `/receivables${path}`]);
});

verifies("D-DISP-12");
it("links to other pages begin with the path under which a proxy serves the platform", async () => {
  for (let made = 0; made < 3; made += 1) await createDispute();
  const path = DISPUTES.replace("{t}", "behind");
  const { headers } = await admin.call("GET", `${path}?Page=2&PageSize=1`);
  const to = (page: number) => `</receivables${path}?Page=${page}&PageSize=1>`;
  expect(headers.get("link")).toBe(`${to(3)}; rel="next", ${to(1)}; rel="prev"`);
});
