import type { Euros } from '../../values/money.ts'

/**
 * Divides an amount by weights, to the cent, so that the parts are the whole: each gets what is due rounded down, and the
 * cents that are left go to those who miss most of theirs, the earlier of two alike first. Weights below nothing count as
 * nothing; where all do, each part is alike.
 */
export function distribute(amount: Euros, weights: readonly bigint[]): Euros[] {
  if (weights.length === 0) return []
  const counted = weights.map(weight => (weight > 0n ? weight : 0n))
  const sum = counted.reduce((all, weight) => all + weight, 0n)
  const [of, whole] = sum > 0n ? [counted, sum] : [weights.map(() => 1n), BigInt(weights.length)]
  const size = amount < 0n ? -amount : amount
  const parts = of.map(weight => (size * weight) / whole)
  const left = Number(size - parts.reduce((all, part) => all + part, 0n))
  const byRemainder = of
    .map((weight, index) => ({ index, remainder: (size * weight) % whole }))
    .sort((one, other) =>
      one.remainder === other.remainder ? one.index - other.index : one.remainder > other.remainder ? -1 : 1,
    )
  for (const { index } of byRemainder.slice(0, left)) parts[index] = (parts[index] ?? 0n) + 1n
  return amount < 0n ? parts.map(part => -part) : parts
}
