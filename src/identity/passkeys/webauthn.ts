import type { RelyingParty } from '../../ports/relying-party.ts'
import type { AuthenticatorState, PasskeyRow } from './passkey.ts'
import type { WebauthnAssertion } from './schemas.ts'

type Library = typeof import('@simplewebauthn/server') & typeof import('@simplewebauthn/server/helpers')

let library: Promise<Library> | undefined

/** Loads the library on demand: it takes a sixth of a second, and processes without passkeys do not need it. */
export function webauthnLibrary(): Promise<Library> {
  library ??= Promise.all([import('@simplewebauthn/server'), import('@simplewebauthn/server/helpers')]).then(
    ([server, helpers]) => ({ ...server, ...helpers }),
  )
  return library
}

type Signed =
  | { readonly is: 'genuine'; readonly challenge: string; readonly device: AuthenticatorState }
  | { readonly is: 'invalid' }
  | { readonly is: 'malformed' }

export const decodeBase64url = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, 'base64url'))

const MALFORMED = { is: 'malformed' } as const
const INVALID = { is: 'invalid' } as const

type Credential = Pick<PasskeyRow, 'credentialId' | 'publicKey' | 'personId'>

/**
 * Checks an assertion with the passkey that it names, if that exists. The counter is checked once the passkey
 * is locked.
 */
export async function checkAssertion(
  { assertion }: WebauthnAssertion,
  passkey: Credential | undefined,
  party: RelyingParty,
): Promise<Signed> {
  const { clientDataJSON, authenticatorData, userHandle } = assertion.response
  const { parseAuthenticatorData, verifyAuthenticationResponse } = await webauthnLibrary()
  const clientData = parseClientData(clientDataJSON)
  if (!clientData) return MALFORMED
  try {
    parseAuthenticatorData(decodeBase64url(authenticatorData))
  } catch {
    return MALFORMED
  }
  const isOf =
    !userHandle ||
    (passkey && Buffer.from(userHandle, 'base64url').equals(webauthnUserHandle(passkey.personId)))
  if (!passkey || !isOf || clientData.crossOrigin) return INVALID
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: assertion as unknown as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: () => true,
      expectedOrigin: [...party.origins],
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: decodeBase64url(passkey.publicKey),
        counter: NOT_COMPARED,
      },
    })
    const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo
    return verified
      ? { is: 'genuine', challenge: clientData.challenge, device: { counter, backedUp } }
      : INVALID
  } catch {
    return INVALID
  }
}

/**
 * Below every counter: the counter is compared under the lock, because other requests may use the passkey at
 * the same time.
 */
const NOT_COMPARED = -1

/** The user handle on devices. It is the person's id, which never changes. */
export const webauthnUserHandle = (personId: string): Buffer => Buffer.from(personId)

/** The signed client data, which says which page requested the signature. Unknown members are ignored. */
interface ClientData {
  readonly type: string
  readonly challenge: string
  readonly origin: string
  readonly crossOrigin: boolean
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function parseClientData(encoded: string): ClientData | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(encoded, 'base64url')))
    if (typeof value !== 'object' || value === null) return undefined
    const { type, challenge, origin, crossOrigin = false } = value as Partial<ClientData>
    const isText = [type, challenge, origin].every(member => typeof member === 'string')
    if (!isText || typeof crossOrigin !== 'boolean') return undefined
    return { type, challenge, origin, crossOrigin } as ClientData
  } catch {
    return undefined
  }
}
