import { z } from 'zod'

/** An exact amount of euros. Held as integer cents; only this file and the ledger know that. */
export type Euros = bigint

const HIGHEST = 100_000_000_000

/** The decimal digits of a JSON number, or undefined where it has more than two of them. */
function cents(amount: number): bigint | undefined {
  const parts = /^(\d+)(?:\.(\d{1,2}))?$/.exec(String(amount))
  if (!parts) return undefined
  return BigInt(parts[1] + (parts[2] ?? '').padEnd(2, '0'))
}

/** `…Euros` on the wire: a JSON number, at most two decimals. */
export const euros = z
  .codec(z.number().min(0).max(HIGHEST), z.bigint(), {
    decode: (amount, context) => {
      const exact = cents(amount)
      if (exact !== undefined) return exact
      context.issues.push({ code: 'custom', message: 'at most two decimals', input: amount })
      return z.NEVER
    },
    encode: amount => Number(amount) / 100,
  })
  .meta({ examples: [25.5] })

/** More than nothing, and no more than that. */
export const positiveEuros = (highest?: Euros) =>
  euros
    .refine(amount => amount > 0n, 'more than nothing')
    .refine(amount => highest === undefined || amount <= highest, {
      error: () => `at most ${formatEuros(highest ?? 0n)}`,
    })

/** The same where it can go either way: an entry of the ledger, a difference. */
export const signedEuros = z
  .codec(z.number().min(-HIGHEST).max(HIGHEST), z.bigint(), {
    decode: (amount, context) => {
      const exact = cents(Math.abs(amount))
      if (exact !== undefined) return amount < 0 ? -exact : exact
      context.issues.push({ code: 'custom', message: 'at most two decimals', input: amount })
      return z.NEVER
    },
    encode: amount => Number(amount) / 100,
  })
  .meta({ examples: [-25.5] })

/** `-12.34`, exactly. A decision says a dozen amounts, and small numbers are written much faster than large ones. */
export function decimal(amount: Euros): string {
  const cents = Number(amount)
  if (Number.isSafeInteger(cents)) return decimalOfSafe(cents)
  const digits = String(amount < 0n ? -amount : amount)
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

function decimalOfSafe(cents: number): string {
  const size = Math.abs(cents)
  const rest = size % 100
  return `${cents < 0 ? '-' : ''}${(size - rest) / 100}.${rest < 10 ? '0' : ''}${rest}`
}

/** For people, in every sentence: `€ 12.34`, `€ 5,000.00`. */
export const formatEuros = (amount: Euros): string => `€ ${formatAmount(amount)}`

/** `5,000.00`. Most amounts have too few digits for a comma, and a decision says a dozen of them. */
export function formatAmount(amount: Euros): string {
  const digits = decimal(amount)
  return digits.length <= '999.99'.length ? digits : digits.replace(/\B(?=(?:\d{3})+\.)/g, ',')
}
