import { hasUnseen } from './confusables.ts'
import { hostOf } from './hosts.ts'
import { wildcardOf } from './matcher.ts'
import { looksLikeIban, namedIn, problemOfIban } from './names.ts'

/** Under these, at the end of a country's domain, anybody registers: `co.uk`, `com.au`. */
const registries = new Set(['ac', 'co', 'com', 'edu', 'gov', 'gob', 'go', 'ne', 'net', 'or', 'org'])

const isOfARegistry = (domain: string): boolean => {
  const [label = '', country = '', ...more] = domain.split('.')
  return more.length === 0 && country.length === 2 && registries.has(label)
}

type Rule = readonly [isSo: (pattern: string) => boolean, problem: string]

const rules: readonly Rule[] = [
  [pattern => pattern === '', 'is empty; leave it out'],
  [hasUnseen, 'has characters that are not seen; type it anew'],
  [pattern => pattern === '*', 'a lone asterisk stands for everybody; leave the list empty for no rule'],
  [
    pattern => pattern.includes('*') && !/^\*\.[^*]+$/.test(pattern) && namedIn(pattern).name.includes('*'),
    'an asterisk stands only in front of a host, as in *.example.com, or as statements have it: SQ *BOOKSHOP',
  ],
  [
    pattern => pattern.startsWith('*.') && isTooWide(pattern),
    'names no domain of one owner; write it as in *.example.com',
  ],
  [
    pattern => hostOf(pattern) !== undefined && /[/:?#\\]/.test(pattern),
    'is more than a host; write the host alone, as in shop.example.com',
  ],
]

function isTooWide(pattern: string): boolean {
  const domain = wildcardOf(pattern)
  return domain === undefined || isOfARegistry(domain)
}

/** What is wrong with a pattern of merchants, for the person who wrote it; undefined where nothing is. */
export function patternProblem(pattern: string): string | undefined {
  const trimmed = pattern.trim()
  const problem = rules.find(([isSo]) => isSo(trimmed))?.[1]
  if (problem) return problem
  const wrong = looksLikeIban(trimmed) ? problemOfIban(trimmed) : undefined
  return wrong && `looks like an IBAN, and is none: ${wrong}`
}
