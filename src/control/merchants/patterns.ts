import { hasInvisible } from './confusables.ts'
import { hostOf } from './hosts.ts'
import { wildcardOf } from './matcher.ts'
import { looksLikeIban, namedMerchant, problemOfIban } from './names.ts'

/** Labels under which anybody can register in a country's domain: `co.uk`, `com.au`. */
const publicLabels = new Set(['ac', 'co', 'com', 'edu', 'gov', 'gob', 'go', 'ne', 'net', 'or', 'org'])

type PatternCheck = readonly [hasProblem: (pattern: string) => boolean, problem: string]

const checks: readonly PatternCheck[] = [
  [pattern => pattern === '', 'is empty; leave it out'],
  [hasInvisible, 'has characters that are not seen; type it anew'],
  [pattern => pattern === '*', 'a lone asterisk stands for everybody; leave the list empty for no rule'],
  [
    pattern =>
      pattern.includes('*') && !/^\*\.[^*]+$/.test(pattern) && namedMerchant(pattern).name.includes('*'),
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

/** Whether a wildcard matches hosts of many owners. */
function isTooWide(pattern: string): boolean {
  const domain = wildcardOf(pattern)
  if (domain === undefined) return true
  const [label = '', country = '', ...more] = domain.split('.')
  return more.length === 0 && country.length === 2 && publicLabels.has(label)
}

/** Says what is wrong with a merchant pattern, to the person who wrote it; undefined if nothing is. */
export function patternProblem(pattern: string): string | undefined {
  const trimmed = pattern.trim()
  const problem = checks.find(([hasProblem]) => hasProblem(trimmed))?.[1]
  if (problem) return problem
  const ibanProblem = looksLikeIban(trimmed) ? problemOfIban(trimmed) : undefined
  return ibanProblem && `looks like an IBAN, and is none: ${ibanProblem}`
}
