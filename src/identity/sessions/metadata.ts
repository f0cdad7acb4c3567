import { scopes } from '../../kernel/contract/scopes.ts'
import { proofAlgorithms } from '../../values/proof-key.ts'
import { DEVICE_GRANT } from './device-api.ts'

/** What programs that know OAuth want to be told (RFC 8414). Clients are not registered, and nobody is redirected. */
export const metadataOf = (issuer: string) => ({
  issuer,
  device_authorization_endpoint: `${issuer}/sessions/device`,
  token_endpoint: `${issuer}/sessions/token`,
  token_endpoint_auth_methods_supported: ['none'],
  grant_types_supported: [DEVICE_GRANT],
  response_types_supported: [],
  scopes_supported: [...scopes],
  dpop_signing_alg_values_supported: [...proofAlgorithms],
  code_challenge_methods_supported: ['S256'],
  pairing_endpoint: `${issuer}/cli/auth/start`,
  pairing_token_endpoint: `${issuer}/cli/auth/token`,
  service_documentation: `${issuer}/docs`,
})
