import { services } from './mcc-services.ts'
import { shops } from './mcc-shops.ts'
import { trades } from './mcc-trades.ts'

export interface Category {
  readonly code: string
  readonly description: string
}

/** ISO leaves these codes to the card schemes, which give them to single companies. */
const companyCategories = [
  { from: 3000, to: 3350, description: 'An airline with a code of its own' },
  { from: 3351, to: 3500, description: 'A car hire company with a code of its own' },
  { from: 3501, to: 3999, description: 'A hotel chain with a code of its own' },
].flatMap(({ from, to, description }) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ code: String(from + index), description })),
)

const sharedCategories = [trades, shops, services].flatMap(text =>
  text
    .trim()
    .split('\n')
    .map(line => ({ code: line.slice(0, 4), description: line.slice(5) })),
)

/** Every merchant category, sorted by code. */
export const categories: readonly Category[] = [...sharedCategories, ...companyCategories].sort((a, b) =>
  a.code < b.code ? -1 : 1,
)

const byCode = new Map(categories.map(category => [category.code, category]))

export const categoryOf = (code: string): string | null => byCode.get(code)?.description ?? null
