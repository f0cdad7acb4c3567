import { z } from 'zod'

/** The documentation of a setting in `.env.example` and in the README. */
interface About {
  meaning: string
  allowed: string
  /** Shown where the default is not a plain value. */
  otherwise?: string
  /** It may also stand in a file, which the variable of this name and `_FILE` names. */
  secret?: true
}

/** Says in one line which setting is wrong and what to do, and never what it holds. */
export class WrongSetting extends Error {}

const documentation = z.registry<About>()

export const about = <T extends z.ZodType>(schema: T, text: About): T => {
  documentation.add(schema, text)
  return schema
}

export const aboutOf = (schema: z.ZodType): About => documentation.get(schema) as About

/** How settings are written: each form reads text and gives what the programs work with. */

const digits = z.string().regex(/^\d{1,9}$/)

export const integer = (min: number, max: number) => digits.transform(Number).pipe(z.int().min(min).max(max))

export const matching = (pattern: RegExp) => z.string().regex(pattern)

export const hostName = matching(/^[\w.:-]+$/)

export const listOf = <T extends z.ZodType<unknown, string>>(item: T) =>
  z
    .string()
    .transform(list => list.split(',').map(one => one.trim()))
    .pipe(z.array(item))

/** Addresses, and blocks of them. */
export const addresses = listOf(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))

export const yesOrNo = z.enum(['true', 'false']).transform(text => text === 'true')

export const hostAndPort = z.string().regex(/^([\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/)

/** Times of a day, in their order. */
export const cutOffs = listOf(z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)).refine(times =>
  times.every((time, index) => index === 0 || time > String(times[index - 1])),
)

export const trustProxy = z.union([
  z.literal('false').transform(() => false as const),
  integer(1, 10),
  addresses,
])

/** An origin whose pages can use passkeys: https, or http at localhost. */
export const pageOrigin = z
  .url({ protocol: /^https?$/ })
  .transform(text => new URL(text))
  .refine(
    ({ protocol, hostname, pathname, search, hash, username }) =>
      (protocol === 'https:' || hostname === 'localhost') && pathname + search + hash + username === '/',
  )
  .transform(({ origin }) => origin)

/** Where something is reached by browsers, without a slash at its end. */
export const webAddress = z
  .url({ protocol: /^https?$/ })
  .transform(text => new URL(text))
  .refine(({ username, password, search, hash }) => username + password + search + hash === '')
  .transform(({ href }) => href.replace(/\/+$/, ''))
