import { boundedCache } from '../../values/bounded-cache.ts'
import { RefusedConnection } from './lookup.ts'

/** Said by the connection itself, and by nobody else. */
const OURS =
  /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/i

const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** A tab, and what can be seen of ASCII: nothing that ends a line, and nothing that is read as one. */
const VALUE = /^[\t\x20-\x7e]*$/

/** In lower case, where it is free. Few names are in use. */
const freeName = boundedCache(name => (NAME.test(name) && !OURS.test(name) ? name.toLowerCase() : undefined))

/** As they go out, each once: the answer is to come as it is, since what is compressed can grow without bound. */
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

/** What a name or a value could smuggle into a request that others see. */
const refused = (name: string) =>
  new RefusedConnection({
    rule: 'header',
    message: `The header ${JSON.stringify(name)} is refused: its name is not free, or its value is not plain text.`,
  })

export const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  )
