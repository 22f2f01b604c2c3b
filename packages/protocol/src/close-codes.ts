// Why a connection ends. 44xx: do not come back as you are; 45xx: come back.

export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  badText: 1007,
  badFrame: 4400,
  unauthorised: 4401,
  forbidden: 4403,
  unsupportedProtocol: 4406,
  replaced: 4409,
  abuse: 4429,
  internal: 4500,
  draining: 4503,
  tooSlow: 4508,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

/** Whether a client should reconnect after this code. [X0-9-5] */
export function mayComeBack(code: number): boolean {
  // 4401 once, with a new token: the client's business.
  return code < 4400 || code >= 4500;
}
