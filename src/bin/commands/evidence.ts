import { createMasterKeyReader } from "../../config/folder.ts";
import { showEvidenceKey, writeEvidence } from "../../platform/admin/evidence.ts";
import { type EvidenceNeeds, signEvidenceHead } from "../../platform/evidence-heads.ts";
import { signHead } from "../../platform/admin/audit.ts";
import { verifyEvidence } from "../../platform/admin/verify-evidence.ts";
import type { Base } from "../compose/platform.ts";
import { printFromStore } from "./admin.ts";
import { readTextFile } from "./input-file.ts";
import type { Io } from "./io.ts";

const toNeeds = async (io: Io, { store, clock }: Base): Promise<EvidenceNeeds> => ({
  store,
  clock,
  masterKey: await createMasterKeyReader(io.config)(),
});

/** Prints the end of a log: signed with the audit key, and with the key whose public half others have. */
export const runAuditHead = (io: Io, tenantId: string) =>
  printFromStore(io, async (base) => ({
    ...(await signHead(base, tenantId)),
    evidence: await signEvidenceHead(await toNeeds(io, base), tenantId),
  }));

/** Prints the public key in the form that `verify-evidence` takes. */
export const runAuditKey = (io: Io, { rotate = false }: { rotate?: boolean }) =>
  printFromStore(io, async (base) => showEvidenceKey(await toNeeds(io, base), { rotate }));

export const runAuditEvidence = (
  io: Io,
  tenantId: string,
  path: string,
  { from, to }: { from: string; to: string },
) =>
  printFromStore(io, async (base) => {
    const span = { from, to, path };
    return { file: path, ...(await writeEvidence(await toNeeds(io, base), tenantId, span)) };
  });

/** Prints the verdict; throws if the evidence was altered. */
export const runVerifyEvidence = async (
  io: Io,
  path: string,
  { key, head = [] }: { key: string; head?: string[] },
): Promise<void> => {
  const text = await readTextFile("key", key);
  const heads = await Promise.all(head.map((kept) => readTextFile("head", kept)));
  const verdict = await verifyEvidence(path, text, heads);
  io.print({ file: path, ...verdict });
  if (verdict.fault !== null) throw new Error(`${path} is no evidence: ${verdict.fault}`);
};
