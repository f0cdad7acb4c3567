import { RefusedConnection } from './lookup.ts'

/** Said by the connection itself, and by nobody else. */
const OURS =
  /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/i

const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** A tab, and what can be seen of ASCII: nothing that ends a line, and nothing that is read as one. */
const VALUE = /^[\t\x20-\x7e]*$/

/** As they go out, each once: the answer is to come as it is, since what is compressed can grow without bound. */
export function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  refuseSmuggled(headers)
  const given = Object.entries(headers).filter(([name]) => !/^accept-encoding$/i.test(name))
  const isNamed = given.some(([name]) => /^user-agent$/i.test(name))
  return {
    ...(isNamed ? {} : { 'user-agent': 'agent-payments' }),
    ...Object.fromEntries(given),
    'accept-encoding': 'identity',
  }
}

/** What a value could smuggle into a request that others see. */
function refuseSmuggled(headers: Readonly<Record<string, string>>): void {
  const wrong = Object.entries(headers).find(
    ([name, value]) => !NAME.test(name) || OURS.test(name) || !VALUE.test(value),
  )
  if (!wrong) return
  const message = `The header ${JSON.stringify(wrong[0])} is refused: its name is not free, or its value is not plain text.`
  throw new RefusedConnection({ rule: 'header', message })
}

export const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  )
