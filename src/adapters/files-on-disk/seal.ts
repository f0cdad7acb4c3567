import { webcrypto } from 'node:crypto'
import type { Vault } from '../../ports/vault.ts'
import { contextOf, type FileContext } from './paths.ts'
import { FIXED, FORMERLY, fixedPart, HEAD_SIGN, MAGIC, nonceOf, PIECE, piecesOf, TAG } from './shape.ts'

const KEY = 32
const { subtle } = webcrypto

export interface Head {
  readonly key: webcrypto.CryptoKey
  readonly size: number
  /** Where the pieces begin. */
  readonly begin: number
  /** The nonce of a piece, and what it was sealed with beside its bytes. */
  readonly nonce: (index: number) => Uint8Array
  readonly beside: Uint8Array
}

/** The key of one file alone, as it is and as it lies in the file. */
export interface Seal {
  readonly secret: Uint8Array
  readonly sealed: Uint8Array
  readonly context: FileContext
}

/** Made before anybody knows what is in the file: its head says it, signed by this key. */
export function newSeal(context: FileContext, vault: Vault): Seal {
  const secret = webcrypto.getRandomValues(new Uint8Array(KEY))
  const sealed = vault.seal(Buffer.from(secret).toString('base64'), contextOf(context))
  return { secret, sealed: new Uint8Array(Buffer.from(sealed)), context }
}

const importKey = (key: Uint8Array, use: 'encrypt' | 'decrypt') =>
  subtle.importKey('raw', key, 'AES-GCM', false, [use])

/** The parts of a file whose bytes are all there; encrypting runs in threads of Node's own. */
export async function sealFile(bytes: Uint8Array, sha256: string, seal: Seal): Promise<Uint8Array[]> {
  const key = await importKey(seal.secret, 'encrypt')
  const encrypt = async (plain: Uint8Array, iv: Uint8Array, additionalData: Uint8Array) =>
    new Uint8Array(await subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, plain))
  const fixed = fixedPart(bytes.length, seal.sealed.length)
  const sign = await encrypt(NOTHING, nonceOf(HEAD_SIGN), signedBeside(fixed, seal.context, sha256))
  const pieces = Array.from({ length: piecesOf(bytes.length) }, (_, index) =>
    encrypt(bytes.subarray(index * PIECE, (index + 1) * PIECE), nonceOf(index), NOTHING),
  )
  return [fixed, seal.sealed, sign, ...(await Promise.all(pieces))]
}

const NOTHING = new Uint8Array(0)

/** What the sign of a head vouches for: its length, whose file it is, and its content. */
export const signedBeside = (fixed: Uint8Array, context: FileContext, sha256: string): Uint8Array =>
  new Uint8Array(Buffer.concat([fixed, Buffer.from(contextOf({ ...context, sha256 }))]))

/** How many bytes of a file must be read to know its head, at least: a sealed key is far shorter than the rest of it. */
export const HEAD_ROOM = 512

/** The head of a file; undefined where this is none. Throws where it is another file's. */
export async function openHead(start: Buffer, context: Required<FileContext>, vault: Vault) {
  const magic = start.subarray(0, MAGIC.length)
  if (start.length < FIXED) return undefined
  if (magic.equals(FORMERLY)) return openFormerHead(start, context, vault)
  if (!magic.equals(MAGIC)) return undefined
  const { sealed, size, end } = partsOf(start)
  const { sha256, ...of } = context
  const key = await importKey(Buffer.from(vault.open(sealed, contextOf(of)), 'base64'), 'decrypt')
  const sign = start.subarray(end, end + TAG)
  const additionalData = signedBeside(start.subarray(0, FIXED), of, sha256)
  await subtle.decrypt({ name: 'AES-GCM', iv: nonceOf(HEAD_SIGN), additionalData }, key, sign)
  return { key, size, begin: end + TAG, nonce: nonceOf, beside: NOTHING } satisfies Head
}

function partsOf(start: Buffer) {
  const end = FIXED + start.readUInt16BE(MAGIC.length)
  return { sealed: start.toString('utf8', FIXED, end), size: start.readUIntBE(MAGIC.length + 2, 6), end }
}

/** A file of the first shape: its key is sealed for its content, and each piece's nonce says whether it is the last. */
async function openFormerHead(start: Buffer, context: Required<FileContext>, vault: Vault): Promise<Head> {
  const { sealed, size, end } = partsOf(start)
  const key = await importKey(Buffer.from(vault.open(sealed, contextOf(context)), 'base64'), 'decrypt')
  const nonce = (index: number): Uint8Array => {
    const bytes = nonceOf(index)
    bytes[bytes.length - 1] = index === piecesOf(size) - 1 ? 1 : 0
    return bytes
  }
  return { key, size, begin: end, nonce, beside: Uint8Array.from(start.subarray(0, FIXED)) }
}

/** A piece as it was; throws where it is not as written. */
export async function openPiece({ key, nonce, beside }: Head, index: number, sealed: Uint8Array) {
  const algorithm = { name: 'AES-GCM', iv: nonce(index), additionalData: beside }
  return new Uint8Array(await subtle.decrypt(algorithm, key, sealed))
}
