import { formatEuros } from '../../values/money.ts'
import type { Limits } from '../cards/index.ts'
import type { CardRequest } from './card-request.ts'

export const limitNames = ['maxTransactionEuros', 'dailyLimitEuros', 'monthlyLimitEuros'] as const
type LimitName = (typeof limitNames)[number]

/** The limits that an approver gives: one that is left out stays as it was asked for. */
export type GivenLimits = { readonly [Name in LimitName]?: Limits[Name] | undefined }

export const noLimits: Limits = { maxTransactionEuros: null, dailyLimitEuros: null, monthlyLimitEuros: null }

const mapLimits = (limitOf: (name: LimitName) => Limits[LimitName]): Limits => ({
  maxTransactionEuros: limitOf('maxTransactionEuros'),
  dailyLimitEuros: limitOf('dailyLimitEuros'),
  monthlyLimitEuros: limitOf('monthlyLimitEuros'),
})

export const askedLimits = (request: CardRequest): Limits => mapLimits(name => request[name])

export const approvedLimits = (request: CardRequest): Limits => ({
  maxTransactionEuros: request.approvedMaxTransactionEuros,
  dailyLimitEuros: request.approvedDailyLimitEuros,
  monthlyLimitEuros: request.approvedMonthlyLimitEuros,
})

/** The limits as they are approved. */
export const limitsToApprove = (asked: Limits, given: GivenLimits): Limits =>
  mapLimits(name => given[name] ?? asked[name])

/** A sentence about the first limit that the approver would raise or drop; undefined if there is none. */
export function whyNotLowered(asked: Limits, given: GivenLimits, current: Limits): string | undefined {
  for (const name of limitNames) {
    const problem = problemWith(given[name], asked[name], current[name])
    if (problem) return `limits.${name}: ${problem}`
  }
  return undefined
}

function problemWith(
  given: bigint | null | undefined,
  asked: bigint | null,
  current: bigint | null,
): string | undefined {
  if (given === undefined) return undefined
  if (given === null)
    return asked === null
      ? undefined
      : `${formatEuros(asked)} are asked for. An approver may lower a limit and not drop it.`
  if (asked !== null)
    return given <= asked
      ? undefined
      : `${formatEuros(given)} are more than the ${formatEuros(asked)} that are asked for. An approver may lower a limit and not raise it.`
  if (current === null || given <= current) return undefined
  return `the card has ${formatEuros(current)}, and no more is asked for. An approver may lower a limit and not raise it.`
}

const lower = (one: bigint | null, other: bigint | null): bigint | null =>
  one === null || (other !== null && other < one) ? other : one

/**
 * The limits of a card once a request is carried out. One that was asked for becomes what was approved; one that only the
 * approver has named never rises, whatever has become of the card since; the others stay.
 */
export const limitsAfter = (asked: Limits, approved: Limits, current: Limits): Limits =>
  mapLimits(name => (asked[name] === null ? lower(approved[name], current[name]) : approved[name]))
