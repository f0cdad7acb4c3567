/**
 * How a file lies on the disk: its head, then pieces of at most 1 MiB, each with its tag, encrypted with a key of this file
 * alone. The head holds the length, the key, sealed by the vault for this owner and mode, and a sign by that key over
 * length, owner, mode and the digest of the content: so it can be written last, and the file opens nowhere else. A piece's
 * nonce is its number. None can be left out, exchanged or cut off.
 */
export const MAGIC = Buffer.from('APF2')
/** What files begin with that were written when the whole of a file was there before it was sealed. */
export const FORMERLY = Buffer.from('APF1')
export const PIECE = 1_048_576
export const TAG = 16
/** The magic, the length of the sealed key, the length of the content. */
export const FIXED = MAGIC.length + 2 + 6
/** In the place of a piece's number: no file has so many. */
export const HEAD_SIGN = 0xff_ff_ff_ff

const NONCE = 12

export const piecesOf = (size: number): number => Math.max(1, Math.ceil(size / PIECE))

export function nonceOf(index: number): Uint8Array {
  const nonce = Buffer.alloc(NONCE)
  nonce.writeUInt32BE(index, 0)
  return nonce
}

export function fixedPart(size: number, keyLength: number): Uint8Array {
  const fixed = Buffer.alloc(FIXED)
  MAGIC.copy(fixed)
  fixed.writeUInt16BE(keyLength, MAGIC.length)
  fixed.writeUIntBE(size, MAGIC.length + 2, 6)
  return new Uint8Array(fixed)
}
