import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";

type Env = Record<string, string | undefined>;

const PARENT_BASED = "parentbased_";

const createRoot = (name: string, argument: string | undefined): Sampler => {
  if (name === "always_off") return new AlwaysOffSampler();
  const ratio = Number(argument ?? 1);
  const isRatio = name === "traceidratio" && ratio >= 0 && ratio <= 1;
  return isRatio ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
};

/** Creates the sampler of OTEL_TRACES_SAMPLER; by default each trace that the caller does not leave out. */
export const createSampler = (env: Env): Sampler => {
  const name = env["OTEL_TRACES_SAMPLER"] ?? `${PARENT_BASED}always_on`;
  const argument = env["OTEL_TRACES_SAMPLER_ARG"];
  if (!name.startsWith(PARENT_BASED)) return createRoot(name, argument);
  return new ParentBasedSampler({ root: createRoot(name.slice(PARENT_BASED.length), argument) });
};
