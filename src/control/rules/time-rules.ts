import { minutes } from '../../values/clock.ts'
import type { Rule } from './evaluation.ts'
import { type Counters, says } from './decision.ts'

/** An instant is said far more often than it changes. */
function remembering(say: (at: Date) => string): (at: Date) => string {
  let last = Number.NaN
  let said = ''
  return at => {
    if (at.getTime() !== last) [last, said] = [at.getTime(), say(at)]
    return said
  }
}

/** What stops the cards stops every other way to pay. Where its end is only notified, the agent goes on under it. */
export const expiry: Rule = {
  name: 'expiresAfterMinutes',
  judge: terms => {
    if (!terms?.expiresAfterMinutes) return undefined
    const [outcome, afterwards] =
      terms.expirationAction === 'notify' ? (['pass', ', and goes on'] as const) : (['fail', ''] as const)
    const endInWords = remembering(end => `${end.toISOString().slice(0, 16).replace('T', ' ')} UTC`)
    return ({ request: { at, policyEndsAt } }) => {
      if (policyEndsAt === null) return undefined
      const end = endInWords(policyEndsAt)
      return at < policyEndsAt
        ? says('expiresAfterMinutes', 'pass', `The policy holds until ${end}.`)
        : says('expiresAfterMinutes', outcome, `The policy ended on ${end}${afterwards}.`)
    }
  },
  silent: 'The policy has no end.',
  remedy: 'Assign a policy to the agent again.',
}

const clockTime = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

/** The first hour is in, the last one out; past midnight where the end is the smaller one, all day where they are equal. */
export const isActive = (hour: number, start: number, end: number): boolean => {
  if (start === end) return true
  return start < end ? hour >= start && hour < end : hour >= start || hour < end
}

export const activeHours: Rule = {
  name: 'activeHoursStart',
  judge: terms => {
    if (!terms || (terms.activeHoursStart === null && terms.activeHoursEnd === null)) return undefined
    const { activeHoursStart, activeHoursEnd } = terms
    // Of which only one is set, the other is midnight.
    const [start, end] = [activeHoursStart ?? 0, activeHoursEnd ?? 0]
    const span = start === end ? 'all day' : `from ${clockTime(start)} to ${clockTime(end)} UTC`
    const [within, without] = [`The agent may spend ${span}.`, `The agent may spend ${span}, and it is`]
    return ({ request: { at } }) =>
      isActive(at.getUTCHours(), start, end)
        ? says('activeHoursStart', 'pass', within)
        : says('activeHoursStart', 'fail', `${without} ${at.toISOString().slice(11, 16)} UTC.`)
  },
  silent: 'The agent may spend at every hour.',
  remedy: 'Wait until the hours in which the agent may spend, or change them.',
}

export const cooldown: Rule = {
  name: 'cooldownMinutes',
  judge: terms => {
    const limit = terms?.cooldownMinutes
    if (!limit) return undefined
    return ({ request: { at }, counters: { lastSpendAt } }) => {
      if (lastSpendAt === null)
        return says('cooldownMinutes', 'skip', 'The agent has not spent yet: there is nothing to wait for.')
      const passed = Math.max(at.getTime() - lastSpendAt.getTime(), 0)
      const within = passed >= minutes(limit)
      const [used, remaining] = [
        Math.floor(passed / minutes(1)),
        within ? 0 : Math.ceil(limit - passed / minutes(1)),
      ]
      const message = `${limit} minutes must lie between two spends: ${used} have passed, ${remaining} are left.`
      return { rule: 'cooldownMinutes', outcome: within ? 'pass' : 'fail', limit, used, remaining, message }
    }
  },
  silent: 'No time must lie between two spends.',
  remedy: 'Wait until that time has passed, or shorten it.',
}

/** What is paid apart from what may still be; decisions of before they were told apart have their sum alone. */
const usesInWords = ({ uses, openUses }: Counters): string =>
  openUses === undefined
    ? `${uses} used`
    : `${uses - openUses} completed, ${openUses} reserved for open intents`

export const usage: Rule = {
  name: 'maxUsageCount',
  judge: terms => {
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
  silent: 'The number of payments is not limited.',
  remedy: 'Raise the number of payments, or assign a policy to the agent again: counting begins anew.',
}
