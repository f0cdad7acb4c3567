import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { z } from 'zod'

/** Encrypts secrets that must be read again, such as signing keys, with a key that is not in the database. */
export interface Vault {
  /**
   * `context` names the secret's purpose and owner (`webhook-secret:<id>`), so that a copy in another place
   * cannot be opened.
   */
  seal(plain: string, context: string): string
  open(sealed: string, context: string): string
  /**
   * Keyed digests for looking up secrets that are too short for a plain hash, which a copy of the database
   * would reveal. The first is of the current key, the others are of old keys.
   */
  digests(plain: string, purpose: string): readonly [string, ...string[]]
}

/** Parses 32 bytes from 64 hexadecimal digits or base64. */
export const vaultKeySchema = z.string().regex(/^([\da-fA-F]{64}|[\w+/-]{43}=?)$/)

const bytesOf = (key: string): Buffer => Buffer.from(key, key.length === 64 ? 'hex' : 'base64')

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals with the current key and opens with old keys too, so that the key can be rotated. */
export function openVault(encryptionKey: string, old: readonly string[] = []): Vault {
  const current = bytesOf(encryptionKey)
  const currentId = idOf(current)
  const byId = new Map([current, ...old.map(bytesOf)].map(key => [idOf(key), key]))
  const secretsFor = remembered(purpose => deriveSecrets(purpose, encryptionKey, old))
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, current, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(context))
      const text = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${currentId}.${text.toString('base64url')}`
    },
    open(sealed, context) {
      const [id = '', text = ''] = sealed.split('.')
      const key = byId.get(id)
      if (!key)
        throw new Error(`Sealed with key ${id}, which is neither ENCRYPTION_KEY nor one of the old keys.`)
      const bytes = Buffer.from(text, 'base64url')
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
      return Buffer.concat([plain, decipher.final()]).toString('utf8')
    },
    digests(plain, purpose) {
      const [first, ...others] = secretsFor(purpose)
      const digestBy = (secret: Uint8Array) => createHmac('sha256', secret).update(plain).digest('base64url')
      return [digestBy(first), ...others.map(digestBy)]
    },
  }
}

/** Unbounded: purposes are few, and fixed in the code. */
function remembered<Value>(make: (name: string) => Value): (name: string) => Value {
  const made = new Map<string, Value>()
  return name => {
    const value = made.get(name) ?? make(name)
    made.set(name, value)
    return value
  }
}

const idOf = (key: Uint8Array): string =>
  createHmac('sha256', key).update('key id').digest('base64url').slice(0, 8)

/** Secrets of one purpose, the same in every process: the current key's first, then those of the old keys. */
export const deriveSecrets = (
  purpose: string,
  encryptionKey: string,
  old: readonly string[] = [],
): readonly [Buffer, ...Buffer[]] => {
  const derive = (key: string) => Buffer.from(hkdfSync('sha256', bytesOf(key), '', purpose, 32))
  return [derive(encryptionKey), ...old.map(derive)]
}
