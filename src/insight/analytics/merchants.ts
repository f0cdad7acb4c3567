import { figuresOf, type KnownScope, shareOf } from '../reports/index.ts'
import { readTop, type Spend } from '../spend/index.ts'
import { merchantDetails } from './merchant-details.ts'

type Wanted = KnownScope & { readonly groupBy: 'merchant' | 'mcc'; readonly limit: number }

const NO_DETAILS = { names: [], firstOn: null, lastOn: null, rhythm: null }

/** The merchants, or their trades, that most was paid to. */
export async function merchantsOf(spend: Spend, { groupBy, limit, ...scope }: Wanted) {
  const sums = await readTop(spend, { ...scope, views: [groupBy] }, limit)
  const total = figuresOf(sums)
  const told = sums.flatMap(sum => (sum.value === null ? [] : { key: sum.value, ...figuresOf([sum]) }))
  const rest = sums.find(({ value }) => value === null)
  const values = groupBy === 'merchant' ? told.map(({ key }) => key) : []
  const detailsOf =
    values.length > 0
      ? await merchantDetails(spend, { ...scope, before: scope.knownBefore, values })
      : undefined
  return {
    total,
    data: told.map(({ key, ...figures }) => ({
      key: key || null,
      ...figures,
      share: shareOf(figures.netEuros, total.netEuros),
      ...(detailsOf?.(key) ?? NO_DETAILS),
    })),
    other: rest ? { groups: rest.values, ...figuresOf([rest]) } : null,
  }
}

export type Merchants = Awaited<ReturnType<typeof merchantsOf>>
