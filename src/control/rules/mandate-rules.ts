import { type Euros, formatEuros } from '../../values/money.ts'
import { asksForAmount } from './amount-rules.ts'
import { type MandateLimit, type MandateUse, plainCheck, type RuledMandate, toFigure } from './decision.ts'
import type { Rule } from './evaluation.ts'

/** A mandate in sentences: by its name, which is its owner's, or else by its id. */
export const mandateInWords = ({ id, name }: Pick<MandateUse, 'id' | 'name'>): string =>
  `The mandate ${name ?? id}`

const periods = { day: 'today', month: 'this month', all: 'in all' } as const

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

/** What the mandate leaves, as the end of a sentence; one that sets a limit for each payment alone leaves no less. */
function leftInWords(left: readonly LimitLeft[], countLeft: number | null): string {
  const parts = left.map(({ period, leftEuros }) => `${formatEuros(leftEuros)} ${periods[period]}`)
  if (countLeft !== null) parts.push(inPayments(countLeft))
  const last = parts.pop()
  if (last === undefined) return ''
  return `, and then leaves ${parts.length > 0 ? `${parts.join(', ')} and ` : ''}${last}`
}

/** The mandate as a decision names it, with what it has left once so much is counted. */
export function ruledMandate(mandate: MandateUse, holdEuros: Euros): RuledMandate {
  const left = leftAfter(mandate, holdEuros)
  const figureOf = (of: MandateLimit['period']): number | null => {
    const found = left.find(({ period }) => period === of)
    return found ? toFigure(found.leftEuros) : null
  }
  const { id, name, expiresAt, perTransactionEuros, count } = mandate
  return {
    id,
    name,
    expiresAt: expiresAt.toISOString(),
    perTransactionEuros: perTransactionEuros === null ? null : toFigure(perTransactionEuros),
    dayLeftEuros: figureOf('day'),
    monthLeftEuros: figureOf('month'),
    totalLeftEuros: figureOf('all'),
    countLeft: count === null ? null : count.limit - count.used - 1,
  }
}

/**
 * A mandate stands in for a person whom the amount alone would ask: what is asked for any other reason is asked all the
 * same, and what the policy approves by itself uses nothing of it.
 */
export const mandate: Rule = {
  name: 'mandate',
  compile: terms => {
    if (terms?.requireAttestation) return undefined
    return ({ request, holdEuros, outcomeSoFar }) => {
      const { mandate: use, outsideMandates, amountEuros } = request
      if (request.kind !== 'intent' || request.approval || !asksForAmount(terms, amountEuros)) return undefined
      if (!use) return outsideMandates ? plainCheck('mandate', 'skip', outsideMandates) : undefined
      if (outcomeSoFar !== 'pass')
        return plainCheck(
          'mandate',
          'skip',
          `${mandateInWords(use)} would do without a person for the amount, and for nothing else.`,
        )
      const left = leftAfter(use, holdEuros)
      const countLeft = use.count === null ? null : use.count.limit - use.count.used - 1
      const narrowest = left.toSorted((one, other) => (one.leftEuros < other.leftEuros ? -1 : 1))[0]
      return {
        ...plainCheck(
          'mandate',
          'pass',
          `${mandateInWords(use)} allows it without a person${leftInWords(left, countLeft)}.`,
        ),
        ...(narrowest && {
          limit: toFigure(narrowest.limitEuros),
          used: toFigure(narrowest.limitEuros - narrowest.leftEuros),
          remaining: toFigure(narrowest.leftEuros),
        }),
      }
    }
  },
  skipMessage: 'No mandate is needed, or the agent has none.',
  remedy: 'A person signs a mandate that allows it.',
}
