import type { Euros } from '../../values/money.ts'
import type { MandateUse } from '../rules/index.ts'

interface Difference {
  readonly all: Euros
  readonly month: Euros
  readonly day: Euros
  readonly uses: number
}

const NONE: Difference = { all: 0n, month: 0n, day: 0n, uses: 0 }

/** By how much mandates are used otherwise than the record says, because another policy needs them more or less often. */
export class MandateDiff {
  readonly #byId = new Map<string, Difference>()

  /** A new day, and perhaps a new month: what was counted before is not in theirs. */
  startDay(isNewMonth: boolean): void {
    for (const [id, difference] of this.#byId)
      this.#byId.set(id, { ...difference, day: 0n, month: isNewMonth ? 0n : difference.month })
  }

  add(id: string, amount: Euros, uses: number): void {
    const { all, month, day, uses: before } = this.#byId.get(id) ?? NONE
    this.#byId.set(id, { all: all + amount, month: month + amount, day: day + amount, uses: before + uses })
  }

  /** The mandate as it would be now. Which of several mandates it is stays as recorded. */
  adjust(mandate: MandateUse): MandateUse {
    const difference = this.#byId.get(mandate.id)
    if (!difference) return mandate
    const { limits, count } = mandate
    return {
      ...mandate,
      limits: limits.map(limit => ({
        ...limit,
        usedEuros: notBelowZero(limit.usedEuros + difference[limit.period]),
      })),
      count: count && { limit: count.limit, used: Math.max(count.used + difference.uses, 0) },
    }
  }
}

const notBelowZero = (amount: Euros): Euros => (amount > 0n ? amount : 0n)
