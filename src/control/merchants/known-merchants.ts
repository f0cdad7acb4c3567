import { merchantTable } from './merchant-table.ts'

export interface KnownMerchant {
  readonly name: string
  readonly mcc: string
}

export interface KnownMerchantMatch {
  readonly merchant: KnownMerchant
  readonly rest: readonly string[]
  /** What follows a prefix of one word without a space: `AB` in `SPOTIFYAB`. */
  readonly glued: string
}

const MAX_PATTERN_WORDS = 5
const byPattern = new Map<string, KnownMerchant>()
const byPrefix = new Map<string, KnownMerchant>()

for (const line of merchantTable.trim().split('\n')) {
  const [name = '', mcc = '', patterns = ''] = line.split('|')
  for (const pattern of (patterns || name.toUpperCase()).split(', '))
    if (pattern.endsWith('…')) byPrefix.set(pattern.slice(0, -1), { name, mcc })
    else byPattern.set(pattern, { name, mcc })
}
const prefixes = [...byPrefix.keys()]

export function findKnownMerchant(words: readonly string[]): KnownMerchantMatch | undefined {
  const text = words.join(' ')
  const counts = Array.from({ length: Math.min(words.length, MAX_PATTERN_WORDS) }, (_, index) => index + 1)
  const matching = [
    ...counts.map(count => words.slice(0, count).join(' ')).filter(pattern => byPattern.has(pattern)),
    ...prefixes.filter(prefix => text.startsWith(prefix)),
  ]
  const [longest] = matching.toSorted((a, b) => b.length - a.length)
  const merchant = byPattern.get(longest ?? '') ?? byPrefix.get(longest ?? '')
  if (!longest || !merchant) return undefined
  const length = longest.split(' ').length
  const glued = length === 1 ? (words[0] ?? '').slice(longest.length) : ''
  return { merchant, rest: words.slice(length), glued }
}
