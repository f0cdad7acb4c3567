import type { z } from 'zod'
import type { RelyingParty } from '../../ports/relying-party.ts'
import { clientDataOf } from './client-data.ts'
import { COSE_ALGORITHMS, type EnrolledKey, enrolledKeyOf } from './cose-key.ts'
import type { Registration } from './schemas.ts'
import { bytesOf, webauthnLibrary } from './webauthn.ts'

type Response = z.output<typeof Registration>

/** A new credential on a device, as it is enrolled. */
export interface NewCredential extends EnrolledKey {
  readonly credentialId: string
  readonly publicKey: string
  readonly counter: number
  readonly backupEligible: boolean
  readonly backedUp: boolean
  readonly aaguid: string
  readonly transports: string[]
}

export type RegistrationCode = 'registration_malformed' | 'registration_invalid'

/** Checks a new credential against the challenge and the site for which it was made. */
export async function checkRegistration(
  response: Response,
  challenge: string,
  party: RelyingParty,
): Promise<NewCredential | RegistrationCode> {
  const { verifyRegistrationResponse } = await webauthnLibrary()
  const clientData = clientDataOf(response.response.clientDataJSON)
  const key = clientData && (await keyIn(response.response.attestationObject))
  if (!clientData || !key) return 'registration_malformed'
  if (key === 'attested' || clientData.crossOrigin || isNotDiscoverable(response))
    return 'registration_invalid'
  const enrolled = enrolledKeyOf(key)
  if (!enrolled) return 'registration_invalid'
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as unknown as Parameters<typeof verifyRegistrationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: [...party.origins],
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: Object.values(COSE_ALGORITHMS),
    })
    return verified ? { ...enrolled, ...newCredentialOf(registrationInfo, response) } : 'registration_invalid'
  } catch {
    return 'registration_invalid'
  }
}

type Info = NonNullable<
  Awaited<
    ReturnType<typeof import('@simplewebauthn/server')['verifyRegistrationResponse']>
  >['registrationInfo']
>

const newCredentialOf = (
  { credential, credentialDeviceType, credentialBackedUp, aaguid }: Info,
  { response }: Response,
) => ({
  credentialId: credential.id,
  publicKey: Buffer.from(credential.publicKey).toString('base64url'),
  counter: credential.counter,
  backupEligible: credentialDeviceType === 'multiDevice',
  backedUp: credentialBackedUp,
  aaguid,
  transports: response.transports ?? [],
})

/**
 * The public key in an attestation; undefined where it cannot be read. We ask for no attestation, and one with certificates
 * is refused: to check it, the library would call addresses that the certificates name.
 */
async function keyIn(attestation: string): Promise<ReadonlyMap<number, unknown> | 'attested' | undefined> {
  const { decodeAttestationObject, decodeCredentialPublicKey, parseAuthenticatorData } =
    await webauthnLibrary()
  try {
    const decoded = decodeAttestationObject(bytesOf(attestation))
    const { credentialPublicKey } = parseAuthenticatorData(decoded.get('authData'))
    if (!credentialPublicKey) return undefined
    const key: unknown = decodeCredentialPublicKey(credentialPublicKey)
    if (!(key instanceof Map)) return undefined
    const isPlain = decoded.get('fmt') === 'none' || isSelfAttested(decoded)
    return isPlain ? key : 'attested'
  } catch {
    return undefined
  }
}

/** Some devices sign with the new key itself, although nobody has asked for that. */
const isSelfAttested = (decoded: { get(name: 'fmt'): string; get(name: 'attStmt'): unknown }): boolean => {
  const statement = decoded.get('attStmt')
  return decoded.get('fmt') === 'packed' && statement instanceof Map && !statement.has('x5c')
}

/** Browsers that know say whether the device keeps the credential by itself. We require it, as signing in begins with it. */
const isNotDiscoverable = ({ clientExtensionResults }: Response): boolean =>
  clientExtensionResults?.credProps?.rk === false
