import { z } from 'zod'

/** What a merchant asked for, in its currency. */
export const OriginalAmountRecord = z
  .object({
    amount: z.string().meta({ examples: ['12.00'] }),
    currency: z.string().meta({ examples: ['USD'] }),
  })
  .meta({ id: 'OriginalAmount', description: 'The merchant’s amount; null for euros.' })

export type OriginalAmount = z.output<typeof OriginalAmountRecord>

/** The decimals of the smallest unit by ISO 4217, which `Intl` does not follow. All other currencies have two. */
const DECIMALS: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'
    .split(' ')
    .map(code => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map(code => [code, 3] as const),
])

export const currencyDecimals = (currency: string): number => DECIMALS.get(currency) ?? 2

/**
 * The decimals of Stripe's smallest unit, where they differ from ISO 4217 (docs.stripe.com/currencies): ISK and UGX
 * have no decimals any more, and Stripe still takes two, which must be zeros.
 */
const STRIPE_DECIMALS: ReadonlyMap<string, number> = new Map([
  ['ISK', 2],
  ['UGX', 2],
  ['MGA', 0],
])

/** Stripe's amount in the smallest unit by ISO 4217, and whether it is a whole number of them. */
export function unitsFromStripe(
  amount: bigint,
  currency: string,
): { readonly units: bigint; readonly isWhole: boolean } {
  const places = currencyDecimals(currency)
  const scaled = amount * 10n ** BigInt(places)
  const unit = 10n ** BigInt(STRIPE_DECIMALS.get(currency) ?? places)
  return { units: scaled / unit, isWhole: scaled % unit === 0n }
}

/** `units` are the smallest units of the currency. */
export function originalAmount(units: bigint, currency: string): OriginalAmount {
  const places = currencyDecimals(currency)
  if (places === 0) return { amount: String(units), currency }
  const digits = String(units).padStart(places + 1, '0')
  return { amount: `${digits.slice(0, -places)}.${digits.slice(-places)}`, currency }
}

/** An amount is written with all decimals of its currency. */
const unitsOf = ({ amount }: OriginalAmount): bigint => BigInt(amount.replace('.', ''))

/** Null if there is none, one is unknown, or they are in several currencies. */
export function sumOriginals(amounts: readonly (OriginalAmount | undefined)[]): OriginalAmount | null {
  const [first] = amounts
  if (!first) return null
  let units = 0n
  for (const one of amounts) {
    if (one?.currency !== first.currency) return null
    units += unitsOf(one)
  }
  return originalAmount(units, first.currency)
}

const SYMBOLS: Readonly<Record<string, string>> = { USD: '$', GBP: '£', JPY: '¥' }

/** `$ 1,200.00`, `CHF 12.00` */
export const formatOriginal = ({ amount, currency }: OriginalAmount): string =>
  `${SYMBOLS[currency] ?? currency} ${amount.replace(/\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g, ',')}`
