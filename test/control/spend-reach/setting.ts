import fc from 'fast-check'

/** Above every step of every setting, and within the limit of one step. */
export const LARGE = 90
export const SMALL = 10

export const names = ['ada', 'bob', 'cem'] as const
export type Name = (typeof names)[number]

export type Role = 'owner' | 'approver' | 'viewer'

/** At the beginning, of those who are active. */
export const roles: Readonly<Record<string, Role>> = {
  ada: 'owner',
  bob: 'owner',
  cem: 'approver',
  dan: 'approver',
  vera: 'viewer',
}

export interface Step {
  readonly above: number
  readonly of: 'owners' | 'approvers' | readonly string[]
  readonly need: number
}

/** Who tries: one set of credentials, from which all others of the sequence come. */
export const adversaries = [
  'owner',
  'approver',
  'viewer',
  'fullKey',
  'moneyKey',
  'policyKey',
  'token',
  'delegation',
  'assistant',
] as const
export type AdversaryKind = (typeof adversaries)[number]

export interface Setting {
  readonly adversary: AdversaryKind
  readonly steps: readonly Step[]
  /** What the agent's token may spend in all, in euros. */
  readonly tokenMaximum: number | null
  /** Whether the card's own limits hold it to that. */
  readonly isCardLimited: boolean
  /** Whether another agent has a policy that asks no one. */
  readonly hasLooseAgent: boolean
  /** Whether a wallet without an agent has money. */
  readonly hasReserve: boolean
}

type Roles = Readonly<Record<string, Role>>

export const isAsked = ({ of }: Step, name: string, people: Roles = roles): boolean => {
  const role = people[name]
  if (role === undefined || role === 'viewer') return false
  if (of === 'owners') return role === 'owner'
  return of === 'approvers' || of.includes(name)
}

/** Whether these people suffice for an amount: each counts in one step. */
export function suffices(
  steps: readonly Step[],
  euros: number,
  approvers: readonly string[],
  people: Roles = roles,
): boolean {
  const open = steps.flatMap(step =>
    euros > step.above ? Array.from({ length: step.need }, () => step) : [],
  )
  const give = (place: number, left: readonly string[]): boolean => {
    const step = open[place]
    const without = (name: string) => left.filter(one => one !== name)
    return (
      step === undefined || left.some(name => isAsked(step, name, people) && give(place + 1, without(name)))
    )
  }
  return give(0, [...new Set(approvers)])
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  above: fc.constantFrom(20, 50),
  of: fc.constantFrom<Step['of']>(
    'owners',
    'approvers',
    ['ada'],
    ['ada'],
    ['bob'],
    ['ada', 'bob'],
    ['bob', 'cem'],
  ),
  need: fc.constantFrom(1, 1, 2),
})

export const anySteps = fc
  .array(anyStep, { minLength: 1, maxLength: 2 })
  .map(steps => steps.toSorted((one, other) => one.above - other.above))
  .filter(steps => suffices(steps, LARGE, names))

export const anySetting: fc.Arbitrary<Setting> = fc.record({
  adversary: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<AdversaryKind>('owner') },
    { weight: 9, arbitrary: fc.constantFrom(...adversaries.filter(one => one !== 'assistant')) },
    { weight: 1, arbitrary: fc.constantFrom<AdversaryKind>('assistant') },
  ),
  steps: anySteps,
  tokenMaximum: fc.constantFrom(null, 12, 12),
  isCardLimited: fc.boolean(),
  hasLooseAgent: fc.boolean(),
  hasReserve: fc.boolean(),
})
