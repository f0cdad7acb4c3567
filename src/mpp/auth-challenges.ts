import { type UnusableInput, unusableInput } from './base64url.ts'

/** One challenge of a `WWW-Authenticate` header: its scheme in lower case, and its parameters or an error. */
export interface AuthChallenge {
  readonly scheme: string
  readonly parameters: ReadonlyMap<string, string>
  /** A parameter that occurs twice makes the challenge ambiguous. */
  readonly twice: string | undefined
}

const SPACES = /[ \t]*/y
const SEPARATORS = /[ \t,]*/y
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y
/** The token68 form of RFC 9110, `Negotiate YII=`: it extends to a comma or the end. */
const TOKEN68 = /[ \t]+[A-Za-z0-9._~+/-]+=*[ \t]*(?=,|$)/y
/** More lenient than the tokens of RFC 9110: an unquoted time or digest is accepted, too. */
const UNQUOTED = /[^\s",]+/y

const QUOTE = '"'.charCodeAt(0)
const BACKSLASH = '\\'.charCodeAt(0)

const MOST_PARAMETERS = 100

class Unreadable extends Error {}

/**
 * Reads the challenges of one header (RFC 9110, section 11.6.1) in one pass, and passes each to `take` as
 * soon as it is complete; `take` answers whether to read on. Returns why the rest of the text cannot be read,
 * if so.
 */
export function readAuthChallenges(
  header: string,
  take: (challenge: AuthChallenge) => boolean,
): UnusableInput | undefined {
  try {
    new HeaderReader(header).read(take)
    return undefined
  } catch (error) {
    if (error instanceof Unreadable) return unusableInput(error.message)
    throw error
  }
}

interface OpenChallenge extends AuthChallenge {
  readonly parameters: Map<string, string>
  twice: string | undefined
  count: number
}

class HeaderReader {
  readonly #text: string
  #at = 0
  #open: OpenChallenge | undefined

  constructor(text: string) {
    this.#text = text
  }

  read(take: (challenge: AuthChallenge) => boolean): void {
    for (this.#match(SEPARATORS); this.#at < this.#text.length; this.#match(SEPARATORS)) {
      const name = this.#need(TOKEN, 'a name').toLowerCase()
      const isParameter = this.#isParameter()
      if (isParameter) this.#addParameter(name)
      else if (this.#open && !take(this.#open)) return
      if (!isParameter) this.#begin(name)
    }
    if (this.#open) take(this.#open)
  }

  #begin(scheme: string): void {
    const next = this.#text[this.#at]
    if (next !== undefined && next !== ' ' && next !== '\t' && next !== ',')
      this.#refuse('a space or a comma')
    this.#open = { scheme, parameters: new Map(), twice: undefined, count: 0 }
    this.#match(TOKEN68)
  }

  #isParameter(): boolean {
    const before = this.#at
    this.#match(SPACES)
    if (this.#text[this.#at] === '=') {
      this.#at += 1
      return true
    }
    this.#at = before
    return false
  }

  #addParameter(name: string): void {
    const open = this.#open ?? this.#refuse('a scheme before the first parameter')
    this.#match(SPACES)
    const isQuoted = this.#text[this.#at] === '"'
    const value = isQuoted ? this.#quoted() : this.#need(UNQUOTED, 'a value')
    this.#match(SPACES)
    if (this.#at < this.#text.length && this.#text[this.#at] !== ',') {
      if (!isQuoted || name !== 'description' || open.scheme !== 'payment') this.#refuse('a comma')
      // The description contains an unescaped quote. What follows may be its text, so no parameter is read
      // from it.
      this.#at = this.#text.length
    }
    if (open.parameters.has(name)) open.twice ??= name
    open.parameters.set(name, value)
    open.count += 1
    if (open.count > MOST_PARAMETERS) this.#refuse(`no more than ${MOST_PARAMETERS} parameters of one scheme`)
  }

  /** A backslash takes the next character as it is; `\u20ac` is a character beyond Latin-1, as mppx writes it. */
  #quoted(): string {
    let value = ''
    for (let from = this.#at + 1; ; ) {
      const end = this.#endOfPlain(from)
      value += this.#text.slice(from, end)
      if (this.#text[end] === '"') {
        this.#at = end + 1
        return value
      }
      const [character, length] = escaped(this.#text, end)
      value += character
      from = end + length
    }
  }

  #endOfPlain(from: number): number {
    const last = this.#text.length - 1
    for (let at = from; at <= last; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === QUOTE || (code === BACKSLASH && at < last)) return at
    }
    return this.#refuse('a quote that ends the text')
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? ['']
    this.#at += found.length
    return found
  }

  #need(pattern: RegExp, what: string): string {
    const found = this.#match(pattern)
    return found === '' ? this.#refuse(what) : found
  }

  #refuse(expected: string): never {
    throw new Unreadable(`${expected} is expected at character ${this.#at + 1}`)
  }
}

const HEX = /[0-9A-Fa-f]{4}/y

function escaped(text: string, at: number): readonly [character: string, length: number] {
  const character = text.charAt(at + 1)
  if (character !== 'u') return [character, 2]
  HEX.lastIndex = at + 2
  const [code] = HEX.exec(text) ?? []
  return code === undefined ? [character, 2] : [String.fromCharCode(Number.parseInt(code, 16)), 6]
}
