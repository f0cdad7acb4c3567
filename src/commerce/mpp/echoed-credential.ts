import { isUnusableInput, parseCredential } from '../../mpp/index.ts'
import { isCardNumber } from '../../values/card-number.ts'
import { maskCardNumbers } from '../../values/mask-card-numbers.ts'

const BLANK = '*'.charCodeAt(0)

interface Secrets {
  readonly whole: readonly string[]
  /** Letters and digits of the ciphertext, as it is and as encoded in the credential, or of a shared token. */
  readonly encrypted: readonly string[]
  readonly last4: string | null
}

interface View {
  readonly text: string
  readonly start: (at: number) => number
  readonly end: (at: number) => number
}

const alphabet = (characters: string): Uint8Array => {
  const table = new Uint8Array(256)
  for (const character of characters) table[character.charCodeAt(0)] = character.charCodeAt(0)
  return table
}
const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const WORDS = alphabet(LETTERS_AND_DIGITS)
const BASE64 = alphabet(`${LETTERS_AND_DIGITS}+/-_`)

/** This many letters and digits in a row identify a part, since other texts do not contain them. */
const GRAM = 10
const lettersAndDigits = (text: string): string => text.replace(/[^A-Za-z\d]/g, '')

function secretsOf(header: string): Secrets[] {
  const credential = parseCredential(header)
  if (isUnusableInput(credential)) return []
  const { encryptedPayload: jwe, panLastFour, spt } = credential.payload
  const whole = header.slice(header.indexOf(' ') + 1)
  const last4 = typeof panLastFour === 'string' ? panLastFour : null
  const shared = typeof spt === 'string' ? [lettersAndDigits(spt)] : []
  if (typeof jwe !== 'string') return [{ whole: [whole], encrypted: shared, last4 }]
  // The first part of a JWE only names the encryption, which is not a secret.
  const encrypted = jwe.slice(jwe.indexOf('.') + 1)
  const from = Buffer.from(whole, 'base64url').indexOf(encrypted)
  // What follows the token is not a secret: an honest receipt also names the network.
  const to = from + encrypted.length
  const carried = from < 0 ? '' : whole.slice(Math.ceil((from * 4) / 3), Math.floor((to * 4) / 3))
  return [{ whole: [whole, jwe], encrypted: [encrypted, carried].map(lettersAndDigits), last4 }]
}

type Grams = ReadonlyMap<string, readonly [secret: string, at: number]>

/** Where each piece of the secrets is. */
function gramsOf(secrets: readonly Secrets[]): Grams {
  const grams = new Map<string, readonly [secret: string, at: number]>()
  for (const secret of secrets.flatMap(({ encrypted }) => encrypted))
    for (let at = 0; at + GRAM <= secret.length; at++) grams.set(secret.slice(at, at + GRAM), [secret, at])
  return grams
}

interface Wanted {
  readonly secrets: readonly Secrets[]
  readonly grams: Grams
}

class Search {
  readonly #wanted: Wanted
  readonly #found: Uint8Array
  #left: number

  constructor(wanted: Wanted, length: number) {
    this.#wanted = wanted
    this.#found = new Uint8Array(length)
    this.#left = MOST_LOOKS * length + LEAST_LOOKS
  }

  get found(): Uint8Array {
    return this.#found
  }

  /** An answer that would take too long to search is neither searched nor passed on. */
  search(given: View, decoded = 0): void {
    this.#left -= given.text.length
    if (this.#left < 0) {
      this.#mark(given, 0, given.text.length)
      return
    }
    const view = unescaped(unescaped(given))
    this.#lookForNumbers(view, decoded)
    this.#lookForCryptograms(view)
    this.#lookForParts(filtered(WORDS, view))
    if (decoded === MOST_DECODED) return
    const base64 = filtered(BASE64, view)
    for (const run of readable(base64)) this.search(run, decoded + 1)
  }

  #mark({ start, end }: View, from: number, to: number): void {
    this.#found.fill(1, start(from), end(to - 1))
  }

  /** Any part of the credential that is twice as long as a searched piece contains a whole piece. */
  #lookForParts(view: View): void {
    const { text } = view
    for (let at = 0, done = 0; at + GRAM <= text.length; at += GRAM) {
      const known = at < done ? undefined : this.#wanted.grams.get(text.slice(at, at + GRAM))
      if (!known) continue
      const [secret, place] = known
      let [before, after] = [0, GRAM]
      while (at - before > done && place > before && text[at - before - 1] === secret[place - before - 1])
        before++
      while (at + after < text.length && text[at + after] === secret[place + after]) after++
      done = at + after
      this.#mark(view, at - before, done)
    }
  }

  #lookForNumbers(view: View, decoded: number): void {
    const endings = this.#wanted.secrets.flatMap(({ last4 }) => last4 ?? [])
    for (const [from, to] of endings.flatMap(last4 => numbersIn(view.text, last4)))
      if (decoded > 0 || !isNumberOfJson(view.text, from, to)) this.#mark(view, from, to)
  }

  #lookForCryptograms(view: View): void {
    for (const { indices } of view.text.matchAll(CRYPTOGRAM)) {
      const [from, to] = indices?.[1] ?? [0, 0]
      if (to > 0) this.#mark(view, from, to)
    }
  }
}

const MOST_DECODED = 2
/** Bounds the searches per character. Honest answers need half of them. */
const MOST_LOOKS = 4
const LEAST_LOOKS = 65_536

const CRYPTOGRAM =
  /(?:cryptogram|dynamic[_-]?data[_-]?value|cavv|tavv|ucaf)(?:[_-]?(?:value|data))?["'\s]{0,4}[:=>,]["'\s{[]{0,6}(?:value["'\s:=]{1,6})?([^"'\s,;&<>{}[\]]{12,})/dgi

/** Within letters and digits, 0x is not an escape, since Base64 contains it by chance. */
const ESCAPE =
  /%[\da-f]{2}|\\u[\da-f]{4}|\\x[\da-f]{2}|(?<![a-z\d])0x(?=[\da-f]{2}(?![a-z\d]))|&#(?:x[\da-f]{1,5}|\d{1,6});|\\[bfnrt"'/\\]/gi

function characterOf(written: string): string {
  const [, hex] = /^(?:%|\\u|\\x|&#x)([\da-f]+)/i.exec(written) ?? []
  const [, decimal] = /^&#(\d+)/.exec(written) ?? []
  if (hex === undefined && decimal === undefined) return /["'/\\]$/.test(written) ? written.slice(-1) : ' '
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code < 256 ? String.fromCharCode(code) : ' '
}

function unescaped(view: View): View {
  if (!/[%\\&]|0x/.test(view.text)) return view
  let [text, kept] = ['', 0]
  const starts = new Int32Array(view.text.length)
  const ends = new Int32Array(view.text.length)
  const keep = (until: number): void => {
    for (let at = kept; at < until; at++) {
      starts[text.length + at - kept] = at
      ends[text.length + at - kept] = at
    }
    text += view.text.slice(kept, until)
  }
  for (const { 0: written, index } of view.text.matchAll(ESCAPE)) {
    keep(index)
    starts[text.length] = index
    ends[text.length] = index + written.length - 1
    text += characterOf(written)
    kept = index + written.length
  }
  keep(view.text.length)
  return {
    text,
    start: at => view.start(starts[at] as number),
    end: at => view.end(ends[at] as number),
  }
}

function filtered(table: Uint8Array, view: View): View {
  const kept = Buffer.alloc(view.text.length)
  const places = new Int32Array(view.text.length)
  let length = 0
  for (let at = 0; at < view.text.length; at++) {
    const code = table[view.text.charCodeAt(at)] as number
    if (code === 0) continue
    kept[length] = code
    places[length++] = at
  }
  return {
    text: kept.toString('latin1', 0, length),
    start: at => view.start(places[at] as number),
    end: at => view.end(places[at] as number),
  }
}

/** A card number is longer than this, and binary data rarely contains a longer run. */
const READABLE = /[\t\n\r\x20-\x7e]{14,}/g
const HEX = /[\da-f]{28,}/gi

function* readable(view: View): Generator<View> {
  for (let from = 0; from < 4; from++) yield* readableIn(view, 'base64', from, view.text.length)
  for (const { 0: run, index } of view.text.matchAll(HEX))
    for (const from of [index, index + 1]) yield* readableIn(view, 'hex', from, index + run.length)
}

function* readableIn(view: View, encoding: 'base64' | 'hex', from: number, to: number): Generator<View> {
  const perByte = encoding === 'hex' ? 2 : 4 / 3
  const text = Buffer.from(view.text.slice(from, to), encoding).toString('latin1')
  for (const { 0: run, index } of text.matchAll(READABLE))
    yield {
      text: run,
      start: at => view.start(from + Math.floor((index + at) * perByte)),
      end: at => view.end(from + Math.ceil((index + at + 1) * perByte) - 1),
    }
}

const LEAST_DIGITS = 14
const MOST_DIGITS = 19
const MOST_BETWEEN = 3
/** An honest answer has fewer candidates that end like the card. Further ones are masked without a check. */
const MOST_NUMBERS = 4_000
const ZERO = '0'.charCodeAt(0)

/**
 * Finds the ranges of card numbers that end in these digits, except the last four digits. Other characters
 * may lie in between.
 */
function numbersIn(text: string, last4: string): [from: number, to: number][] {
  const found: [number, number][] = []
  const places = new Int32Array(text.length)
  let [count, last, ending, looks] = [0, 0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) continue
    if (at - last > MOST_BETWEEN + 1) count = 0
    places[count++] = last = at
    ending = (ending * 10 + digit) % 10_000
    if (ending !== Number(last4) || count < LEAST_DIGITS) continue
    const run = places.subarray(Math.max(0, count - MOST_DIGITS - 1), count)
    const length = looks++ < MOST_NUMBERS ? lengthOfNumber(text, run) : LEAST_DIGITS
    if (length > 0) found.push([places[count - length] as number, (places[count - 5] as number) + 1])
  }
  return found
}

function lengthOfNumber(text: string, places: Int32Array): number {
  const digits = Array.from(places, place => text[place]).join('')
  for (let length = Math.min(MOST_DIGITS, digits.length); length >= LEAST_DIGITS; length--)
    if (isCardNumber(digits.slice(-length)) && isWrittenAsNumber(text, places, places.length - length))
      return length
  return 0
}

/**
 * Whether digits are grouped as people write a number: all together, each separately, or in groups of one
 * size or of three and more. In ids, digests and times they are not, and a long answer has so many that some
 * would look like the card's.
 */
function isWrittenAsNumber(text: string, places: Int32Array, from: number): boolean {
  const sizes = [0]
  for (let n = from; n < places.length; n++) {
    if (n > from && places[n] !== (places[n - 1] as number) + 1) sizes.push(0)
    sizes.push((sizes.pop() as number) + 1)
  }
  if (sizes.length === 1) return true
  if (from > 0 && places[from] === (places[from - 1] as number) + 1) return false
  const [size = 0] = sizes
  const areEqual = sizes.slice(0, -1).every(other => other === size) && (sizes.at(-1) as number) <= size
  if (areEqual && size < LEAST_GROUP) return true
  return (areEqual || sizes.every(each => each >= LEAST_GROUP)) && !isInDigest(text, places[from] as number)
}

/** Groups of this size occur by chance in one of some thousand digests. */
const LEAST_GROUP = 3
const DIGEST = /[\da-f]{32,}/gi
const LONGEST_DIGEST = 128

function isInDigest(text: string, at: number): boolean {
  const from = Math.max(0, at - LONGEST_DIGEST)
  const around = text.slice(from, at + LONGEST_DIGEST)
  return [...around.matchAll(DIGEST)].some(({ 0: { length }, index }) => {
    const start = from + index
    return start <= at && at + LEAST_DIGITS < start + length
  })
}

/** Numbers of JSON are masked when the JSON is read, since asterisks in their place would not be JSON. */
function isNumberOfJson(text: string, from: number, to: number): boolean {
  const number = text.slice(from, to + 4)
  return (
    /[:,[]\s{0,4}$/.test(text.slice(Math.max(0, from - 5), from)) &&
    /^\d+$/.test(number) &&
    maskCardNumbers(number) !== number
  )
}

interface Answer {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly headerLists: Readonly<Record<string, readonly string[]>>
}

function withoutSecrets(bytes: Uint8Array, wanted: Wanted): Buffer {
  const given = Buffer.from(bytes)
  for (const secret of wanted.secrets.flatMap(({ whole }) => whole))
    for (let at = given.indexOf(secret); at >= 0; at = given.indexOf(secret, at + secret.length))
      given.fill(BLANK, at, at + secret.length)
  const search = new Search(wanted, given.length)
  search.search({ text: given.toString('latin1'), start: at => at, end: at => at + 1 })
  for (let at = search.found.indexOf(1); at >= 0; at = search.found.indexOf(1, at + 1))
    if (!isStructure(given, at)) given[at] = BLANK
  return given
}

const STRUCTURE = alphabet('"[]{},: \t\r\n')
const [BACKSLASH, QUOTE] = ['\\'.charCodeAt(0), '"'.charCodeAt(0)]

const isStructure = (bytes: Uint8Array, at: number): boolean =>
  STRUCTURE[bytes[at] as number] !== 0 || (bytes[at] === BACKSLASH && bytes[at + 1] === QUOTE)

/**
 * Returns the merchant's answer without the credential that was sent to it, whole or in parts, and without
 * its encrypted content: the token's number, and members named like its cryptogram. They are found as text,
 * between other characters, escaped, in hex and in Base64, and in combinations. The answer is stored and the
 * credential must not be, even if a merchant echoes it.
 */
export function withoutCredential<A extends Answer>(answer: A, sent: Readonly<Record<string, string>>): A {
  const secrets = Object.values(sent).flatMap(value => (/^Payment /i.test(value) ? secretsOf(value) : []))
  const wanted = { secrets, grams: gramsOf(secrets) }
  const clean = (text: string): string =>
    withoutSecrets(Buffer.from(text, 'latin1'), wanted).toString('latin1')
  const { headers, headerLists } = answer
  const type = headers['content-type']
  const receipts = headerLists['payment-receipt']
  return {
    ...answer,
    body: withoutSecrets(answer.body, wanted),
    headers: { ...headers, ...(type !== undefined && { 'content-type': clean(type) }) },
    headerLists: { ...headerLists, ...(receipts && { 'payment-receipt': receipts.map(clean) }) },
  }
}
