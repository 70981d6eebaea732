import type { Person, TestPlatform } from "./platform.ts";

export const login = (at: TestPlatform, who: Pick<Person, "email" | "password">) =>
  at.call("POST", "/authentication/v1/login", {
    body: { email: who.email, password: who.password },
  });

export const tokenOf = async (at: TestPlatform, who: Person): Promise<string> =>
  (await login(at, who)).body.accessToken;

export const useToken = (at: TestPlatform, tenantId: string, token: string) =>
  at.call("GET", `/dispute/v1/tenants/${tenantId}/disputes`, {
    headers: { "X-Platform-Auth": token },
  });

export const verify = (at: TestPlatform, accessToken: unknown) =>
  at.call("POST", "/authentication/v1/verify-session", { body: { accessToken } });
