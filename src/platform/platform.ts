import type { Clock } from "../kit/clock.ts";
import type { NewId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { HostNeeds } from "../kit/network.ts";
import { createSeal, type Seal } from "../kit/seal.ts";
import { createReport } from "../kit/telemetry.ts";
import type { Brand } from "../pages/page.ts";
import { createApp } from "./app.ts";
import { createUses, type Lifetimes, type Uses } from "./credentials.ts";
import type { FileStore } from "./files/port.ts";
import { createFigures, type Figures } from "./figures.ts";
import { createStorageQuota } from "./files/quota.ts";
import { createSavedFiles, type SavedFiles } from "./files/saved.ts";
import { createSignedUrls, type SignedUrls } from "./files/signed-urls.ts";
import { sweep, type Swept } from "./files/sweep.ts";
import { createUnclaimedFilesJob } from "./files/unclaimed.ts";
import type { Services } from "./handlers.ts";
import { createAudit } from "./http/audit.ts";
import { createAddressOf } from "./http/address.ts";
import { createBaseUrlOf, getPublicPath } from "./http/base-url.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import type { RequestNeeds } from "./http/context.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { createRateLimiter, type RateLimiter, type RateLimits } from "./rate-limiter.ts";
import { createFinished } from "./exports/finished.ts";
import { RUN_LIMITS, runJobs } from "./exports/run-job.ts";
import { scheduleJobs } from "./exports/schedule-job.ts";
import { LoginGuard } from "./login-guard.ts";
import { createPlatformReadiness } from "./readiness.ts";
import { createResetTokens } from "./reset-tokens.ts";
import { type Purged, purge, purgeEndedCounters, type Retention } from "./retention.ts";
import type { Scanner } from "./scan/port.ts";
import { account_notes } from "./services/account-notes.ts";
import { accounts } from "./services/accounts.ts";
import { api_keys } from "./services/api-keys.ts";
import { assignees } from "./services/assignees.ts";
import { audit_logs } from "./services/audit-logs.ts";
import { auth } from "./services/auth.ts";
import { business_units } from "./services/business-units.ts";
import { categories } from "./services/categories.ts";
import { company_scores } from "./services/company-scores.ts";
import { credit_applications } from "./services/credit-applications.ts";
import { departments } from "./services/departments.ts";
import { dispute_attachments, type UrlLives } from "./services/dispute-attachments.ts";
import { createScanningJob } from "./services/dispute-attachments/scanning.ts";
import { createTransfers } from "./services/dispute-attachments/transfers.ts";
import { dispute_notes } from "./services/dispute-notes.ts";
import { createRemovalJob } from "./services/disputes/removal.ts";
import { disputes } from "./services/disputes.ts";
import { document_attachments } from "./services/document-attachments.ts";
import { documents } from "./services/documents.ts";
import { createPasswords } from "./services/passwords.ts";
import { createMatchingJob } from "./services/payments/matching/job.ts";
import { payments } from "./services/payments.ts";
import { pdf_ingestion } from "./services/pdf-ingestion.ts";
import { export_runs } from "./services/export-runs.ts";
import { reasons } from "./services/reasons.ts";
import { resolutions } from "./services/resolutions.ts";
import { schedules } from "./services/schedules.ts";
import { users } from "./services/users.ts";
import { webhooks } from "./services/webhooks.ts";
import { signEvidenceHeads } from "./evidence-heads.ts";
import type { Store } from "./store/port.ts";
import { SEALS } from "./store/sealed-columns.ts";
import type { JobKind } from "./jobs/job.ts";
import { createDeliveryJob } from "./webhooks/deliver.ts";
import { createSend } from "./webhooks/send.ts";
import { createWorker, type Worker } from "./jobs/worker.ts";
import { createSpools } from "./http/spool.ts";

export type PlatformNeeds = {
  store: Store;
  files: FileStore;
  clock: Clock;
  newId: NewId;
  log: Log;
  masterKey: Buffer;
  scanner: Scanner;
  /** Bytes that the files of one tenant may take. */
  tenantFileBytes: number;
  /** Validity of signed URLs, in milliseconds. */
  urlLives: UrlLives;
  /** Base of signed URLs where it differs from the request's. */
  publicUrl: string | undefined;
  /** Returns the address of this process for callers in the same process, who have no socket. */
  ownUrl(): Promise<string>;
  lifetimes: Lifetimes;
  limits: RateLimits;
  auditReads: RequestNeeds["auditReads"];
  retention: Retention;
  /** Networks (CIDR) whose X-Forwarded-For is trusted. */
  trustedProxies: string[];
  webhooks: {
    /** Addresses that callbacks may use. */
    hosts: HostNeeds;
    /** Delays between attempts; there is one attempt more than delays. */
    delaysMs: readonly number[];
  };
  headerWord: string;
  /** The operator, as pages for people name it. */
  brand?: Brand | undefined;
  /** Program version. */
  version: string;
  /** Whether the page for people is served at `/` of the same address. */
  hasPage?: boolean;
};

export type Platform = {
  /** Serves one request; `env.incoming` is Node's own message where there is a socket. */
  fetch: ReturnType<typeof createApp>["fetch"];
  /** The routes; method `ALL` marks refusals and middleware. */
  routes: readonly { method: string; path: string }[];
  /** Removes files that crashes left behind. Run it at start and hourly. */
  sweep(): Promise<Swept>;
  /** Removes data past its retention period. Run it at start and hourly. */
  purge(): Promise<Purged>;
  /** Signs the ends of the tenants' audit logs for others; returns how many. Run it at start and hourly. */
  signHeads(): Promise<number>;
  /** Removes rate limit windows that have ended: each minute. */
  purgeCounters(): Promise<void>;
  /** Counts waiting work and the use of the store's pools. */
  figures(): Promise<Figures>;
  /** The tables that people save for a day. */
  savedFiles: SavedFiles;
  /** Background jobs; idle until started. */
  worker: Worker;
  /** Stops the jobs and writes pending uses. The store stays open. */
  close(): Promise<void>;
};

type ServiceParts = {
  uses: Uses;
  signedUrls: SignedUrls;
  secrets: Seal;
  limiter: RateLimiter;
  guard: LoginGuard;
  quota: ReturnType<typeof createStorageQuota>;
};

const createServices = (
  needs: PlatformNeeds,
  { uses, signedUrls, secrets, limiter, guard, quota }: ServiceParts,
): Services => {
  const { files, newId, log, masterKey, lifetimes, scanner, urlLives: lives } = needs;
  const { hosts } = needs.webhooks;
  return {
    auth: auth({ newId, uses, lifetimes, limiter, guard }),
    api_keys: api_keys({ newId, lifetimes }),
    users: users(),
    disputes: disputes({
      newId,
      files,
      log,
      changesSeal: createSeal(masterKey, "changes-cursor"),
    }),
    dispute_notes: dispute_notes({ newId }),
    dispute_attachments: dispute_attachments({ files, newId, log, signedUrls, lives }),
    reasons: reasons({ newId }),
    categories: categories({ newId }),
    departments: departments({ newId }),
    assignees: assignees({ newId }),
    resolutions: resolutions({ newId }),
    business_units: business_units(),
    company_scores: company_scores(),
    credit_applications: credit_applications(),
    webhooks: webhooks({ newId, seal: secrets, hosts }),
    audit_logs: audit_logs({ seal: createSeal(masterKey, "audit-cursor") }),
    schedules: schedules({ newId }),
    export_runs: export_runs({
      files,
      seals: {
        status: createSeal(masterKey, "export-run-status-cursor"),
        data: createSeal(masterKey, "export-run-data-cursor"),
      },
      keptMs: needs.retention.exportRuns,
    }),
    document_attachments: document_attachments({ files }),
    pdf_ingestion: pdf_ingestion({ files, newId, log, scanner, quota }),
    accounts: accounts({ seal: createSeal(masterKey, "account-list-cursor") }),
    account_notes: account_notes(),
    documents: documents({ seal: createSeal(masterKey, "document-list-cursor") }),
    payments: payments({ seal: createSeal(masterKey, "payment-cursor") }),
  };
};

/** Creates the REST service over a store. */
export const createPlatform = (needs: PlatformNeeds): Platform => {
  const { store, files, clock, newId, log, masterKey, lifetimes, limits, trustedProxies } = needs;
  const uses = createUses(store, log);
  const { scanner, publicUrl, ownUrl } = needs;
  const { hosts, delaysMs } = needs.webhooks;
  const secrets = createSeal(masterKey, SEALS.webhook);
  const { version } = needs;
  const send = createSend(hosts);
  const finished = createFinished({ store, newId });
  const quota = createStorageQuota(store, needs.tenantFileBytes);
  const kinds: JobKind[] = [
    createUnclaimedFilesJob({ store, clock, files }),
    createRemovalJob({ store, clock, files, log }),
    createMatchingJob({ store, clock, newId }),
    createDeliveryJob({ store, clock, newId, log, seal: secrets, send, delaysMs, version }),
    createScanningJob({ store, files, scanner, clock, log }),
    scheduleJobs({ store, clock, newId }),
    runJobs({ store, files, clock, newId, log, limits: RUN_LIMITS, quota, finished }),
  ];
  const worker = createWorker({ store, clock, log }, kinds);
  const wake = (): void => worker.wake();
  const signedUrls = createSignedUrls(masterKey);
  const limiter = createRateLimiter(store, limits);
  const guard = new LoginGuard({ store, masterKey, clock });
  const tokens = createResetTokens(masterKey, clock);
  const audit = createAudit(store);
  const { record } = audit;
  const parts = { uses, signedUrls, secrets, limiter, guard, quota };
  const services = createServices(needs, parts);
  const app = createApp(services, {
    store,
    clock,
    newId,
    log,
    report: createReport(log),
    audit,
    auditReads: needs.auditReads,
    idempotency: createIdempotency(createSeal(masterKey, SEALS.answer)),
    limiter,
    addressOf: createAddressOf(trustedProxies),
    authenticate: createAuthenticate({ store, uses, lifetimes }),
    baseUrlOf: createBaseUrlOf({ publicUrl, ownUrl }),
    publicPath: getPublicPath(publicUrl),
    spoolRest: createSpools(),
    transfers: createTransfers({
      store,
      files,
      clock,
      newId,
      log,
      signedUrls,
      quota,
      wake,
      recordRead: needs.auditReads === "all" ? record : undefined,
    }),
    passwords: createPasswords({ store, clock, newId, log, limiter, guard, tokens, record }),
    ready: createPlatformReadiness({ store, files, clock, log }),
    headerWord: needs.headerWord,
    brand: needs.brand,
    version,
    hasPage: needs.hasPage ?? false,
  });
  return {
    fetch: app.fetch,
    routes: app.routes,
    sweep: () => sweep({ files, store, clock }),
    signHeads: () => signEvidenceHeads({ store, masterKey, clock, log }),
    purge: () => purge({ store, files, clock, log, retention: needs.retention, lifetimes }),
    figures: createFigures({ store, clock, kinds: kinds.map(({ kind }) => kind) }),
    purgeCounters: () => purgeEndedCounters({ store, clock }),
    savedFiles: createSavedFiles({ store, files, clock, newId, log, quota }),
    worker,
    async close() {
      await worker.close();
      await uses.close();
    },
  };
};
