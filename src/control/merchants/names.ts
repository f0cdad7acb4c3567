import { boundedCache } from '../../values/bounded-cache.ts'
import { ibanProblem, plainIban } from '../../values/iban.ts'
import { knownName, lessAndLess, resolveDescriptor } from './descriptors.ts'
import { hostOf } from './hosts.ts'
import { withoutLegalForm } from './noise.ts'
import { unwrap } from './processors.ts'

/** An asterisk, and what is taken for one. */
const asterisks = /[*＊﹡∗⁎✱٭]/u

const hasLetter = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

/** Whom a text of a statement names, and through whom: no more is taken away than a processor and a number. */
export interface Named {
  readonly name: string
  readonly processor: string | null
}

/** Strict enough to admit by: of `Bookshop*Casino` nothing is taken away, for anybody can stand behind the asterisk. */
export function namedIn(text: string): Named {
  if (!text.includes('*')) return { name: text, processor: null }
  const { text: inner, processors } = unwrap(text)
  const name = inner.replace(/\s*\*\s*\d[\d\s./-]*$/, '')
  return name ? { name, processor: processors.at(-1) ?? null } : { name: text, processor: null }
}

/**
 * Every name that a text of a statement can be of, whole and in parts, with less and less of what stands behind it; and
 * those through whom it is paid. For who must not be paid under any of them.
 */
export const allNamesIn = boundedCache((text: string): readonly string[] => {
  if (hostOf(text)) return [text]
  const { text: inner, processors } = unwrap(text)
  const names = new Set([text, ...processors, resolveDescriptor(text).name])
  for (const part of [inner, ...text.split(asterisks)].map(one => one.trim()).filter(hasLetter)) {
    names.add(part)
    if (!hostOf(part)) for (const words of lessAndLess(part)) names.add(words.join(' '))
  }
  return [...names]
})

/** The names that a pattern of a blocklist is of; a list may be long, and each of its patterns is read so. */
export function namesOfPattern(pattern: string): ReadonlySet<string> {
  const { name } = namedIn(pattern)
  return new Set([pattern, name, withoutLegalForm(name), knownName(name) ?? name])
}

/** Whether a text is meant as the number of an account: two letters of a country, two digits, and enough behind them. */
export const looksLikeIban = (text: string): boolean =>
  /^\s*[A-Za-z]{2}\s*\d/.test(text) &&
  /^[A-Z]{2}\d{2}(?=(?:[A-Z]*\d){8})[A-Z0-9]{11,30}$/.test(plainIban(text))

/** Why what looks like an IBAN is none; undefined where it is one. */
export const problemOfIban = (text: string): string | undefined => ibanProblem(plainIban(text))
