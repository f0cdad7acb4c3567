import type { Euros } from '../../values/money.ts'
import { payeeMatcher } from '../merchants/index.ts'
import { lackOf, type MandateLimit } from '../rules/index.ts'

/** Null: no such limit. An empty list: any merchant, category or country. */
export interface Constraints {
  readonly perTransactionEuros: Euros | null
  readonly perDayEuros: Euros | null
  readonly perMonthEuros: Euros | null
  readonly totalEuros: Euros | null
  readonly count: number | null
  readonly merchants: string[]
  readonly mccs: string[]
  readonly countries: string[]
}

/** Compiled once, as they are asked often. Merchants are compared as policies compare them. */
export interface CompiledConstraints extends Constraints {
  readonly findMerchant: ReturnType<typeof payeeMatcher>
  readonly mccSet: ReadonlySet<string>
  readonly countrySet: ReadonlySet<string>
}

export const compileConstraints = (constraints: Constraints): CompiledConstraints => ({
  ...constraints,
  findMerchant: payeeMatcher(constraints.merchants),
  mccSet: new Set(constraints.mccs),
  countrySet: new Set(constraints.countries),
})

export interface MandatedSpend {
  readonly amountEuros: Euros
  readonly merchant: string
  readonly payeeIban?: string | null | undefined
  readonly mcc: string | null
  readonly country: string | null
}

export interface MandateCounters {
  readonly dayEuros: Euros
  readonly monthEuros: Euros
  readonly totalEuros: Euros
  readonly uses: number
}

const limitsOf = (constraints: Constraints, used: MandateCounters): MandateLimit[] => {
  const { perDayEuros, perMonthEuros, totalEuros } = constraints
  const limit = (
    period: MandateLimit['period'],
    limitEuros: Euros | null,
    usedEuros: Euros,
  ): MandateLimit[] => (limitEuros === null ? [] : [{ period, limitEuros, usedEuros }])
  return [
    ...limit('day', perDayEuros, used.dayEuros),
    ...limit('month', perMonthEuros, used.monthEuros),
    ...limit('all', totalEuros, used.totalEuros),
  ]
}

/** A message to follow the mandate's name; undefined if the payee is allowed. */
function wrongPayee(constraints: CompiledConstraints, spend: MandatedSpend): string | undefined {
  const { merchants, mccSet, countrySet, findMerchant } = constraints
  const { merchant, payeeIban, mcc, country } = spend
  if (merchants.length > 0 && findMerchant(merchant, payeeIban) === undefined)
    return `is not good for ${merchant}`
  if (mccSet.size > 0 && !(mcc !== null && mccSet.has(mcc)))
    return mcc === null
      ? 'asks for mcc, the merchant category, which is not given'
      : `is not good for the merchant category ${mcc}`
  if (countrySet.size > 0 && !(country !== null && countrySet.has(country)))
    return country === null
      ? 'asks for country, where the merchant is, which is not given'
      : `is not good for merchants in ${country}`
  return undefined
}

export const figuresOf = (constraints: Constraints, used: MandateCounters) => ({
  perTransactionEuros: constraints.perTransactionEuros,
  limits: limitsOf(constraints, used),
  count: constraints.count === null ? null : { limit: constraints.count, used: used.uses },
})

/** A message to follow the mandate's name; undefined if the spend is inside it. */
export const whyOutside = (
  constraints: CompiledConstraints,
  spend: MandatedSpend,
  used: MandateCounters,
): string | undefined =>
  wrongPayee(constraints, spend) ?? lackOf(figuresOf(constraints, used), spend.amountEuros)

/** Everything that a mandate allows in all has been paid, and nothing of it can be refunded to it. */
export const isUsedUp = (
  { totalEuros, count }: Pick<Constraints, 'totalEuros' | 'count'>,
  made: { readonly spentEuros: Euros; readonly uses: number },
): boolean => (totalEuros !== null && made.spentEuros >= totalEuros) || (count !== null && made.uses >= count)
