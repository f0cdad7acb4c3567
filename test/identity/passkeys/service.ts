import { beforeEach } from '@jest/globals'
import { clientAt } from '../../support/client.ts'
import type { TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import type { Manner } from '../../support/identity/authenticator.ts'
import { assertion, type Enrolled, enrolled } from '../../support/identity/people.ts'

export const ORIGIN = 'https://pay.example'

/** The service of all passkey tests: two processes under one address. */
export const service = await startTestService({
  env: { PUBLIC_URL: ORIGIN, PASSKEY_ORIGINS: 'https://shop.example' },
})
// All requests of these tests come from one address.
beforeEach(() => service.sql('delete from wrong_guesses'))
const otherUrl = await service.another()
export const inOtherProcess = (token: string): TestClient => clientAt({ url: otherUrl, token })

/** An account with two passkeys, of an owner and of another person. */
export async function anAccount() {
  const owner = await service.owner()
  const one = await enrolled(service, owner)
  const other = await enrolled(service, owner, { by: one })
  return { owner, client: owner.client, one, other }
}

/** The body by which `signer` revokes a passkey. */
export const toRevoke = async (
  client: TestClient,
  signer: Pick<Enrolled, 'device'>,
  subject: string,
  manner: Manner = {},
) => ({ webauthnAssertion: await assertion(client, signer, { purpose: 'revocation', subject }, manner) })

export type Account = Awaited<ReturnType<typeof anAccount>>

/** Whether the passkey still works. */
export async function isActive({ client }: Pick<Account, 'client'>, passkeyId: string): Promise<boolean> {
  const { body } = await client.passkeys.list({ query: { status: 'active' } })
  return body.data.some(({ id }) => id === passkeyId)
}

/** `401 assertion_invalid` */
export const told = ({ status, code }: { status: number; code: string | undefined }): string =>
  code ? `${status} ${code}` : String(status)
