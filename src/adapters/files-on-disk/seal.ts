import { randomBytes, webcrypto } from 'node:crypto'
import type { Vault } from '../../ports/vault.ts'

/**
 * How a file lies on the disk: its head, then pieces of at most 1 MiB, each with its tag. The head holds the file's own
 * key, sealed by the vault for this owner, mode and content, so that it opens nowhere else. A piece's nonce is its number and
 * whether it is the last: none can be left out, exchanged or cut off.
 */
const MAGIC = Buffer.from('APF1')
export const PIECE = 1_048_576
export const TAG = 16
const NONCE = 12
const KEY = 32
/** The magic, the length of the sealed key, the length of the content. */
const FIXED = MAGIC.length + 2 + 6

const { subtle } = webcrypto

export interface Head {
  readonly key: webcrypto.CryptoKey
  readonly size: number
  /** Where the pieces begin. */
  readonly begin: number
}

export const piecesOf = (size: number): number => Math.max(1, Math.ceil(size / PIECE))

const importKey = (key: Uint8Array, use: 'encrypt' | 'decrypt') =>
  subtle.importKey('raw', key, 'AES-GCM', false, [use])

function nonceOf(index: number, count: number): Uint8Array {
  const nonce = Buffer.alloc(NONCE)
  nonce.writeUInt32BE(index, 0)
  nonce.writeUInt8(index === count - 1 ? 1 : 0, NONCE - 1)
  return nonce
}

/** What a file begins with, and the key of this one file alone. */
export interface Seal {
  readonly fixed: Uint8Array
  readonly sealed: Uint8Array
  readonly secret: Uint8Array
}

export function newSeal(size: number, context: string, vault: Vault): Seal {
  const secret = new Uint8Array(randomBytes(KEY))
  const sealed = new Uint8Array(Buffer.from(vault.seal(Buffer.from(secret).toString('base64'), context)))
  const fixed = Buffer.alloc(FIXED)
  MAGIC.copy(fixed)
  fixed.writeUInt16BE(sealed.length, MAGIC.length)
  fixed.writeUIntBE(size, MAGIC.length + 2, 6)
  return { fixed: new Uint8Array(fixed), sealed, secret }
}

/** The parts of a file as they are written; encrypting runs in threads of Node's own. */
export async function sealFile(bytes: Uint8Array, { fixed, sealed, secret }: Seal): Promise<Uint8Array[]> {
  const key = await importKey(secret, 'encrypt')
  const count = piecesOf(bytes.length)
  const pieces = Array.from({ length: count }, async (_, index) => {
    const plain = bytes.subarray(index * PIECE, (index + 1) * PIECE)
    const algorithm = { name: 'AES-GCM', iv: nonceOf(index, count), additionalData: fixed }
    return new Uint8Array(await subtle.encrypt(algorithm, key, plain))
  })
  return [fixed, sealed, ...(await Promise.all(pieces))]
}

/** How many bytes of a file must be read to know its head, at least: a sealed key is far shorter than the rest of it. */
export const HEAD_ROOM = 512

/** The head of a file; undefined where this is none. */
export async function openHead(start: Buffer, context: string, vault: Vault): Promise<Head | undefined> {
  if (start.length < FIXED || !start.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  const begin = FIXED + start.readUInt16BE(MAGIC.length)
  if (start.length < begin) return undefined
  const secret = vault.open(start.subarray(FIXED, begin).toString(), context)
  const key = await importKey(Buffer.from(secret, 'base64'), 'decrypt')
  return { key, size: start.readUIntBE(MAGIC.length + 2, 6), begin }
}

/** A piece as it was; throws where it is not as written. */
export async function openPiece({ key, size }: Head, index: number, fixed: Uint8Array, sealed: Uint8Array) {
  const algorithm = { name: 'AES-GCM', iv: nonceOf(index, piecesOf(size)), additionalData: fixed }
  return new Uint8Array(await subtle.decrypt(algorithm, key, sealed))
}

export const fixedOf = (start: Uint8Array): Uint8Array => start.subarray(0, FIXED)
