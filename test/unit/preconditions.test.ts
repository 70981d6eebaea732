import { describe, expect, it } from "vitest";
import { disputes } from "../../src/contract/operations/disputes.ts";
import { toReply } from "../../src/platform/http/reply.ts";
import { checkIfMatch, checkUpsert } from "../../src/platform/preconditions.ts";

const RECORD = { id: "r-1", version: 3 };

const codeOf = (check: () => void): unknown => {
  try {
    check();
    return "passed";
  } catch (error) {
    return (error as { code: unknown }).code;
  }
};

describe("If-Match", () => {
  it.each([null, "*", '"r-1.3"', '"other.1", "r-1.3"'])("accepts %s for the version", (ifMatch) => {
    expect(codeOf(() => checkIfMatch({ ifMatch }, RECORD))).toBe("passed");
  });

  it.each(['"r-1.2"', '"r-2.3"', "", "r-1.3"])("rejects %s", (ifMatch) => {
    expect(codeOf(() => checkIfMatch({ ifMatch }, RECORD))).toBe("precondition_failed");
  });
});

describe("preconditions of a PUT", () => {
  it("rejects If-Match if there is no record", () => {
    expect(codeOf(() => checkUpsert({ ifMatch: "*", ifNoneMatch: null }, undefined))).toBe(
      "precondition_failed",
    );
    expect(codeOf(() => checkUpsert({ ifMatch: null, ifNoneMatch: "*" }, undefined))).toBe(
      "passed",
    );
  });

  it("rejects If-None-Match if the record exists", () => {
    const check = (ifNoneMatch: string) =>
      codeOf(() => checkUpsert({ ifMatch: null, ifNoneMatch }, RECORD));
    expect([check("*"), check('"r-1.3"'), check('"r-1.2"')]).toEqual([
      "precondition_failed",
      "precondition_failed",
      "passed",
    ]);
  });
});

describe("the reply built from a handler's result", () => {
  const context = { operation: disputes.update };
  const terms = { ignored: ["extra"] };

  it("has the operation's status, the ETag and the ignored fields", () => {
    const { status, headers } = toReply(context, terms, { body: {}, version: RECORD });
    expect([status, headers]).toEqual([200, { ETag: '"r-1.3"', "X-Ignored-Fields": "extra" }]);
  });

  it("has the status 201 if a record was created, and the service's own ignored fields", () => {
    const { status, headers } = toReply(context, terms, {
      body: {},
      createdId: "r-1",
      ignored: [],
    });
    expect([status, headers]).toEqual([201, {}]);
  });
});
