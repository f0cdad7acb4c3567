import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { figuresOf, namesOfAgents, type ReportScope, shareOf } from '../reports/index.ts'
import { readSpend, type SpendSum } from '../spend/index.ts'
import { distribute } from './distribute.ts'
import { groupsBy } from './groups.ts'
import { spendByLabel } from './labels.ts'

/** How costs without a label are shared: not at all, by what each label costs, or alike. */
export const sharingRules = ['none', 'by_spend', 'alike'] as const
export type Sharing = (typeof sharingRules)[number]

interface Wanted extends ReportScope {
  readonly groupBy: string
  readonly shared: Sharing
  readonly limit: number
}

async function sumsBy(sql: Sql, tenant: Tenant, { groupBy, ...scope }: Wanted): Promise<SpendSum[]> {
  if (groupBy.startsWith('metadata.')) {
    const key = groupBy.slice('metadata.'.length)
    return spendByLabel(sql, tenant, { ...scope, key })
  }
  if (groupBy === 'merchant') return readSpend(sql, tenant, { ...scope, views: ['merchant'], by: ['value'] })
  const of = groupBy as 'agent' | 'run'
  return readSpend(sql, tenant, { ...scope, views: [of], by: [of] })
}

const labelOf = (groupBy: string) => {
  if (groupBy === 'agent') return ({ agentId }: SpendSum) => agentId
  return groupBy === 'run' ? ({ runId }: SpendSum) => runId : ({ value }: SpendSum) => value
}

/** What has no label is divided among those that have one, or stays a line of its own. */
function sharesOf(
  groups: readonly { readonly key: string; readonly netEuros: Euros }[],
  shared: Sharing,
): Euros[] {
  const none = groups.map(() => 0n)
  const unlabelled = groups.findIndex(({ key }) => key === '')
  if (shared === 'none' || unlabelled < 0 || groups.length === 1) return none
  const whole = groups[unlabelled]?.netEuros ?? 0n
  const labelled = groups.filter(({ key }) => key !== '')
  const weights = labelled.map(({ netEuros }) => (shared === 'alike' ? 1n : netEuros))
  const parts = distribute(whole, weights)
  return groups.map(({ key }) => (key === '' ? -whole : (parts.shift() ?? 0n)))
}

/** The costs divided by a label: the parts are the whole, to the cent. */
export async function allocationOf(sql: Sql, tenant: Tenant, wanted: Wanted) {
  const { groupBy, shared, limit } = wanted
  const groups = groupsBy(await sumsBy(sql, tenant, wanted), labelOf(groupBy))
  const shares = sharesOf(groups, shared)
  const total = figuresOf(groups.flatMap(({ sums }) => sums))
  const lines = groups.map(({ key, sums: _, ...figures }, index) => {
    const sharedEuros = shares[index] ?? 0n
    const allocatedEuros = figures.netEuros + sharedEuros
    return {
      label: key || null,
      ...figures,
      sharedEuros,
      allocatedEuros,
      share: shareOf(allocatedEuros, total.netEuros),
    }
  })
  const [told, rest] = [lines.slice(0, limit), lines.slice(limit)]
  const names =
    groupBy === 'agent'
      ? await namesOfAgents(
          sql,
          tenant,
          told.flatMap(({ label }) => label ?? []),
        )
      : new Map()
  return {
    total,
    data: told.map(line => ({ name: names.get(line.label ?? '') ?? null, ...line })),
    other: rest.length > 0 ? otherOf(rest) : null,
  }
}

type Line = ReturnType<typeof figuresOf> & { readonly sharedEuros: Euros; readonly allocatedEuros: Euros }

function otherOf(lines: readonly Line[]) {
  const add = (of: (line: Line) => Euros): Euros => lines.reduce((all, line) => all + of(line), 0n)
  return {
    groups: lines.length,
    count: lines.reduce((all, { count }) => all + count, 0),
    spentEuros: add(line => line.spentEuros),
    refundedEuros: add(line => line.refundedEuros),
    netEuros: add(line => line.netEuros),
    sharedEuros: add(line => line.sharedEuros),
    allocatedEuros: add(line => line.allocatedEuros),
  }
}

export type Allocation = Awaited<ReturnType<typeof allocationOf>>
