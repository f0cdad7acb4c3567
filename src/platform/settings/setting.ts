import { z } from 'zod'

interface About {
  meaning: string
  allowed: string
  otherwise?: string
  /** A secret may also come from a file, which the variable with `_FILE` at its end names. */
  secret?: true
}

/** Names the wrong setting and the remedy in one line, and never the value. */
export class InvalidSettingError extends Error {}

const documentation = z.registry<About>()

export const documentSetting = <T extends z.ZodType>(schema: T, text: About): T => {
  documentation.add(schema, text)
  return schema
}

export const settingDocumentation = (schema: z.ZodType): About => documentation.get(schema) as About

const digits = z.string().regex(/^\d{1,9}$/)

export const integerSetting = (min: number, max: number) =>
  digits.transform(Number).pipe(z.int().min(min).max(max))

export const patternSetting = (pattern: RegExp) => z.string().regex(pattern)

export const hostNameSetting = patternSetting(/^[\w.:-]+$/)

export const listSetting = <T extends z.ZodType<unknown, string>>(item: T) =>
  z
    .string()
    .transform(list => list.split(',').map(one => one.trim()))
    .pipe(z.array(item))

export const addressListSetting = listSetting(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))

export const booleanSetting = z.enum(['true', 'false']).transform(text => text === 'true')

export const hostAndPortSetting = z.string().regex(/^([\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/)

export const cutoffTimesSetting = listSetting(z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)).refine(times =>
  times.every((time, index) => index === 0 || time > String(times[index - 1])),
)

export const trustProxySetting = z.union([
  z.literal('false').transform(() => false as const),
  integerSetting(1, 10),
  addressListSetting,
])

export const pageOriginSetting = z
  .url({ protocol: /^https?$/ })
  .transform(text => new URL(text))
  .refine(
    ({ protocol, hostname, pathname, search, hash, username }) =>
      (protocol === 'https:' || hostname === 'localhost') && pathname + search + hash + username === '/',
  )
  .transform(({ origin }) => origin)

export const webAddressSetting = z
  .url({ protocol: /^https?$/ })
  .transform(text => new URL(text))
  .refine(({ username, password, search, hash }) => username + password + search + hash === '')
  .transform(({ href }) => href.replace(/\/+$/, ''))
