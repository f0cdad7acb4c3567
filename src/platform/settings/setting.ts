import { z } from 'zod'

interface About {
  meaning: string
  allowed: string
  otherwise?: string
  /** A secret may also come from a file, which the variable with `_FILE` at its end names. */
  secret?: true
}

/** Names the wrong setting and the remedy in one line, and never the value. */
export class WrongSetting extends Error {}

const documentation = z.registry<About>()

export const about = <T extends z.ZodType>(schema: T, text: About): T => {
  documentation.add(schema, text)
  return schema
}

export const aboutOf = (schema: z.ZodType): About => documentation.get(schema) as About

const digits = z.string().regex(/^\d{1,9}$/)

export const integer = (min: number, max: number) => digits.transform(Number).pipe(z.int().min(min).max(max))

export const matching = (pattern: RegExp) => z.string().regex(pattern)

export const hostName = matching(/^[\w.:-]+$/)

export const listOf = <T extends z.ZodType<unknown, string>>(item: T) =>
  z
    .string()
    .transform(list => list.split(',').map(one => one.trim()))
    .pipe(z.array(item))

export const addresses = listOf(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))

export const yesOrNo = z.enum(['true', 'false']).transform(text => text === 'true')

export const hostAndPort = z.string().regex(/^([\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/)

export const cutoffTimes = listOf(z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)).refine(times =>
  times.every((time, index) => index === 0 || time > String(times[index - 1])),
)

export const trustProxy = z.union([
  z.literal('false').transform(() => false as const),
  integer(1, 10),
  addresses,
])

export const pageOrigin = z
  .url({ protocol: /^https?$/ })
  .transform(text => new URL(text))
  .refine(
    ({ protocol, hostname, pathname, search, hash, username }) =>
      (protocol === 'https:' || hostname === 'localhost') && pathname + search + hash + username === '/',
  )
  .transform(({ origin }) => origin)

export const webAddress = z
  .url({ protocol: /^https?$/ })
  .transform(text => new URL(text))
  .refine(({ username, password, search, hash }) => username + password + search + hash === '')
  .transform(({ href }) => href.replace(/\/+$/, ''))
