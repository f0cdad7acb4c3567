import type { CardData, NetworkTokenData } from '../../../src/adapters/card-processor/encrypt.ts'

interface Trace {
  readonly about: string
  readonly text: string
}

/** Finds card data in text and in bytes, in every form in which a program could have written it. */
export interface CardDataSearch {
  in(place: string | Buffer): string[]
  /**
   * Also finds a CVC that is a whole value: three digits occur in any text. CVCs that end in 0 are skipped,
   * because amounts such as 100 are values, too; the run's other cards reveal a leak.
   */
  inValues(values: Iterable<unknown>): string[]
}

const groups = (number: string, separator: string): string =>
  number.replace(/\d{4}(?=\d)/g, group => group + separator)

/** The notations of a number, and those by which a CVC is recognized. */
const numberTexts = (number: string): string[] => [number, ...[' ', '-', '.'].map(by => groups(number, by))]

const cvcTexts = (cvc: string): string[] =>
  ['cvc', 'cvv', 'cvv2', 'securityCode', 'security_code'].flatMap(name => [
    ...[`"${name}":"${cvc}"`, `"${name}": "${cvc}"`, `"${name}":${cvc}`, `${name}: '${cvc}'`],
    ...[`${name}=${cvc}`, `${name}: ${cvc}`, `${name} ${cvc}`],
  ])

/** The part of a Base64 text that does not depend on the bytes before and after. */
function base64Part(bytes: Buffer, offset: number, form: 'base64' | 'base64url'): string {
  const written = Buffer.concat([Buffer.alloc(offset), bytes]).toString(form)
  return written.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
}

function tracesOf(what: string, bytes: Buffer): Trace[] {
  const encoded = (['base64', 'base64url'] as const).flatMap(form =>
    [0, 1, 2].map(offset => ({
      about: `${what}, ${form} ${offset}`,
      text: base64Part(bytes, offset, form),
    })),
  )
  const hex = bytes.toString('hex')
  return [
    { about: `${what}, plain`, text: bytes.toString('latin1') },
    { about: `${what}, hex`, text: hex },
    { about: `${what}, HEX`, text: hex.toUpperCase() },
    ...encoded,
  ]
}

const cardTraces = ({ number, cvc }: CardData): Trace[] => [
  ...numberTexts(number).flatMap(text => tracesOf('a number', Buffer.from(text))),
  ...cvcTexts(cvc).flatMap(text => tracesOf('a CVC', Buffer.from(text))),
]

const tokenTraces = ({ number, cryptogram }: NetworkTokenData): Trace[] => [
  ...numberTexts(number).flatMap(text => tracesOf('the number of a token', Buffer.from(text))),
  ...tracesOf('a cryptogram', Buffer.from(cryptogram)),
  ...tracesOf('the bytes of a cryptogram', Buffer.from(cryptogram, 'base64')),
]

export interface MachineSecret {
  readonly about: string
  readonly text: string
}

/** A part of a long secret is enough, so that a partial leak is found. */
const PART = 48

const machineTraces = ({ about, text }: MachineSecret): Trace[] => {
  const middle = Math.floor(Math.max(text.length - PART, 0) / 2)
  return tracesOf(about, Buffer.from(text.slice(middle, middle + PART)))
}

export function searchFor(
  cards: readonly CardData[],
  tokens: readonly NetworkTokenData[],
  secrets: readonly MachineSecret[] = [],
): CardDataSearch {
  const traces = [
    ...cards.flatMap(cardTraces),
    ...tokens.flatMap(tokenTraces),
    ...secrets.flatMap(machineTraces),
  ]
  const codes = new Set(cards.map(({ cvc }) => cvc).filter(cvc => !cvc.endsWith('0')))
  const find = (place: string | Buffer): string[] => {
    const text = typeof place === 'string' ? place : place.toString('latin1')
    return traces.filter(trace => text.includes(trace.text)).map(({ about }) => about)
  }
  return {
    in: place => [...new Set(find(place))],
    inValues: values => [...stringsIn([...values])].filter(text => codes.has(text)).map(() => 'a CVC alone'),
  }
}

export function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    yield value
    const inner = jsonIn(value)
    if (inner !== undefined) yield* stringsIn(inner)
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) yield* stringsIn(member)
  }
}

function jsonIn(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
