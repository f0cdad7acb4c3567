import type { Tenant } from '../../kernel/contract/actor.ts'
import type { StatedWidening } from '../../statements/index.ts'
import type { RiskSettings } from './score.ts'

type Numbers = readonly (readonly [field: string, value: number])[]

const thresholdsIn = ({ thresholds, velocityCount }: RiskSettings): Numbers => [
  ...Object.entries(thresholds),
  ['velocityCount', velocityCount],
]

const pointsIn = ({ weights, velocityWindowMinutes }: RiskSettings): Numbers => [
  ...Object.entries(weights),
  ['velocityWindowMinutes', velocityWindowMinutes],
]

function changed(before: Numbers, after: Numbers, isLooser: (from: number, to: number) => boolean) {
  const values = new Map(after)
  return before.flatMap(([field, from]) => {
    const to = values.get(field) ?? from
    return isLooser(from, to) ? [{ field, from: String(from), to: String(to) }] : []
  })
}

/** The settings by which fewer spends are stopped or reviewed than before. */
export const wideningsOfRisk = (
  before: RiskSettings,
  after: RiskSettings,
  { ownerId }: Tenant,
): StatedWidening[] =>
  [
    ...(before.enabled && !after.enabled ? [{ field: 'enabled', from: 'true', to: 'false' }] : []),
    ...changed(thresholdsIn(before), thresholdsIn(after), (from, to) => to > from),
    ...changed(pointsIn(before), pointsIn(after), (from, to) => to < from),
  ].map(({ field, ...values }) => ({
    of: 'account',
    id: ownerId,
    name: null,
    field: `Risk setting ${field}`,
    ...values,
  }))
