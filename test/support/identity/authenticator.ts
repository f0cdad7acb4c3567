import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { cbor } from './cbor.ts'

/** Deviations of a device from a correct one. */
export interface Manner {
  readonly origin?: string
  readonly crossOrigin?: boolean
  readonly rpId?: string
  readonly isPresent?: boolean
  readonly isVerified?: boolean
  readonly backupEligible?: boolean
  readonly backedUp?: boolean
  readonly counter?: number
  readonly challenge?: string
  readonly type?: string
  readonly userHandle?: string | null
  /** Changes the client data before it is signed. */
  readonly clientData?: (members: Record<string, unknown>) => string | Uint8Array
  /** Changes the authenticator data before it is signed. */
  readonly authenticatorData?: (data: Buffer) => Buffer
}

interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}

interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
}

export type AuthenticatorAlgorithm = 'ES256' | 'Ed25519' | 'RS256'

const b64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url')
const digest = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest()

const newKeys: Readonly<
  Record<AuthenticatorAlgorithm, () => { publicKey: KeyObject; privateKey: KeyObject }>
> = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  Ed25519: () => generateKeyPairSync('ed25519'),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2_048 }),
}

/** The public key in COSE format (RFC 9053). */
export function coseKeyOf(key: KeyObject): Map<number, unknown> {
  const { kty, x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' })
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  if (kty === 'EC')
    return new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ])
  if (kty === 'OKP')
    return new Map<number, unknown>([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ])
  return new Map<number, unknown>([
    [1, 3],
    [3, -257],
    [-1, bytes(n)],
    [-2, bytes(e)],
  ])
}

/** A software authenticator with one credential, which signs everything it is given. */
export class Authenticator {
  readonly credentialId = b64(randomBytes(16))
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject }
  readonly #manner: Manner
  #userHandle = ''
  /** Zero, as for a synced passkey, unless overridden. */
  counter = 0

  constructor({ algorithm = 'ES256', ...manner }: Manner & { algorithm?: AuthenticatorAlgorithm } = {}) {
    this.#keys = newKeys[algorithm]()
    this.#manner = manner
  }

  get publicKeyJwk() {
    return this.#keys.publicKey.export({ format: 'jwk' })
  }

  /** The answer to `navigator.credentials.create`, in JSON. */
  register(options: CreationOptions, manner: Manner & { coseKey?: unknown; fmt?: string } = {}) {
    const how = { rpId: options.rp.id, challenge: options.challenge, ...this.#manner, ...manner }
    this.#userHandle = options.user.id
    const id = Buffer.from(this.credentialId, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const key = cbor(manner.coseKey ?? coseKeyOf(this.#keys.publicKey))
    const attested = Buffer.concat([Buffer.alloc(16), length, id, key])
    const data = Buffer.concat([this.#head(how, 0x40), attested])
    const authData = how.authenticatorData?.(data) ?? data
    const object = new Map<string, unknown>([
      ['fmt', manner.fmt ?? 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ])
    return {
      id: this.credentialId,
      rawId: this.credentialId,
      type: 'public-key' as const,
      response: {
        clientDataJSON: b64(clientDataOf('webauthn.create', how)),
        attestationObject: b64(cbor(object)),
        transports: ['internal'],
      },
      clientExtensionResults: { credProps: { rk: true } },
      authenticatorAttachment: 'platform',
    }
  }

  /** The answer to `navigator.credentials.get`, in JSON. */
  assert(options: RequestOptions, manner: Manner = {}) {
    const how = { rpId: options.rpId, challenge: options.challenge, ...this.#manner, ...manner }
    const data = this.#head(how, 0)
    const authenticatorData = how.authenticatorData?.(data) ?? data
    const clientData = clientDataOf('webauthn.get', how)
    const signed = Buffer.concat([authenticatorData, digest(clientData)])
    const userHandle = how.userHandle === undefined ? this.#userHandle : how.userHandle
    return {
      id: this.credentialId,
      rawId: this.credentialId,
      type: 'public-key' as const,
      response: {
        clientDataJSON: b64(clientData),
        authenticatorData: b64(authenticatorData),
        signature: b64(this.#sign(signed)),
        ...(userHandle ? { userHandle } : {}),
      },
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
    }
  }

  #sign(bytes: Buffer): Buffer {
    return sign(
      this.#keys.privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256',
      bytes,
      this.#keys.privateKey,
    )
  }

  #head(how: Manner & { rpId: string }, more: number): Buffer {
    const { isPresent = true, isVerified = true, backupEligible = true, backedUp = backupEligible } = how
    const flags =
      (isPresent ? 1 : 0) | (isVerified ? 4 : 0) | (backupEligible ? 8 : 0) | (backedUp ? 16 : 0) | more
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(how.counter ?? this.counter)
    return Buffer.concat([digest(how.rpId), Buffer.from([flags]), counter])
  }
}

function clientDataOf(usual: string, how: Manner & { challenge: string }): Buffer {
  const { type = usual, challenge, origin = 'http://localhost', crossOrigin = false } = how
  const members = { type, challenge, origin, crossOrigin }
  return Buffer.from(how.clientData?.(members) ?? JSON.stringify(members))
}
