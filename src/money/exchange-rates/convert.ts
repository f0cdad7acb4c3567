import { z } from 'zod'
import type { ReferenceRates } from '../../ports/exchange-rates.ts'
import { type Cents, cents } from '../../values/money.ts'
import { currencyDecimals, type OriginalAmount, originalAmount } from '../../values/original-amount.ts'

/** Covers the card network's own rate, and its fee for a conversion. A policy may set another margin. */
export const DEFAULT_MARGIN_PERCENT = 3

/** How a price in another currency became euros. */
export const ConversionRecord = z
  .object({
    price: z.string().meta({ description: 'The price in its currency.', examples: ['23.20'] }),
    currency: z.string().meta({ description: 'ISO 4217.', examples: ['USD'] }),
    rate: z.string().meta({ description: 'Units for one euro.', examples: ['1.1600'] }),
    rateDate: z.iso.date(),
    marginPercent: z.number().meta({ examples: [DEFAULT_MARGIN_PERCENT] }),
  })
  .meta({ id: 'Conversion' })

export type Conversion = z.output<typeof ConversionRecord>

export const originalOfConversion = ({ price: amount, currency }: Conversion): OriginalAmount => ({
  amount,
  currency,
})

export interface ConvertedPrice {
  /** With the margin, rounded up: the most that the price may cost. */
  readonly amountCents: Cents
  readonly conversion: Conversion
}

/** `amount` is in the smallest unit of the currency. Undefined for a currency without a rate. */
export function convertPrice(
  amount: bigint,
  currency: string,
  { rates, date: rateDate }: ReferenceRates,
  marginPercent: number,
): ConvertedPrice | undefined {
  const rate = rates.get(currency)
  if (rate === undefined) return undefined
  const [whole = '', fraction = ''] = rate.split('.')
  const withMargin = BigInt(Math.round((100 + marginPercent) * 100))
  // amount / 10^decimals / rate * 100 cents * withMargin / 10,000
  const dividend = amount * 10n ** BigInt(fraction.length) * withMargin
  const divisor = BigInt(whole + fraction) * 10n ** BigInt(currencyDecimals(currency)) * 100n
  const { amount: price } = originalAmount(amount, currency)
  return {
    amountCents: cents((dividend + divisor - 1n) / divisor),
    conversion: { price, currency, rate, rateDate, marginPercent },
  }
}
