import type { Anomaly, AnomalyGrouping } from './anomaly.ts'

const keys: Readonly<Record<AnomalyGrouping, (of: Anomaly) => string | null>> = {
  kind: ({ kind }) => kind,
  agent: ({ agentId }) => agentId,
  merchant: ({ merchant }) => merchant,
}

/** How many of these are of each kind, agent or merchant: the most first, of two alike in the order of the alphabet. */
export function groupsOf(
  found: readonly Anomaly[],
  groupBy: AnomalyGrouping,
  names: ReadonlyMap<string, string>,
) {
  return [...Map.groupBy(found, keys[groupBy])]
    .map(([key, ofKey]) => ({
      key,
      name: groupBy === 'agent' ? (names.get(key ?? '') ?? null) : null,
      count: ofKey.length,
    }))
    .sort((one, other) => other.count - one.count || ((one.key ?? '') < (other.key ?? '') ? -1 : 1))
}
