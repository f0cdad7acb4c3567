import type { Euros } from '../../values/money.ts'
import { payeeMatcher } from '../merchants/index.ts'
import { lackOf, type MandateLimit } from '../rules/index.ts'

/** What a mandate allows. Null: no such limit. An empty list: any merchant, category or country. */
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

/** Constraints made ready to be asked often: merchants are compared as policies compare them. */
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

/** The members of a spend that a mandate speaks of. */
export interface MandatedSpend {
  readonly amountEuros: Euros
  readonly merchant: string
  readonly payeeIban?: string | null | undefined
  readonly mcc: string | null
  readonly country: string | null
}

/** What is reserved and spent under a mandate. */
export interface MandateCounters {
  readonly dayEuros: Euros
  readonly monthEuros: Euros
  readonly totalEuros: Euros
  readonly uses: number
}

/** The limits of a mandate for a span of time, the shortest first, with what is used of each. */
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

/** Why the payee is not one whom the mandate allows, after the mandate's name; undefined if it is. */
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

/** What is used of a mandate's limits, as a decision is told it. */
export const figuresOf = (constraints: Constraints, used: MandateCounters) => ({
  perTransactionEuros: constraints.perTransactionEuros,
  limits: limitsOf(constraints, used),
  count: constraints.count === null ? null : { limit: constraints.count, used: used.uses },
})

/** Why a spend does not lie inside a mandate, after the mandate's name; undefined if it does. */
export const whyOutside = (
  constraints: CompiledConstraints,
  spend: MandatedSpend,
  used: MandateCounters,
): string | undefined =>
  wrongPayee(constraints, spend) ?? lackOf(figuresOf(constraints, used), spend.amountEuros)

/** Whether everything that a mandate allows in all has been paid, so that nothing of it can come back. */
export const isUsedUp = (
  { totalEuros, count }: Pick<Constraints, 'totalEuros' | 'count'>,
  made: { readonly spentEuros: Euros; readonly uses: number },
): boolean => (totalEuros !== null && made.spentEuros >= totalEuros) || (count !== null && made.uses >= count)
