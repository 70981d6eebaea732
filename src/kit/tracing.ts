import { AsyncLocalStorage } from "node:async_hooks";

export type Attributes = Record<string, string | number | boolean>;

/** W3C trace context as it is sent: `traceparent` and `tracestate`. */
export type Carrier = Record<string, unknown>;

export type SpanOptions = {
  kind: "server" | "client";
  attributes: Attributes;
  /** The trace context of the caller; without one, the span is part of the current one. */
  parent?: Carrier | undefined;
  /** Makes a span only where another one is current: for what background work does all the time. */
  onlyInside?: boolean;
};

export type Span = {
  set(attributes: Attributes): void;
  /** Marks the span as failed without an exception; `reason` is a code. */
  fail(reason: string): void;
};

/** The ids of a span in log lines. */
export type TraceIds = { traceId: string; spanId: string };

/** Creates spans, and carries the current one through asynchronous code. */
export type Tracer = {
  run<T>(name: string, options: SpanOptions, act: (span: Span) => Promise<T>): Promise<T>;
  /** Returns the trace context of the current span as headers. */
  headers(): Record<string, string>;
  /** Returns the ids of the current span; undefined outside of any. */
  ids(): TraceIds | undefined;
};

const NO_SPAN: Span = { set() {}, fail() {} };

// Of the process and not an argument, as the current span is: it accompanies every call, of every layer.
let tracer: Tracer | undefined;

/** Sets the tracer of this process; undefined turns tracing off. Only the program's start calls it. */
export const setTracer = (next: Tracer | undefined): void => {
  tracer = next;
};

/** Whether spans are created. Queries ask first: without a tracer they need no function for a span. */
export const isTracing = (): boolean => tracer !== undefined;

/** Runs `act` within a span. Without a tracer it only runs `act`; the options are not built then. */
export const traced = <T>(
  name: () => string,
  options: () => SpanOptions,
  act: (span: Span) => Promise<T>,
): Promise<T> => (tracer === undefined ? act(NO_SPAN) : tracer.run(name(), options(), act));

/** Returns the headers that continue the current trace elsewhere. */
export const traceHeaders = (): Record<string, string> => tracer?.headers() ?? {};

/** Returns the ids of the current span for a log line; undefined without a tracer and outside of spans. */
export const traceIds = (): TraceIds | undefined => tracer?.ids();

/** Returns a function that runs in the current span, also where an event calls it. */
export const keepSpan = <Args extends unknown[], R>(
  act: (...args: Args) => R,
): ((...args: Args) => R) => (tracer === undefined ? act : AsyncLocalStorage.bind(act));
