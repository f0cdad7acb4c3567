import { invalid } from '../http/body.ts'

const QUAD = 4
const [DASH, UNDERSCORE] = [0x2d, 0x5f]

/** Decodes Base64 that comes in pieces. Padding stands only at the end of all of it. */
export class Base64Reader {
  readonly #name: string
  /** The last one to four signs: they may be the end, where padding may stand. */
  #last = ''

  constructor(name: string) {
    this.#name = name
  }

  /** What the signs say, in one or two pieces. */
  add(signs: Buffer): Uint8Array[] {
    if (signs.length === 0) return []
    if (signs.includes(DASH) || signs.includes(UNDERSCORE)) throw noBase64(this.#name)
    const missing = (QUAD - (this.#last.length % QUAD)) % QUAD
    const first = this.#last + signs.toString('latin1', 0, missing)
    const length = signs.length - missing
    if (length <= 0) {
      this.#last = first
      return []
    }
    const end = signs.length - 1 - ((length - 1) % QUAD)
    this.#last = signs.toString('latin1', end)
    return [first, signs.toString('latin1', missing, end)].map(text => this.#decode(text))
  }

  /** Nothing of it may be padding. */
  #decode(text: string): Uint8Array {
    const bytes = Buffer.from(text, 'base64')
    if (bytes.length !== (text.length / QUAD) * 3) throw noBase64(this.#name)
    return bytes
  }

  end(): Uint8Array {
    const text = this.#last
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    const bytes = Buffer.from(text, 'base64')
    if (text.length % QUAD > 0 || bytes.length !== (text.length / QUAD) * 3 - padding)
      throw noBase64(this.#name)
    return bytes
  }
}

/** Node decodes whatever it can: what it has left out shows in the length, and the signs of the other alphabet do not. */
const noBase64 = (name: string) => invalid(name, 'must be in Base64, with its padding and nothing else')
