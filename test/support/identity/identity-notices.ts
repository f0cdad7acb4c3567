import { signIdentityNotice } from '../../../src/adapters/identity-verification/sandbox.ts'
import type { IdentityNotice } from '../../../src/ports/identity-verification.ts'
import { deriveSecrets } from '../../../src/ports/vault.ts'
import { ENCRYPTION_KEY, type HttpResponse, type TestService } from '../harness.ts'

export const notice = (reference: string, status: IdentityNotice['status']): IdentityNotice => ({
  reference,
  status,
})

/** A notice signed by the simulated provider. */
export function tell(
  service: TestService,
  told: IdentityNotice,
  secret = ENCRYPTION_KEY,
): Promise<HttpResponse> {
  const { body, headers } = signIdentityNotice(deriveSecrets('sandbox identity notices', secret), told)
  return service.http('POST', '/rails/identity-verification', { headers, body })
}
