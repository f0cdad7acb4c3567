import { boundedCache } from '../../values/bounded-cache.ts'
import { RefusedConnection } from './lookup.ts'

/** Headers that only the HTTP client itself may set. */
const OURS =
  /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/i

const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** A tab and the visible characters of ASCII: nothing that could end a line. */
const VALUE = /^[\t\x20-\x7e]*$/

/** Header names in lower case, cached: few are in use. */
const freeName = boundedCache(name => (NAME.test(name) && !OURS.test(name) ? name.toLowerCase() : undefined))

/**
 * The headers of the request, each once. It asks for an uncompressed answer: a compressed one can grow without bound.
 */
export function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent: Record<string, string> = { 'accept-encoding': 'identity' }
  let isNamed = false
  for (const [name, value] of Object.entries(headers)) {
    const known = freeName(name)
    if (known === undefined || !VALUE.test(value)) throw refused(name)
    isNamed ||= known === 'user-agent'
    if (known !== 'accept-encoding') sent[name] = value
  }
  if (!isNamed) sent['user-agent'] = 'agent-payments'
  return sent
}

/** Refuses names and values that could smuggle another request (header injection). */
const refused = (name: string) =>
  new RefusedConnection({
    rule: 'header',
    message: `The header ${JSON.stringify(name)} is refused: its name is not free, or its value is not plain text.`,
  })

/** The values of each header, by its name in lower case. */
export const listsOf = (headers: Record<string, string | string[] | undefined>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name.toLowerCase(), [value].flat()]),
  )

export const joined = (lists: Readonly<Record<string, readonly string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.join(', ')]))
