import { randomUUID } from 'node:crypto'
import { Problem } from '../../kernel/contract/problem.ts'
import { detachBytes } from '../../values/free-memory.ts'
import { invalidRequest } from '../http/body.ts'
import type { IncomingFile } from './incoming-file.ts'

const QUAD = 4
const [DASH, UNDERSCORE] = [0x2d, 0x5f]

/** Decodes Base64 that arrives in pieces. Padding is allowed only at the very end. */
export class Base64Reader {
  readonly #name: string
  /** The last one to four characters, which may be padding at the end. */
  #last = ''

  constructor(name: string) {
    this.#name = name
  }

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

/**
 * Node skips invalid characters, which shows in the length. It also accepts the base64url alphabet, which
 * does not show there.
 */
const noBase64 = (name: string) =>
  invalidRequest(name, 'must be in Base64, with its padding and nothing else')

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c]
const isOpening = (byte: number): boolean => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number): boolean => byte === 0x5d || byte === 0x7d

const MAX_NAME = 64

interface TextFile {
  readonly name: string
  readonly file: IncomingFile
  readonly base64: Base64Reader
  /** A backslash escape as received, since only a parser decodes it. Undefined before the first one. */
  escaped: Buffer[] | undefined
}

type Place = 'structure' | 'text' | 'file'

/**
 * Takes the files out of a JSON body while it arrives: each text that is the value of such a member at the
 * first level. A short text that cannot be guessed replaces it, and a parser reads the rest.
 */
export class JsonFilesReader {
  readonly #names: readonly string[]
  readonly #open: (name: string) => IncomingFile
  readonly #rest: Buffer[] = []
  readonly #found = new Map<string, { readonly place: string; readonly file: IncomingFile }>()
  #place: Place = 'structure'
  #depth = 0
  #name = ''
  #isValue = false
  #isEscaping = false
  #current: TextFile | undefined

  /** `open` is called at the beginning of each file, once per name. */
  constructor(names: readonly string[], open: (name: string) => IncomingFile) {
    this.#names = names
    this.#open = open
  }

  async add(piece: Uint8Array): Promise<void> {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    for (let at = 0; at < bytes.length; ) {
      const begin = at
      if (this.#place === 'file') at = await this.#readFile(bytes, begin)
      else {
        at = this.#place === 'text' ? this.#readText(bytes, begin) : this.#readStructure(bytes, begin)
        // Copies the bytes, since the memory of the piece is reused.
        this.#rest.push(Buffer.from(bytes.subarray(begin, at)))
        this.#openFile()
      }
    }
  }

  #readStructure(bytes: Buffer, begin: number): number {
    for (let at = begin; at < bytes.length; at++) {
      const byte = bytes[at] as number
      if (byte === QUOTE) return this.#beginText(at)
      if (isOpening(byte)) this.#depth++
      else if (isClosing(byte)) this.#depth--
      else if (byte === COLON) this.#isValue = true
      else if (byte === COMMA) this.#isValue = false
    }
    return bytes.length
  }

  #beginText(at: number): number {
    this.#place = this.#isFile() ? 'file' : 'text'
    if (this.#place === 'text') this.#name = ''
    return at + 1
  }

  #isFile(): boolean {
    return this.#depth === 1 && this.#isValue && this.#names.includes(this.#name)
  }

  #readText(bytes: Buffer, begin: number): number {
    const end = this.#textEnd(bytes, begin)
    if (this.#name.length <= MAX_NAME)
      this.#name += bytes.toString('latin1', begin, Math.min(end, begin + MAX_NAME + 1))
    if (end < bytes.length) this.#place = 'structure'
    return Math.min(end + 1, bytes.length)
  }

  /** Finds the index of the quote that ends the text; the length of the bytes if it is not among them. */
  #textEnd(bytes: Buffer, begin: number): number {
    for (let at = begin; at < bytes.length; at++) {
      const byte = bytes[at]
      if (this.#isEscaping) this.#isEscaping = false
      else if (byte === BACKSLASH) this.#isEscaping = true
      else if (byte === QUOTE) return at
    }
    return bytes.length
  }

  #openFile(): void {
    if (this.#place !== 'file') return
    const name = this.#name
    if (this.#found.has(name)) throw invalidRequest(name, 'given more than once')
    const file = this.#open(name)
    const place = randomUUID()
    this.#found.set(name, { place, file })
    this.#rest.push(Buffer.from(place))
    this.#current = { name, file, base64: new Base64Reader(name), escaped: undefined }
  }

  async #readFile(bytes: Buffer, begin: number): Promise<number> {
    const current = this.#current
    if (!current) throw new Error('a text that is a file has been begun')
    const end = current.escaped ? this.#textEnd(bytes, begin) : plainEnd(bytes, begin)
    const isWhole = bytes[end] === QUOTE
    const signs = bytes.subarray(begin, end)
    if (current.escaped) current.escaped.push(Buffer.from(signs))
    else await addTo(current.file, current.base64.add(signs))
    if (isWhole) await this.#endFile(current)
    else if (end < bytes.length) current.escaped = []
    return end
  }

  async #endFile({ file, base64, escaped }: TextFile): Promise<void> {
    if (escaped) await addTo(file, base64.add(Buffer.from(unescaped(Buffer.concat(escaped)))))
    await addTo(file, [base64.end()])
    file.end('', '')
    this.#current = undefined
    // The closing quote is read as the end of a text.
    this.#place = 'text'
    this.#name = ''
  }

  end(): {
    readonly rest: Buffer
    readonly found: ReadonlyMap<string, { place: string; file: IncomingFile }>
  } {
    return { rest: Buffer.concat(this.#rest), found: this.#found }
  }
}

async function addTo(file: IncomingFile, pieces: readonly Uint8Array[]): Promise<void> {
  for (const bytes of pieces) {
    await file.add(bytes)
    detachBytes(bytes)
  }
}

function plainEnd(bytes: Buffer, begin: number): number {
  const quote = bytes.indexOf(QUOTE, begin)
  const end = quote === -1 ? bytes.length : quote
  const escaping = bytes.subarray(begin, end).indexOf(BACKSLASH)
  return escaping === -1 ? end : begin + escaping
}

function unescaped(text: Buffer): string {
  try {
    return String(JSON.parse(`"${text.toString('utf8')}"`))
  } catch {
    throw new Problem('invalid_json')
  }
}
