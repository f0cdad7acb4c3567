import { nearestName } from '../../values/nearest.ts'

/** What a value must be, in words, and whether it is. */
type Kind = readonly [words: string, fits: (value: unknown) => boolean]

const ofType = (type: string, words: string): Kind => [words, value => typeof value === type]
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Headers and Map have no members of their own, and would be sent as none. */
const isIterable = (value: object): boolean => Symbol.iterator in value

const text = ofType('string', 'a text')
const headers: Kind = [
  'an object of texts',
  value =>
    isObject(value) && !isIterable(value) && Object.values(value).every(one => typeof one === 'string'),
]
/** Longer timers ring at once. */
const LONGEST_MS = 2 ** 31 - 1
const timeoutMs: Kind = [
  'a number of milliseconds, from 1 on',
  value => typeof value === 'number' && value >= 1 && value <= LONGEST_MS,
]
const retries: Kind = ['a whole number, from 0 on', value => Number.isInteger(value) && Number(value) >= 0]
const signal: Kind = ['an AbortSignal', value => isObject(value) && 'aborted' in value]

type Options = Readonly<Record<string, Kind>>

const ofAttempts = { runId: text, headers, timeoutMs, signal }
const ofPayments = { intentId: text, cardId: text, signal }
const method: Kind = [
  'GET, POST, PUT, PATCH or DELETE',
  value => /^(GET|POST|PUT|PATCH|DELETE)$/.test(String(value)),
]

export const clientOptions: Options = {
  url: ['an address such as https://pay.example.com', value => /^\w+:\/\//.test(String(value))],
  token: ['a key or a token', value => value === null || (typeof value === 'string' && value !== '')],
  dashboardSecret: text,
  headers,
  timeoutMs,
  retries,
  fetch: ofType('function', 'a function'),
}
export const callOptions: Options = {
  idempotencyKey: text,
  ...ofAttempts,
  retries,
  wait: ofType('boolean', 'true or false'),
}
export const waitOptions: Options = {
  withinMs: ['a number of milliseconds, from 0 on', value => typeof value === 'number' && value >= 0],
  ...ofAttempts,
}
export const fetchOptions: Options = {
  ...ofPayments,
  method,
  headers: [headers[0], value => (isObject(value) && isIterable(value)) || headers[1](value)],
  body: text,
}
export const toolOptions: Options = { ...ofPayments, url: text }
export const toolCall: Options = {
  name: text,
  arguments: ['an object', isObject],
  _meta: ['an object', isObject],
}

/** What other clients call it. */
const MEANT: readonly (readonly [RegExp, string])[] = [
  [/key|token|bearer/i, 'token'],
  [/key/i, 'idempotencyKey'],
  [/url|host|endpoint/i, 'url'],
]

/**
 * An option that is ignored may be the one that matters: with `apiKey` in place of `token`, the environment's key would
 * pay. A known one may be undefined, except one that `needed` names.
 */
export function checkOptions(
  of: string,
  given: unknown,
  known: Options,
  needed: readonly string[] = [],
): void {
  if (given !== undefined && given !== null && !isObject(given))
    throw new TypeError(`${of} takes options as one object: { ${Object.keys(known).join(', ')} }`)
  const options = (given ?? {}) as Readonly<Record<string, unknown>>
  for (const name in options)
    if (!Object.hasOwn(known, name)) throw new TypeError(unknownOption(of, name, known))
  for (const [name, [words, fits]] of Object.entries(known)) {
    const value = options[name]
    const isLeftOut = value === undefined && !needed.includes(name)
    if (!isLeftOut && !fits(value)) throw new TypeError(`${of}: ${name} is ${words}`)
  }
}

function unknownOption(of: string, name: string, known: Options): string {
  const names = Object.keys(known)
  const [, meant] = MEANT.find(([like, option]) => like.test(name) && names.includes(option)) ?? []
  const best = nearestName(name, names) ?? meant
  const remedy = best === undefined ? `it takes ${names.join(', ')}` : `write ${best}`
  return `${name} is no option of ${of}: ${remedy}`
}
