import type { Manner } from '../../support/identity/authenticator.ts'
import { anAccount, isActive, toRevoke } from './service.ts'

export type Envelope = Awaited<ReturnType<typeof toRevoke>>['webauthnAssertion']
export type Response = Envelope['assertion']['response']

export const b64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64url')
export const text = (encoded: string): string => Buffer.from(encoded, 'base64url').toString()

/** Sends the revocation of a passkey, signed by another one in this manner and modified on its way. */
export async function revoked(manner: Manner, change: (response: Response) => object = () => ({})) {
  const account = await anAccount()
  const { client, one, other } = account
  const { webauthnAssertion } = await toRevoke(client, other, one.passkeyId, manner)
  const { assertion: sent } = webauthnAssertion
  const response = { ...sent.response, ...change(sent.response) }
  const body = { webauthnAssertion: { ...webauthnAssertion, assertion: { ...sent, response } } }
  const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
  return {
    account,
    answer,
    wasRevoked: !(await isActive(account, one.passkeyId)),
    original: webauthnAssertion,
  }
}

/** Adds extension results to authenticator data. */
export const withExtensions = (extensions: Uint8Array) => (data: Buffer) => {
  const flagged = Buffer.from(data)
  flagged[32] = (flagged[32] as number) | 0x80
  return Buffer.concat([flagged, extensions])
}
