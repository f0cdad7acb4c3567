import fc from 'fast-check'
import type { ApprovalStep } from '../../../src/values/approval-steps.ts'
import { stepOf } from './followed-steps.ts'
import type { Role } from './steps-oracle.ts'

export const names = ['a', 'b', 'c', 'd', 'e']
export const anyName = fc.constantFrom(...names)

const anyStep = fc.record({
  above: fc.constantFrom(0, 0, 0, 10, 20),
  of: fc.constantFrom<ApprovalStep['of']>('owners', 'approvers', ['a'], ['a'], ['b', 'c'], names),
  need: fc.constantFrom(1, 1, 1, 2, 2, 3),
  withinMinutes: fc.constantFrom(10, 20, 90),
  ending: fc.constantFrom<ApprovalStep['then']>('next', 'next', 'next', 'deny'),
})

export const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 4 }).map(steps => {
  const amounts = steps.map(({ above }) => above).sort((one, other) => one - other)
  const isLast = (place: number): boolean => place === steps.length - 1
  return steps.map(({ above: _, ending, ...terms }, place) =>
    stepOf({ ...terms, aboveCents: String(amounts[place]), ending: isLast(place) ? 'deny' : ending }),
  )
})

const anyRole = fc.constantFrom<Role>('owner', 'approver')
export const roleOrNone = fc.constantFrom<(Role | undefined)[]>(
  'owner',
  'owner',
  'approver',
  'approver',
  undefined,
)

export const anyPeople = fc
  .tuple(anyRole, roleOrNone, roleOrNone, roleOrNone, roleOrNone)
  .map(
    (roles): Record<string, Role> =>
      Object.fromEntries(roles.flatMap((role, place) => (role ? [[names[place], role]] : []))),
  )
