import { z } from 'zod'
import type { ReferenceRates } from '../../ports/exchange-rates.ts'
import { type Cents, cents } from '../../values/money.ts'

/** Covers the card network's own rate, and its fee for a conversion. */
const MARGIN_PERCENT = 3

/** The currencies of the ECB's list by the decimals of their smallest unit (ISO 4217, which `Intl` does not follow). */
const withCents =
  'AUD BGN BRL CAD CHF CNY CZK DKK GBP HKD HUF IDR ILS INR MXN MYR NOK NZD PHP PLN RON SEK SGD THB TRY USD ZAR'
const withoutCents = 'ISK JPY KRW'

const decimals: ReadonlyMap<string, number> = new Map([
  ...withCents.split(' ').map(currency => [currency, 2] as const),
  ...withoutCents.split(' ').map(currency => [currency, 0] as const),
])

/** How a price in another currency became euros. */
export const ConversionRecord = z
  .object({
    price: z.string().meta({ description: 'The price in its currency.', examples: ['23.20'] }),
    currency: z.string().meta({ description: 'ISO 4217.', examples: ['USD'] }),
    rate: z.string().meta({ description: 'Units for one euro.', examples: ['1.1600'] }),
    rateDate: z.iso.date(),
    marginPercent: z.number().meta({ examples: [MARGIN_PERCENT] }),
  })
  .meta({ id: 'Conversion' })

export type Conversion = z.output<typeof ConversionRecord>

export interface ConvertedPrice {
  /** With the margin, rounded up: the most that the price may cost. */
  readonly amountCents: Cents
  readonly conversion: Conversion
}

/** `amount` is in the smallest unit of the currency. Undefined for a currency without a rate or a known unit. */
export function convertPrice(
  amount: bigint,
  currency: string,
  { rates, date: rateDate }: ReferenceRates,
): ConvertedPrice | undefined {
  const rate = rates.get(currency)
  const places = decimals.get(currency)
  if (rate === undefined || places === undefined) return undefined
  const [whole = '', fraction = ''] = rate.split('.')
  // amount / 10^places / rate * 100 cents * (100 + margin) / 100
  const dividend = amount * 10n ** BigInt(fraction.length) * BigInt(100 + MARGIN_PERCENT)
  const divisor = BigInt(whole + fraction) * 10n ** BigInt(places)
  const price = places === 0 ? String(amount) : withDecimals(amount, places)
  return {
    amountCents: cents((dividend + divisor - 1n) / divisor),
    conversion: { price, currency, rate, rateDate, marginPercent: MARGIN_PERCENT },
  }
}

function withDecimals(amount: bigint, places: number): string {
  const digits = String(amount).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
