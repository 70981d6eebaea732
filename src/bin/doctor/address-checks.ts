import { SECOND } from "../../kit/clock.ts";
import { type Check, createFault, createPass } from "./checks.ts";
import type { Config } from "../../config/config.ts";
import { diagnoseAddress, type Service } from "./address-diagnosis.ts";

const MOST_SKEW_MS = 60 * SECOND;

/** Checks this machine's clock against that of a server. */
export const checkClock = (url: string, aheadMs: number): Check => {
  const seconds = Math.round(Math.abs(aheadMs) / SECOND);
  if (Math.abs(aheadMs) <= MOST_SKEW_MS)
    return createPass("clock", `within ${seconds} s of ${url}`);
  const found = `${url} is ${seconds} s ${aheadMs > 0 ? "ahead" : "behind"}`;
  return createFault("clock", found, "Set this machine's clock.");
};

const NAMES: Record<Service, string> = { gateway: "gateway", export: "export_service" };

const checkAddress = async (service: Service, url: string, config: Config): Promise<Check[]> => {
  const { ok, found, hint, aheadMs } = await diagnoseAddress(url, service, config);
  const clock = aheadMs === undefined ? [] : [checkClock(url, aheadMs)];
  const name = NAMES[service];
  return [ok ? createPass(name, found, hint) : createFault(name, found, hint ?? ""), ...clock];
};

/** Checks that each address is the platform's, that the way is encrypted, and that the clocks agree. */
export const checkAddresses = async (config: Config): Promise<Check[]> => {
  const { remote } = config;
  if (remote === undefined) return [createPass("gateway", "embedded in this program")];
  const gateway = await checkAddress("gateway", remote.gateway, config);
  if (remote.export === remote.gateway) return gateway;
  return [...gateway, ...(await checkAddress("export", remote.export, config))];
};
