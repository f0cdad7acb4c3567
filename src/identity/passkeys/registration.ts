import { createPublicKey } from 'node:crypto'
import type { z } from 'zod'
import type { RelyingParty } from '../../ports/relying-party.ts'
import type { PasskeyAlgorithm, PasskeyPublicJwk } from './passkey.ts'
import type { RegistrationCredential } from './schemas.ts'
import { decodeBase64url, parseClientData, webauthnLibrary } from './webauthn.ts'

type Response = z.output<typeof RegistrationCredential>

export interface NewPasskeyCredential extends EnrolledKey {
  readonly credentialId: string
  readonly publicKey: string
  readonly counter: number
  readonly backupEligible: boolean
  readonly backedUp: boolean
  readonly aaguid: string
  readonly transports: string[]
}

type RegistrationCode = 'registration_malformed' | 'registration_invalid'

export async function checkRegistration(
  response: Response,
  challenge: string,
  party: RelyingParty,
): Promise<NewPasskeyCredential | RegistrationCode> {
  const { verifyRegistrationResponse } = await webauthnLibrary()
  const clientData = parseClientData(response.response.clientDataJSON)
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
 * Reads the public key of an attestation; undefined if unreadable. The service requests no attestation and
 * refuses those with certificates: to verify them, the library would call addresses that the certificates
 * name.
 */
async function keyIn(attestation: string): Promise<ReadonlyMap<number, unknown> | 'attested' | undefined> {
  const { decodeAttestationObject, decodeCredentialPublicKey, parseAuthenticatorData } =
    await webauthnLibrary()
  try {
    const decoded = decodeAttestationObject(decodeBase64url(attestation))
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

/** Some devices sign with the new key itself, although no attestation was requested. */
const isSelfAttested = (decoded: { get(name: 'fmt'): string; get(name: 'attStmt'): unknown }): boolean => {
  const statement = decoded.get('attStmt')
  return decoded.get('fmt') === 'packed' && statement instanceof Map && !statement.has('x5c')
}

/**
 * Some browsers report whether the device stores the credential. It must, because sign-in starts with the
 * stored credential.
 */
const isNotDiscoverable = ({ clientExtensionResults }: Response): boolean =>
  clientExtensionResults?.credProps?.rk === false

/** The algorithm numbers in COSE (RFC 9053), in the order of preference. */
export const COSE_ALGORITHMS: Readonly<Record<PasskeyAlgorithm, number>> = {
  Ed25519: -8,
  ES256: -7,
  RS256: -257,
}

const KTY = 1
const ALG = 3
const CRV = -1

interface EnrolledKey {
  readonly algorithm: PasskeyAlgorithm
  readonly jwk: PasskeyPublicJwk
}

type Members = ReadonlyMap<number, unknown>

const text = (value: unknown): string => Buffer.from(value as Uint8Array).toString('base64url')
const isLong = (value: unknown, least: number, most = least): boolean =>
  value instanceof Uint8Array && value.length >= least && value.length <= most

/**
 * Reads the key as a JWK, by algorithm; undefined if it is not accepted. RSA exponents must be short, since
 * long ones cost the service computing time.
 */
const readers: Readonly<Record<PasskeyAlgorithm, (key: Members) => PasskeyPublicJwk | undefined>> = {
  Ed25519: key =>
    key.get(KTY) === 1 && key.get(CRV) === 6 && isLong(key.get(-2), 32)
      ? { kty: 'OKP', crv: 'Ed25519', x: text(key.get(-2)) }
      : undefined,
  ES256: key =>
    key.get(KTY) === 2 && key.get(CRV) === 1 && isLong(key.get(-2), 32) && isLong(key.get(-3), 32)
      ? { kty: 'EC', crv: 'P-256', x: text(key.get(-2)), y: text(key.get(-3)) }
      : undefined,
  RS256: key =>
    key.get(KTY) === 3 && isLong(key.get(-1), 256, 512) && isLong(key.get(-2), 1, 4)
      ? { kty: 'RSA', n: text(key.get(-1)), e: text(key.get(-2)) }
      : undefined,
}

function enrolledKeyOf(key: Members): EnrolledKey | undefined {
  const [algorithm] = Object.entries(COSE_ALGORITHMS).find(([, number]) => number === key.get(ALG)) ?? []
  if (!algorithm) return undefined
  const jwk = readers[algorithm as PasskeyAlgorithm](key)
  return jwk && isKey(jwk) ? { algorithm: algorithm as PasskeyAlgorithm, jwk } : undefined
}

function isKey(key: PasskeyPublicJwk): boolean {
  try {
    createPublicKey({ key: { ...key }, format: 'jwk' })
    return true
  } catch {
    return false
  }
}
