import type { OpenTracing } from "./tracing/export.ts";

type Env = Record<string, string | undefined>;

const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";

/** Tells whether the standard settings of OpenTelemetry ask for traces. */
export const wantsTraces = (env: Env): boolean => {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return false;
  const exporter = env["OTEL_TRACES_EXPORTER"];
  if (isSet(exporter)) return exporter === "otlp";
  return (
    isSet(env["OTEL_EXPORTER_OTLP_ENDPOINT"]) || isSet(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
  );
};

/** Exports traces where the settings ask for it. Otherwise nothing is loaded. */
export const openTracing = async (env: Env, version: string): Promise<OpenTracing> => {
  if (!wantsTraces(env)) return { close: async () => {} };
  const { exportTraces } = await import("./tracing/export.ts");
  return exportTraces(env, version);
};
