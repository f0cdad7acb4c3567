import { type Figures, figuresOf } from '../reports/index.ts'
import type { SpendSum } from '../spend/index.ts'

/** A group of payments, by whatever they are grouped. */
export interface Group extends Figures {
  readonly key: string
  readonly sums: readonly SpendSum[]
}

/** The highest net spend first; of equal ones the key decides, so that an answer does not depend on chance. */
export const byNet = (one: Pick<Group, 'key' | 'netEuros'>, other: Pick<Group, 'key' | 'netEuros'>): number =>
  Number(other.netEuros - one.netEuros) || (one.key < other.key ? -1 : 1)

export const groupsBy = (sums: readonly SpendSum[], keyOf: (sum: SpendSum) => string): Group[] =>
  [...Map.groupBy(sums, keyOf)].map(([key, of]) => ({ key, sums: of, ...figuresOf(of) })).sort(byNet)
