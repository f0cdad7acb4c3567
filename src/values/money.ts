import { z } from 'zod'

declare const centsBrand: unique symbol

/** An exact amount in cents. The arithmetic below keeps the brand, so that no other number is taken for an amount. */
export type Cents = bigint & { readonly [centsBrand]: true }

const HIGHEST = 100_000_000_000

/** Undefined if the number has more than two decimals. */
function exactCents(amount: number): Cents | undefined {
  const parts = /^(\d+)(?:\.(\d{1,2}))?$/.exec(String(amount))
  if (!parts) return undefined
  return cents(parts[1] + (parts[2] ?? '').padEnd(2, '0'))
}

/** Where a contract has a bigint that is an amount. */
export const centsSchema = z.bigint() as unknown as z.ZodType<Cents, Cents>

/** A `…Cents` member of a contract. In JSON it is `…Euros`: a number with at most two decimals. */
export const moneySchema = z
  .codec(z.number().min(0).max(HIGHEST), centsSchema, {
    decode: (amount, context) => {
      const exact = exactCents(amount)
      if (exact !== undefined) return exact
      context.issues.push({ code: 'custom', message: 'at most two decimals', input: amount })
      return z.NEVER
    },
    encode: amount => Number(amount) / 100,
  })
  .meta({ examples: [25.5] })

/** An amount in stored JSON, which has the digits of its cents. */
export const storedMoneySchema = z.codec(z.number().min(0), z.string(), {
  decode: amount => String(moneySchema.decode(amount)),
  encode: digits => moneySchema.encode(cents(digits)),
})

/** An amount in an address, where every value is a text. */
export const moneyTextSchema = z.preprocess(
  value => (/^\d{1,12}(\.\d{1,2})?$/.test(String(value)) ? Number(value) : value),
  moneySchema,
)

export const positiveMoneySchema = (highest?: Cents) =>
  moneySchema
    .refine(amount => amount > 0n, 'must be greater than 0')
    .refine(amount => highest === undefined || amount <= highest, {
      error: () => `at most ${formatMoney(highest ?? NO_CENTS)}`,
    })

export const signedMoneySchema = z
  .codec(z.number().min(-HIGHEST).max(HIGHEST), centsSchema, {
    decode: (amount, context) => {
      const exact = exactCents(Math.abs(amount))
      if (exact !== undefined) return amount < 0 ? negateCents(exact) : exact
      context.issues.push({ code: 'custom', message: 'at most two decimals', input: amount })
      return z.NEVER
    },
    encode: amount => Number(amount) / 100,
  })
  .meta({ examples: [-25.5] })

/** Writes `-12.34` exactly. Amounts within safe integers skip the slow bigint: one decision writes a dozen of them. */
export function formatDecimal(amount: Cents): string {
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

export const formatMoney = (amount: Cents): string => `€ ${formatAmount(amount)}`

/** Writes `5,000.00`. Amounts too short for a comma skip the regular expression: one decision writes a dozen. */
export function formatAmount(amount: Cents): string {
  const digits = formatDecimal(amount)
  return digits.length <= '999.99'.length ? digits : digits.replace(/\B(?=(?:\d{3})+\.)/g, ',')
}

export const NO_CENTS = 0n as Cents

/** From a whole number of cents, or from the decimal digits in which JSON stores cents. A fraction of a cent throws. */
export const cents = (amount: bigint | number | string): Cents => BigInt(amount) as Cents

/** From a computed number of cents, to the nearest one. */
export const roundCents = (amount: number): Cents => BigInt(Math.round(amount)) as Cents

export const addCents = (amount: Cents, other: Cents): Cents => (amount + other) as Cents

/** May be negative: a movement between two amounts. */
export const subtractCents = (amount: Cents, other: Cents): Cents => (amount - other) as Cents

export const negateCents = (amount: Cents): Cents => -amount as Cents

export const sumOf = (amounts: readonly Cents[]): Cents => amounts.reduce(addCents, NO_CENTS)

/** More than any amount of a contract: how a missing limit compares with amounts. */
export const UNLIMITED_CENTS = (BigInt(HIGHEST) * 1_000n) as Cents

export const minOf = (one: Cents, other: Cents): Cents => (one < other ? one : other)

export const maxOf = (one: Cents, other: Cents): Cents => (one > other ? one : other)

export const atLeastZero = (amount: Cents): Cents => (amount > 0n ? amount : NO_CENTS)

/** The rest of an amount; zero if more is taken than there is. */
export const remainderOf = (amount: Cents, taken: Cents): Cents => atLeastZero(subtractCents(amount, taken))

/** Added to a dividend, so that a division that rounds down rounds as it is named. */
const ROUNDING = {
  down: (_divisor: bigint) => 0n,
  half: (divisor: bigint) => divisor / 2n,
  up: (divisor: bigint) => divisor - 1n,
}

/** `part / whole` of an amount that is not negative. */
export const fractionOf = (
  amount: Cents,
  [part, whole]: readonly [part: bigint, whole: bigint],
  rounding: keyof typeof ROUNDING = 'down',
): Cents => ((amount * part + ROUNDING[rounding](whole)) / whole) as Cents
