import { minutes } from '../../values/clock.ts'
import { checkWithoutLimit, type SpendCounters } from './decision.ts'
import type { PolicyRule } from './evaluation.ts'

/** Caches the last formatted instant, since the end of a policy is formatted at each spend, and hardly ever changes. */
function rememberLast(format: (at: Date) => string): (at: Date) => string {
  let lastTime = Number.NaN
  let lastText = ''
  return at => {
    if (at.getTime() !== lastTime) {
      lastTime = at.getTime()
      lastText = format(at)
    }
    return lastText
  }
}

/**
 * The end of a policy stops every way to pay, not only cards. With `notify`, the agent may continue to spend
 * under it.
 */
export const policyExpiryRule: PolicyRule = {
  name: 'expiresAfterMinutes',
  compile: terms => {
    if (!terms?.expiresAfterMinutes) return undefined
    const [outcome, afterwards] =
      terms.expirationAction === 'notify' ? (['pass', ', and goes on'] as const) : (['fail', ''] as const)
    const endInWords = rememberLast(end => `${end.toISOString().slice(0, 16).replace('T', ' ')} UTC`)
    return ({ request: { at, policyEndsAt } }) => {
      if (policyEndsAt === null) return undefined
      const end = endInWords(policyEndsAt)
      return at < policyEndsAt
        ? checkWithoutLimit('expiresAfterMinutes', 'pass', `The policy is valid until ${end}.`)
        : checkWithoutLimit('expiresAfterMinutes', outcome, `The policy ended on ${end}${afterwards}.`)
    }
  },
  skipMessage: 'The policy has no end.',
  remedy: 'Assign a policy to the agent again.',
}

const clockTime = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

/**
 * The start is included, the end is not. A span whose end is smaller continues past midnight; equal hours
 * mean all day.
 */
export const isWithinActiveHours = (hour: number, start: number, end: number): boolean => {
  if (start === end) return true
  return start < end ? hour >= start && hour < end : hour >= start || hour < end
}

export const activeHoursRule: PolicyRule = {
  name: 'activeHoursStart',
  compile: terms => {
    if (!terms || (terms.activeHoursStart === null && terms.activeHoursEnd === null)) return undefined
    const { activeHoursStart, activeHoursEnd } = terms
    const start = activeHoursStart ?? 0
    const end = activeHoursEnd ?? 0
    const span = start === end ? 'all day' : `from ${clockTime(start)} to ${clockTime(end)} UTC`
    const message = `The agent may spend ${span}`
    return ({ request: { at } }) =>
      isWithinActiveHours(at.getUTCHours(), start, end)
        ? checkWithoutLimit('activeHoursStart', 'pass', `${message}.`)
        : checkWithoutLimit(
            'activeHoursStart',
            'fail',
            `${message}, and it is ${at.toISOString().slice(11, 16)} UTC.`,
          )
  },
  skipMessage: 'The agent may spend at every hour.',
  remedy: 'Wait until the hours in which the agent may spend, or change them.',
}

export const cooldownRule: PolicyRule = {
  name: 'cooldownMinutes',
  compile: terms => {
    const limit = terms?.cooldownMinutes
    if (!limit) return undefined
    return ({ request: { at }, counters: { lastSpendAt } }) => {
      if (lastSpendAt === null)
        return checkWithoutLimit(
          'cooldownMinutes',
          'skip',
          'The agent has not spent yet: there is nothing to wait for.',
        )
      const passed = Math.max(at.getTime() - lastSpendAt.getTime(), 0)
      const isOver = passed >= minutes(limit)
      const used = Math.floor(passed / minutes(1))
      const remaining = isOver ? 0 : Math.ceil(limit - passed / minutes(1))
      const message = `${limit} minutes must pass between two spends: ${used} have passed, ${remaining} are left.`
      return { rule: 'cooldownMinutes', outcome: isOver ? 'pass' : 'fail', limit, used, remaining, message }
    }
  },
  skipMessage: 'No cooldown is set.',
  remedy: 'Wait until then, or shorten the cooldown.',
}

/** Completed and open uses; old decisions contain only their sum. */
const usesInWords = ({ uses, openUses }: SpendCounters): string =>
  openUses === undefined
    ? `${uses} used`
    : `${uses - openUses} completed, ${openUses} reserved for open intents`

export const usageCountRule: PolicyRule = {
  name: 'maxUsageCount',
  compile: terms => {
    const limit = terms?.maxUsageCount ?? null
    if (limit === null) return undefined
    return ({ counters }) => {
      const used = counters.uses
      const remaining = Math.max(limit - used, 0)
      const [outcome, verb] = remaining > 0 ? (['pass', 'is not'] as const) : (['fail', 'is'] as const)
      const message = `The limit of ${limit} payments ${verb} reached: ${usesInWords(counters)}, ${remaining} left.`
      return { rule: 'maxUsageCount', outcome, limit, used, remaining, message }
    }
  },
  skipMessage: 'The number of payments is not limited.',
  remedy: 'Raise the number of payments, or assign a policy to the agent again, which restarts the count.',
}
