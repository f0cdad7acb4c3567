import { type CipherGCM, createCipheriv, webcrypto } from 'node:crypto'
import { join } from 'node:path'
import type { FileOwner } from '../../ports/files.ts'
import type { Vault } from '../../ports/vault.ts'

/** On the same file system as the stored files, so that a rename names them atomically. */
export const STAGING_FOLDER = '.staged'

export interface FileIdentity extends FileOwner {
  readonly sha256?: string
}

/** Copies only these members: other members of a tenant must not enter the context. */
export const fileIdentity = ({ ownerId, mode }: FileOwner, sha256: string): Required<FileIdentity> => ({
  ownerId,
  mode,
  sha256,
})

/** Binds a sealed key, or the tag of a head, to this file. */
export const encryptionContext = ({ ownerId, mode, sha256 }: FileIdentity): string =>
  `file:${ownerId}/${mode}${sha256 === undefined ? '' : `/${sha256}`}`

export function objectKey({ ownerId, mode }: FileOwner, sha256: string): string {
  if (!/^\w[\w.:@-]{0,127}$/.test(ownerId) || !/^(test|live)$/.test(mode) || !/^[\da-f]{64}$/.test(sha256))
    throw new Error('this names no file')
  return `${ownerId}/${mode}/${sha256}`
}

/** The file's path, and the folders that lead to it. Validated, so that input from outside cannot leave the folder. */
export function storedFilePath(folder: string, owner: FileOwner, sha256: string) {
  objectKey(owner, sha256)
  const { ownerId, mode } = owner
  const ofOwner = join(folder, ownerId)
  const ofMode = join(ofOwner, mode)
  return { file: join(ofMode, sha256), ofOwner, ofMode }
}

/**
 * The format on disk: a head, then pieces of at most 1 MiB, each with its tag, encrypted with a key of this
 * file only. The head contains the length, the key, sealed by the vault for this owner and mode, and a tag by
 * that key over length, owner, mode and the digest of the content. So the head can be written last, and the
 * file opens nowhere else. A piece's nonce is its number, so no piece can be left out, exchanged or cut off.
 */
const MAGIC = Buffer.from('APF2')
/** The format of files written before heads could be written last. */
const OLD_MAGIC = Buffer.from('APF1')
export const CHUNK_BYTES = 1_048_576
export const AUTH_TAG_BYTES = 16
const FIXED = MAGIC.length + 2 + 6
/** The piece number used for the tag of the head: no file has so many pieces. */
const HEAD_TAG_INDEX = 0xff_ff_ff_ff

const NONCE = 12

export const chunkCount = (size: number): number => Math.max(1, Math.ceil(size / CHUNK_BYTES))

function nonceOf(index: number): Uint8Array {
  const nonce = Buffer.alloc(NONCE)
  nonce.writeUInt32BE(index, 0)
  return nonce
}

function fixedPart(size: number, keyLength: number): Uint8Array {
  const fixed = Buffer.alloc(FIXED)
  MAGIC.copy(fixed)
  fixed.writeUInt16BE(keyLength, MAGIC.length)
  fixed.writeUIntBE(size, MAGIC.length + 2, 6)
  return new Uint8Array(fixed)
}

const KEY = 32
const { subtle } = webcrypto

export interface EncryptedFileHeader {
  readonly key: webcrypto.CryptoKey
  readonly size: number
  readonly begin: number
  readonly nonce: (index: number) => Uint8Array
  readonly aad: Uint8Array
}

export interface FileDataKey {
  readonly secret: Uint8Array
  readonly sealed: Uint8Array
  readonly context: FileIdentity
}

/** Made before the content is known: the head names the content later, authenticated by this key. */
export function newFileDataKey(context: FileIdentity, vault: Vault): FileDataKey {
  const secret = webcrypto.getRandomValues(new Uint8Array(KEY))
  const sealed = vault.seal(Buffer.from(secret).toString('base64'), encryptionContext(context))
  return { secret, sealed: new Uint8Array(Buffer.from(sealed)), context }
}

const importKey = (key: Uint8Array, use: 'encrypt' | 'decrypt') =>
  subtle.importKey('raw', key, 'AES-GCM', false, [use])

/** For a file whose bytes are all in memory; encryption runs in Node's own threads. */
export async function encryptFile(
  bytes: Uint8Array,
  sha256: string,
  seal: FileDataKey,
): Promise<Uint8Array[]> {
  const key = await importKey(seal.secret, 'encrypt')
  const encrypt = async (plain: Uint8Array, iv: Uint8Array, additionalData: Uint8Array) =>
    new Uint8Array(await subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, plain))
  const fixed = fixedPart(bytes.length, seal.sealed.length)
  const sign = await encrypt(NOTHING, nonceOf(HEAD_TAG_INDEX), headTagData(fixed, seal.context, sha256))
  const pieces = Array.from({ length: chunkCount(bytes.length) }, (_, index) =>
    encrypt(bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES), nonceOf(index), NOTHING),
  )
  return [fixed, seal.sealed, sign, ...(await Promise.all(pieces))]
}

const NOTHING = new Uint8Array(0)

const headTagData = (fixed: Uint8Array, context: FileIdentity, sha256: string): Uint8Array =>
  new Uint8Array(Buffer.concat([fixed, Buffer.from(encryptionContext({ ...context, sha256 }))]))

export const MAX_HEADER_BYTES = 512

/** Undefined if this is no sealed file. Throws if it is the head of another file. */
export async function readFileHeader(start: Buffer, context: Required<FileIdentity>, vault: Vault) {
  const magic = start.subarray(0, MAGIC.length)
  if (start.length < FIXED) return undefined
  if (magic.equals(OLD_MAGIC)) return openOldHead(start, context, vault)
  if (!magic.equals(MAGIC)) return undefined
  const { sealed, size, end } = partsOf(start)
  const { sha256, ...of } = context
  const key = await importKey(Buffer.from(vault.open(sealed, encryptionContext(of)), 'base64'), 'decrypt')
  const sign = start.subarray(end, end + AUTH_TAG_BYTES)
  const additionalData = headTagData(start.subarray(0, FIXED), of, sha256)
  await subtle.decrypt({ name: 'AES-GCM', iv: nonceOf(HEAD_TAG_INDEX), additionalData }, key, sign)
  return {
    key,
    size,
    begin: end + AUTH_TAG_BYTES,
    nonce: nonceOf,
    aad: NOTHING,
  } satisfies EncryptedFileHeader
}

function partsOf(start: Buffer) {
  const end = FIXED + start.readUInt16BE(MAGIC.length)
  return { sealed: start.toString('utf8', FIXED, end), size: start.readUIntBE(MAGIC.length + 2, 6), end }
}

/** The first format: the key is sealed for the content, and each piece's nonce says whether it is the last. */
async function openOldHead(
  start: Buffer,
  context: Required<FileIdentity>,
  vault: Vault,
): Promise<EncryptedFileHeader> {
  const { sealed, size, end } = partsOf(start)
  const key = await importKey(
    Buffer.from(vault.open(sealed, encryptionContext(context)), 'base64'),
    'decrypt',
  )
  const nonce = (index: number): Uint8Array => {
    const bytes = nonceOf(index)
    bytes[bytes.length - 1] = index === chunkCount(size) - 1 ? 1 : 0
    return bytes
  }
  return { key, size, begin: end, nonce, aad: Uint8Array.from(start.subarray(0, FIXED)) }
}

export async function decryptChunk(
  { key, nonce, aad }: EncryptedFileHeader,
  index: number,
  sealed: Uint8Array,
) {
  const algorithm = { name: 'AES-GCM', iv: nonce(index), additionalData: aad }
  return new Uint8Array(await subtle.decrypt(algorithm, key, sealed))
}

/** Seals a file while it arrives. It encrypts in the calling thread. */
export class FileEncryptor {
  readonly #seal: FileDataKey
  #piece: CipherGCM
  #index = 0
  #filled = 0
  #size = 0

  constructor(seal: FileDataKey) {
    this.#seal = seal
    this.#piece = this.#cipher(0)
  }

  get begin(): number {
    return FIXED + this.#seal.sealed.length + AUTH_TAG_BYTES
  }

  add(bytes: Uint8Array): Uint8Array[] {
    const parts: Uint8Array[] = []
    for (let rest = bytes; rest.length > 0; ) {
      if (this.#filled === CHUNK_BYTES) parts.push(...this.#endPiece())
      const some = rest.subarray(0, CHUNK_BYTES - this.#filled)
      parts.push(this.#piece.update(some))
      this.#filled += some.length
      rest = rest.subarray(some.length)
    }
    this.#size += bytes.length
    return parts
  }

  #endPiece(): Uint8Array[] {
    const parts = this.#lastPart()
    this.#index++
    this.#filled = 0
    this.#piece = this.#cipher(this.#index)
    return parts
  }

  #lastPart(): Uint8Array[] {
    return [this.#piece.final(), this.#piece.getAuthTag()].filter(({ length }) => length > 0)
  }

  end(sha256: string): { readonly last: Uint8Array[]; readonly head: Uint8Array[] } {
    const { sealed, context } = this.#seal
    const fixed = fixedPart(this.#size, sealed.length)
    const sign = this.#cipher(HEAD_TAG_INDEX).setAAD(headTagData(fixed, context, sha256))
    sign.final()
    return { last: this.#lastPart(), head: [fixed, sealed, sign.getAuthTag()] }
  }

  #cipher(index: number): CipherGCM {
    return createCipheriv('aes-256-gcm', this.#seal.secret, nonceOf(index), { authTagLength: AUTH_TAG_BYTES })
  }
}
