import { type CipherGCM, createCipheriv } from 'node:crypto'
import { type Seal, signedBeside } from './seal.ts'
import { FIXED, fixedPart, HEAD_SIGN, nonceOf, PIECE, TAG } from './shape.ts'

/** Seals a file while it arrives. It encrypts in the thread that calls it. */
export class Sealing {
  readonly #seal: Seal
  #piece: CipherGCM
  #index = 0
  /** How many bytes of this piece, and of the file, have come. */
  #filled = 0
  #size = 0

  constructor(seal: Seal) {
    this.#seal = seal
    this.#piece = this.#cipher(0)
  }

  /** Where the pieces begin. */
  get begin(): number {
    return FIXED + this.#seal.sealed.length + TAG
  }

  /** The sealed bytes, as they follow those before. */
  add(bytes: Uint8Array): Uint8Array[] {
    const parts: Uint8Array[] = []
    for (let rest = bytes; rest.length > 0; ) {
      if (this.#filled === PIECE) parts.push(...this.#endPiece())
      const some = rest.subarray(0, PIECE - this.#filled)
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

  /** What follows the last byte, and the head, which is known only now. */
  end(sha256: string): { readonly last: Uint8Array[]; readonly head: Uint8Array[] } {
    const { sealed, context } = this.#seal
    const fixed = fixedPart(this.#size, sealed.length)
    const sign = this.#cipher(HEAD_SIGN).setAAD(signedBeside(fixed, context, sha256))
    sign.final()
    return { last: this.#lastPart(), head: [fixed, sealed, sign.getAuthTag()] }
  }

  #cipher(index: number): CipherGCM {
    return createCipheriv('aes-256-gcm', this.#seal.secret, nonceOf(index), { authTagLength: TAG })
  }
}
