import { createHash, randomBytes } from 'node:crypto'
import type { areas } from '../../../src/areas.ts'
import { bodyOf, type TestClient } from '../factories.ts'
import type { Owner, TestService } from '../harness.ts'
import type { Authenticator } from './authenticator.ts'
import { type SignedIn, signedInTo } from './console.ts'
import { type Enrolled, enrolled, signed } from './people.ts'

export interface Terminal {
  readonly code: string
  readonly codeVerifier: string
  readonly pairingCode: string
  readonly url: string
}

export const s256 = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

export async function aTerminal(
  client: TestClient,
  deviceName = 'Ada’s laptop',
  toolWrites?: boolean,
): Promise<Terminal> {
  const codeVerifier = randomBytes(32).toString('base64url')
  const body = { codeChallenge: s256(codeVerifier), deviceName, ...(toolWrites ? { toolWrites } : {}) }
  return { ...(await bodyOf(client.cliAuth.start({ body }))), codeVerifier }
}

export async function approvePairing(client: TestClient, device: Authenticator, code: string) {
  const challenge = await bodyOf(client.cliAuth.challenge({ body: { code } }))
  return client.cliAuth.approve({ body: { code, webauthnAssertion: signed(challenge, device) } })
}

export async function aDoorkeeper(
  service: TestService,
  owner: Owner<typeof areas>,
  members: Parameters<typeof enrolled>[2] = {},
): Promise<Enrolled & { readonly console: SignedIn }> {
  const person = await enrolled(service, owner, members)
  return { ...person, console: await signedInTo(service, owner, { personId: person.personId }) }
}
