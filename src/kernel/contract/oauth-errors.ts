import type { RefusalSpec } from './operation.ts'

/**
 * Refusals of RFC 6749, 7591, 8628, 8707 and 9449. Clients compare the body's `error` with the code, so the code alone is
 * the message.
 */
export const oauthErrors = {
  authorization_pending: [400, 'authorization_pending'],
  slow_down: [400, 'slow_down'],
  access_denied: [400, 'access_denied'],
  expired_token: [400, 'expired_token'],
  invalid_grant: [400, 'invalid_grant'],
  unsupported_grant_type: [400, 'unsupported_grant_type'],
  invalid_target: [400, 'invalid_target'],
  /** With 400 where tokens are issued; where a proof authenticates a request, the problem of this name is a 401. */
  invalid_dpop_proof: [400, 'invalid_dpop_proof'],
  invalid_redirect_uri: [400, 'invalid_redirect_uri'],
} as const satisfies Record<string, RefusalSpec>
