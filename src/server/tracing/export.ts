import {
  type Context,
  context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { setGlobalErrorHandler, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { getMessage } from "../../kit/error.ts";
import { createLog } from "../../kit/log.ts";
import { toProxyEnv } from "../../kit/proxy.ts";
import { setTracer, type Carrier, type SpanOptions, type Tracer } from "../../kit/tracing.ts";
import { waitAtMost } from "../../kit/wait.ts";

/** `close` exports the last spans. */
export type OpenTracing = { close(): Promise<void> };

type Env = Record<string, string | undefined>;

// Hosts send SIGKILL one second after they close stdin, and a collector may not answer.
const FLUSH_MS = 500;

const createExporter = (): OTLPTraceExporter => {
  const proxyEnv = toProxyEnv();
  return new OTLPTraceExporter(proxyEnv === undefined ? {} : { httpAgentOptions: { proxyEnv } });
};

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

const propagator = new W3CTraceContextPropagator();

const textOf = (carrier: Carrier, name: string): string | undefined => {
  const value = carrier[name];
  return typeof value === "string" ? value : undefined;
};

const parentOf = ({ parent }: SpanOptions): Context => {
  if (parent === undefined) return context.active();
  const found = propagator.extract(ROOT_CONTEXT, parent, {
    keys: (carrier) => Object.keys(carrier),
    get: textOf,
  });
  return trace.getSpanContext(found) === undefined ? context.active() : found;
};

const fail = (span: OtelSpan, reason: string): void => {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", reason);
};

/** The kind of an error: messages may contain what people wrote. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error ? String(error.code) : error.name;
};

/** Returns the message of an error, or its kind where it has none, as that of several addresses. */
const describe = (error: unknown): string => getMessage(error) || reasonOf(error);

const createTracer = (provider: TracerProvider, version: string): Tracer => {
  const tracer = provider.getTracer("receivables-mcp", version);
  return {
    async run(name, options, act) {
      const parent = parentOf(options);
      const isInside = trace.getSpan(parent) !== undefined;
      if (options.onlyInside === true && !isInside) return act({ set() {}, fail() {} });
      const { kind, attributes } = options;
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, parent);
      try {
        return await context.with(trace.setSpan(parent, span), () =>
          act({
            set: (more) => void span.setAttributes(more),
            fail: (reason) => fail(span, reason),
          }),
        );
      } catch (error) {
        fail(span, reasonOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
    headers() {
      const headers: Record<string, string> = {};
      propagator.inject(context.active(), headers, {
        set: (carrier, name, value) => void (carrier[name] = value),
      });
      return headers;
    },
    ids() {
      const { traceId, spanId } = trace.getSpanContext(context.active()) ?? {};
      return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
    },
  };
};

const PARENT_BASED = "parentbased_";

const createRoot = (name: string, argument: string | undefined): Sampler => {
  if (name === "always_off") return new AlwaysOffSampler();
  const ratio = Number(argument ?? 1);
  const isRatio = name === "traceidratio" && ratio >= 0 && ratio <= 1;
  return isRatio ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
};

/** Creates the sampler of OTEL_TRACES_SAMPLER; by default each trace that the caller does not leave out. */
const createSampler = (env: Env): Sampler => {
  const name = env["OTEL_TRACES_SAMPLER"] ?? `${PARENT_BASED}always_on`;
  const argument = env["OTEL_TRACES_SAMPLER_ARG"];
  if (!name.startsWith(PARENT_BASED)) return createRoot(name, argument);
  return new ParentBasedSampler({ root: createRoot(name.slice(PARENT_BASED.length), argument) });
};

/** Exports spans by OTLP over HTTP, as the `OTEL_…` settings say. */
export const exportTraces = (env: Env, version: string): OpenTracing => {
  const log = createLog("warn");
  const warn = (message: string): void => log.warn("tracing.failed", { error: message });
  const quiet = (): void => {};
  const logger = { error: warn, warn, info: quiet, debug: quiet, verbose: quiet };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN });
  // The library's own handler writes all fields of an error as text: its stack, and what the collector answered.
  setGlobalErrorHandler((error) => warn(describe(error)));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const named = resourceFromAttributes({
    "service.name": "receivables-mcp",
    "service.version": version,
  });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(env),
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter() })],
  });
  setTracer(createTracer(provider, version));
  return {
    async close() {
      setTracer(undefined);
      await waitAtMost(
        FLUSH_MS,
        provider.shutdown().catch((error: unknown) => warn(describe(error))),
      );
    },
  };
};
