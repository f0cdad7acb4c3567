import type { Cents } from '../../values/money.ts'
import { payeeMatcher } from '../merchants/index.ts'
import { type MandateLimitUsage, mandateShortfall } from '../rules/index.ts'

/** Null means no such limit. An empty list means any merchant, category or country. */
export interface MandateConstraints {
  readonly perTransactionCents: Cents | null
  readonly perDayCents: Cents | null
  readonly perMonthCents: Cents | null
  readonly totalCents: Cents | null
  readonly count: number | null
  readonly merchants: string[]
  readonly mccs: string[]
  readonly countries: string[]
}

/** Compiled once, as they are evaluated often. Merchants are compared as policies compare them. */
export interface CompiledMandateConstraints extends MandateConstraints {
  readonly findMerchant: ReturnType<typeof payeeMatcher>
  readonly mccSet: ReadonlySet<string>
  readonly countrySet: ReadonlySet<string>
}

export const compileMandateConstraints = (constraints: MandateConstraints): CompiledMandateConstraints => ({
  ...constraints,
  findMerchant: payeeMatcher(constraints.merchants),
  mccSet: new Set(constraints.mccs),
  countrySet: new Set(constraints.countries),
})

export interface MandatedSpend {
  readonly amountCents: Cents
  readonly merchant: string
  readonly payeeIban?: string | null | undefined
  readonly mcc: string | null
  readonly country: string | null
}

export interface MandateCounters {
  readonly dayCents: Cents
  readonly monthCents: Cents
  readonly totalCents: Cents
  readonly uses: number
}

const limitsOf = (constraints: MandateConstraints, used: MandateCounters): MandateLimitUsage[] => {
  const { perDayCents, perMonthCents, totalCents } = constraints
  const limit = (
    period: MandateLimitUsage['period'],
    limitCents: Cents | null,
    usedCents: Cents,
  ): MandateLimitUsage[] => (limitCents === null ? [] : [{ period, limitCents, usedCents }])
  return [
    ...limit('day', perDayCents, used.dayCents),
    ...limit('month', perMonthCents, used.monthCents),
    ...limit('all', totalCents, used.totalCents),
  ]
}

function wrongPayee(constraints: CompiledMandateConstraints, spend: MandatedSpend): string | undefined {
  const { merchants, mccSet, countrySet, findMerchant } = constraints
  const { merchant, payeeIban, mcc, country } = spend
  if (merchants.length > 0 && findMerchant(merchant, payeeIban) === undefined)
    return `does not allow ${merchant}`
  if (mccSet.size > 0 && !(mcc !== null && mccSet.has(mcc)))
    return mcc === null
      ? 'requires mcc, the merchant category'
      : `does not allow the merchant category ${mcc}`
  if (countrySet.size > 0 && !(country !== null && countrySet.has(country)))
    return country === null
      ? 'requires country, the merchant’s country'
      : `does not allow merchants in ${country}`
  return undefined
}

export const mandateUsageFigures = (constraints: MandateConstraints, used: MandateCounters) => ({
  perTransactionCents: constraints.perTransactionCents,
  limits: limitsOf(constraints, used),
  count: constraints.count === null ? null : { limit: constraints.count, used: used.uses },
})

export const outsideMandateReason = (
  constraints: CompiledMandateConstraints,
  spend: MandatedSpend,
  used: MandateCounters,
): string | undefined =>
  wrongPayee(constraints, spend) ??
  mandateShortfall(mandateUsageFigures(constraints, used), spend.amountCents)

/**
 * Whether the whole amount of a mandate, or all its payments, have been used, and no refund can give anything
 * back to it.
 */
export const isMandateExhausted = (
  { totalCents, count }: Pick<MandateConstraints, 'totalCents' | 'count'>,
  made: { readonly spentCents: Cents; readonly uses: number },
): boolean => (totalCents !== null && made.spentCents >= totalCents) || (count !== null && made.uses >= count)
