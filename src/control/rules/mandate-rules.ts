import { type Euros, formatEuros } from '../../values/money.ts'
import { asksForAmount } from './amount-rules.ts'
import {
  type Check,
  type MandateLimit,
  type MandateUse,
  plainCheck,
  type RuledMandate,
  remainingOf,
  toFigure,
} from './decision.ts'
import type { Rule } from './evaluation.ts'

export const mandateInWords = ({ id, name }: Pick<MandateUse, 'id' | 'name'>): string =>
  `The mandate ${name ?? id}`

const periods = { day: 'today', month: 'this month', all: 'in all' } as const

const leftOf = ({ limitEuros, usedEuros }: MandateLimit): Euros =>
  remainingOf({ limit: limitEuros, used: usedEuros })

/** A message to follow the mandate's name; undefined where each of its limits leaves room. */
export function lackOf(
  { perTransactionEuros, limits, count }: Pick<MandateUse, 'perTransactionEuros' | 'limits' | 'count'>,
  amount: Euros,
): string | undefined {
  if (perTransactionEuros !== null && amount > perTransactionEuros)
    return `allows ${formatEuros(perTransactionEuros)} for one payment`
  const short = limits.find(limit => amount > leftOf(limit))
  if (short) return `has ${formatEuros(leftOf(short))} left ${periods[short.period]}`
  return count !== null && count.used >= count.limit ? 'has no payment left' : undefined
}

interface LimitLeft extends Pick<MandateLimit, 'period' | 'limitEuros'> {
  readonly leftEuros: Euros
}

const leftAfter = ({ limits }: MandateUse, holdEuros: Euros): LimitLeft[] =>
  limits.map(({ period, limitEuros, usedEuros }) => ({
    period,
    limitEuros,
    leftEuros: limitEuros - usedEuros - holdEuros,
  }))

const inPayments = (count: number): string => (count === 1 ? '1 payment' : `${count} payments`)

/** The rest of the mandate, as the end of a sentence. A limit for each payment alone leaves no less. */
function leftInWords(left: readonly LimitLeft[], paymentsLeft: number | null): string {
  const parts = left.map(({ period, leftEuros }) => `${formatEuros(leftEuros)} ${periods[period]}`)
  if (paymentsLeft !== null) parts.push(inPayments(paymentsLeft))
  const last = parts.pop()
  if (last === undefined) return ''
  return `, and then leaves ${parts.length > 0 ? `${parts.join(', ')} and ` : ''}${last}`
}

/** The mandate as a decision names it, with its rest after this amount. */
export function ruledMandate(mandate: MandateUse, holdEuros: Euros): RuledMandate {
  const left = leftAfter(mandate, holdEuros)
  const figureOf = (of: MandateLimit['period']): number | null => {
    const found = left.find(({ period }) => period === of)
    return found ? toFigure(found.leftEuros) : null
  }
  const { id, name, expiresAt, perTransactionEuros } = mandate
  return {
    id,
    name,
    expiresAt: expiresAt.toISOString(),
    perTransactionEuros: perTransactionEuros === null ? null : toFigure(perTransactionEuros),
    dayLeftEuros: figureOf('day'),
    monthLeftEuros: figureOf('month'),
    totalLeftEuros: figureOf('all'),
    countLeft: countLeft(mandate),
  }
}

const countLeft = ({ count }: MandateUse): number | null =>
  count === null ? null : count.limit - count.used - 1

/** The figures of the check are those of the limit with the smallest rest. */
function allowedBy(use: MandateUse, holdEuros: Euros): Check {
  const left = leftAfter(use, holdEuros)
  const narrowest = left.toSorted((one, other) => (one.leftEuros < other.leftEuros ? -1 : 1))[0]
  const words = leftInWords(left, countLeft(use))
  return {
    ...plainCheck('mandate', 'pass', `${mandateInWords(use)} allows it without a person${words}.`),
    ...(narrowest && {
      limit: toFigure(narrowest.limitEuros),
      used: toFigure(narrowest.limitEuros - narrowest.leftEuros),
      remaining: toFigure(narrowest.leftEuros),
    }),
  }
}

const skip = (message: string): Check => plainCheck('mandate', 'skip', message)

/**
 * A mandate replaces the person whom the amount alone would ask. Requests for a person for any other reason
 * stay, and a spend that the policy approves by itself uses nothing of it.
 */
export const mandate: Rule = {
  name: 'mandate',
  compile: terms => {
    if (terms?.requireAttestation) return undefined
    return ({ request, holdEuros, outcomeSoFar }) => {
      const { kind, approval, mandate: use, outsideMandates, amountEuros } = request
      if (kind !== 'intent' || approval || !asksForAmount(terms, amountEuros)) return undefined
      if (!use) return outsideMandates ? skip(outsideMandates) : undefined
      const lack = lackOf(use, amountEuros)
      if (lack !== undefined) return skip(`${mandateInWords(use)} ${lack}.`)
      return outcomeSoFar === 'pass'
        ? allowedBy(use, holdEuros)
        : skip(`${mandateInWords(use)} stands in for the amount alone, and there is another reason.`)
    }
  },
  skipMessage: 'No mandate is needed, or the agent has none.',
  remedy: 'A person signs a mandate that allows it.',
}
