import { addCents, type Cents, formatMoney, subtractCents } from '../../values/money.ts'
import { exceedsAutoApproveLimit } from './amount-rules.ts'
import {
  type ApprovingMandate,
  centsToEuroNumber,
  checkWithoutLimit,
  type MandateLimitUsage,
  type MandateUsage,
  type RuleCheck,
  remainingLimit,
} from './decision.ts'
import type { PolicyRule } from './evaluation.ts'

export const mandateLabel = ({ id, name }: Pick<MandateUsage, 'id' | 'name'>): string =>
  `The mandate ${name ?? id}`

const periods = { day: 'today', month: 'this month', all: 'in all' } as const

const leftOf = ({ limitCents, usedCents }: MandateLimitUsage): Cents =>
  remainingLimit({ limit: limitCents, used: usedCents })

export function mandateShortfall(
  { perTransactionCents, limits, count }: Pick<MandateUsage, 'perTransactionCents' | 'limits' | 'count'>,
  amount: Cents,
): string | undefined {
  if (perTransactionCents !== null && amount > perTransactionCents)
    return `allows ${formatMoney(perTransactionCents)} for one payment`
  const short = limits.find(limit => amount > leftOf(limit))
  if (short) return `has ${formatMoney(leftOf(short))} left ${periods[short.period]}`
  return count !== null && count.used >= count.limit ? 'has no payment left' : undefined
}

interface LimitLeft extends Pick<MandateLimitUsage, 'period' | 'limitCents'> {
  readonly leftCents: Cents
}

const leftAfter = ({ limits }: MandateUsage, holdCents: Cents): LimitLeft[] =>
  limits.map(({ period, limitCents, usedCents }) => ({
    period,
    limitCents,
    leftCents: subtractCents(limitCents, addCents(usedCents, holdCents)),
  }))

const inPayments = (count: number): string => (count === 1 ? '1 payment' : `${count} payments`)

function leftInWords(left: readonly LimitLeft[], paymentsLeft: number | null): string {
  const parts = left.map(({ period, leftCents }) => `${formatMoney(leftCents)} ${periods[period]}`)
  if (paymentsLeft !== null) parts.push(inPayments(paymentsLeft))
  const last = parts.pop()
  if (last === undefined) return ''
  return `, and then leaves ${parts.length > 0 ? `${parts.join(', ')} and ` : ''}${last}`
}

export function approvingMandate(mandate: MandateUsage, holdCents: Cents): ApprovingMandate {
  const left = leftAfter(mandate, holdCents)
  const figureOf = (of: MandateLimitUsage['period']): number | null => {
    const found = left.find(({ period }) => period === of)
    return found ? centsToEuroNumber(found.leftCents) : null
  }
  const { id, name, expiresAt, perTransactionCents } = mandate
  return {
    id,
    name,
    expiresAt: expiresAt.toISOString(),
    perTransactionEuros: perTransactionCents === null ? null : centsToEuroNumber(perTransactionCents),
    dayLeftEuros: figureOf('day'),
    monthLeftEuros: figureOf('month'),
    totalLeftEuros: figureOf('all'),
    countLeft: countLeft(mandate),
  }
}

const countLeft = ({ count }: MandateUsage): number | null =>
  count === null ? null : count.limit - count.used - 1

/** The figures of the check are those of the limit with the smallest rest. */
function allowedBy(use: MandateUsage, holdCents: Cents): RuleCheck {
  const left = leftAfter(use, holdCents)
  const narrowest = left.toSorted((one, other) => (one.leftCents < other.leftCents ? -1 : 1))[0]
  const words = leftInWords(left, countLeft(use))
  return {
    ...checkWithoutLimit(
      'mandate',
      'pass',
      `${mandateLabel(use)} approves the intent without a person${words}.`,
    ),
    ...(narrowest && {
      limit: centsToEuroNumber(narrowest.limitCents),
      used: centsToEuroNumber(subtractCents(narrowest.limitCents, narrowest.leftCents)),
      remaining: centsToEuroNumber(narrowest.leftCents),
    }),
  }
}

const skip = (message: string): RuleCheck => checkWithoutLimit('mandate', 'skip', message)

/**
 * A mandate replaces the person whom the amount alone would require. Other reasons for a person stay, and a
 * spend that the policy approves by itself uses nothing of the mandate.
 */
export const mandateRule: PolicyRule = {
  name: 'mandate',
  compile: terms => {
    if (terms?.requireAttestation) return undefined
    return ({ request, holdCents, outcomeSoFar }) => {
      const { kind, approval, mandate: use, outsideMandates, amountCents } = request
      if (kind !== 'intent' || approval || !exceedsAutoApproveLimit(terms, request)) return undefined
      if (!use) return outsideMandates ? skip(outsideMandates) : undefined
      const lack = mandateShortfall(use, amountCents)
      if (lack !== undefined) return skip(`${mandateLabel(use)} ${lack}.`)
      return outcomeSoFar === 'pass'
        ? allowedBy(use, holdCents)
        : skip(`${mandateLabel(use)} covers only the amount, and a person is required for another reason.`)
    }
  },
  skipMessage: 'No mandate is needed, or none counts here.',
  remedy: 'Have a person sign a mandate that allows it.',
}
