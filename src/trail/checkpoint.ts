import { createPublicKey, type KeyObject, sign as signBytes, verify } from 'node:crypto'
import type { PublicKeySet } from '../ports/public-keys.ts'
import { sha256 } from '../values/digest.ts'
import { HASH_BYTES, type Hash } from './tree.ts'

export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Hash
}

/** None of these keys has signed it: nothing in it can be trusted. */
export class CheckpointRejected extends Error {}

/** Ids of owners are unique among all installations. */
export const originOf = (ownerId: string, mode: string): string => `agentpay/audit/${ownerId}/${mode}`

/** The signed text: C2SP tlog-checkpoint, without extension lines. */
export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`

/** C2SP signed-note: the kind of an Ed25519 signature. */
const ED25519 = 1
const SIGNATURE_BYTES = 64
const KEY_HASH_BYTES = 4
/** Far more than any checkpoint has. */
const MOST_CHARACTERS = 10_000

const keyData = (x: string): Buffer => Buffer.concat([Buffer.of(ED25519), Buffer.from(x, 'base64url')])

/** The first bytes of the digest of a key's name and the key, by which a signature line names it. */
const keyHash = (name: string, x: string): Buffer =>
  sha256(Buffer.concat([Buffer.from(`${name}\n`), keyData(x)])).subarray(0, KEY_HASH_BYTES)

/** The form that `note.NewVerifier` of Go and other readers of signed notes take. */
export const verifierKey = (name: string, x: string): string =>
  `${name}+${keyHash(name, x).toString('hex')}+${keyData(x).toString('base64')}`

/** `x` is the public half of `key`. */
export function signedNote(text: string, name: string, key: KeyObject, x: string): string {
  const signature = signBytes(null, Buffer.from(text), key)
  const line = Buffer.concat([keyHash(name, x), signature]).toString('base64')
  return `${text}\n— ${name} ${line}\n`
}

const CHECKPOINT = /^([^\n+ ]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n([\s\S]+)\n$/
const KEY = /^[\w-]{43}$/

/** Throws `CheckpointRejected` if none of the keys has signed it for its own trail. */
export function openCheckpoint(note: string, { keys }: PublicKeySet): Checkpoint {
  const [, origin = '', size, root = '', signatures = ''] =
    note.length > MOST_CHARACTERS ? [] : (CHECKPOINT.exec(note) ?? [])
  const lines = signatures.split('\n')
  if (size === undefined || !lines.every(line => line.startsWith('— ') && line.length > 2))
    throw new CheckpointRejected('This is no checkpoint.')
  const checkpoint = { origin, size: Number(size), root: Buffer.from(root, 'base64') }
  if (checkpoint.root.length !== HASH_BYTES || !Number.isSafeInteger(checkpoint.size))
    throw new CheckpointRejected('This is no checkpoint.')
  if (checkpointText(checkpoint) !== note.slice(0, note.indexOf('\n\n') + 1))
    throw new CheckpointRejected('The checkpoint is not spelt as its text is signed.')
  if (!lines.some(line => isSignedBy(line, checkpoint, keys)))
    throw new CheckpointRejected('None of these keys has signed this checkpoint.')
  return checkpoint
}

function isSignedBy(line: string, checkpoint: Checkpoint, keys: PublicKeySet['keys']): boolean {
  const { origin } = checkpoint
  const prefix = `— ${origin} `
  if (!line.startsWith(prefix)) return false
  const text = line.slice(prefix.length)
  const bytes = Buffer.from(text, 'base64')
  const isSpelt = bytes.length === KEY_HASH_BYTES + SIGNATURE_BYTES && bytes.toString('base64') === text
  if (!isSpelt) return false
  const named = keys.filter(
    ({ kty, crv, x }) =>
      kty === 'OKP' &&
      crv === 'Ed25519' &&
      KEY.test(x) &&
      keyHash(origin, x).equals(bytes.subarray(0, KEY_HASH_BYTES)),
  )
  return named.some(({ kty, crv, x }) => {
    const key = createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
    return verify(null, Buffer.from(checkpointText(checkpoint)), key, bytes.subarray(KEY_HASH_BYTES))
  })
}
