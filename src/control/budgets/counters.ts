import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { bigintAsText } from '../../kernel/database/bulk-sql.ts'
import type { PostingCause } from '../../money/ledger/index.ts'
import { utcDay } from '../../values/clock.ts'
import { addCents, type Cents, NO_CENTS, negateCents } from '../../values/money.ts'
import type { BudgetUsage, SpendCounters } from '../rules/index.ts'
import {
  type BudgetCounter,
  type BudgetReservation,
  causeKey,
  counterPeriods,
  counterTerm,
  isSameTerm,
  NO_COUNTER_TERM,
  reservationUseState,
  updateUseCounts,
  usedCents,
} from './counter.ts'

const WRITE = 'select counters_write($1, $2, $3, $4)'

/**
 * A tenant's locked counters, held in memory like the ledger's book. Each decision of a batch sees what the
 * earlier ones reserved, and all changes are written together. The rules decide beforehand whether a limit
 * allows an amount.
 */
export class BudgetCounters {
  readonly #tenant: Tenant
  readonly #now: Date
  readonly #counters: ReadonlyMap<string, BudgetCounter>
  readonly #reservations: Map<string, BudgetReservation>
  readonly #hasOwnerBudget: boolean
  readonly #changedCounters = new Set<BudgetCounter>()
  readonly #changedReservations = new Set<BudgetReservation>()

  constructor(
    tenant: Tenant,
    now: Date,
    counters: readonly BudgetCounter[],
    reservations: readonly BudgetReservation[],
  ) {
    this.#tenant = tenant
    this.#now = now
    this.#counters = new Map(counters.map(counter => [`${counter.subject} ${counter.period}`, counter]))
    this.#hasOwnerBudget = counters.some(({ subject }) => subject === tenant.ownerId)
    this.#reservations = new Map(reservations.map(reservation => [causeKey(reservation), reservation]))
  }

  snapshotOf(subject: string, term: Date | null): SpendCounters {
    const [all, day, month] = this.today(subject)
    return {
      dayCents: usedCents(day),
      monthCents: usedCents(month),
      uses: isSameTerm(all, term) ? all.reservedUses + all.uses : 0,
      openUses: isSameTerm(all, term) ? all.reservedUses : 0,
      lastSpendAt: all.lastSpendAt,
      firstMerchant: all.firstMerchant,
    }
  }

  /** Everything reserved and spent since the subject was created, which its budget limits. */
  totalUsed(subject: string): Cents {
    return usedCents(this.#counter(subject, 'all'))
  }

  mandates(): { readonly id: string; readonly terms: object }[] {
    return [...this.#counters.values()].flatMap(({ subject, mandate }) =>
      mandate ? { id: subject, terms: mandate } : [],
    )
  }

  madeUses(subject: string) {
    const { reserved, spent, uses } = this.#counter(subject, 'all')
    return { reservedCents: reserved, spentCents: spent, uses }
  }

  firstMerchantOf(subject: string): string | null {
    return this.#counter(subject, 'all').firstMerchant
  }

  /** The owner's counters of today and this month; undefined without an owner's budget, which has no counters. */
  ownerCounters(): { readonly day: BudgetCounter; readonly month: BudgetCounter } | undefined {
    if (!this.#hasOwnerBudget) return undefined
    const [, day, month] = this.today(this.#tenant.ownerId)
    return { day, month }
  }

  ownerBudgets(): BudgetUsage[] {
    const { ownerId } = this.#tenant
    return Object.entries(this.ownerCounters() ?? {}).flatMap(([period, counter]) => {
      if (counter.limit === null) return []
      return {
        level: 'owner',
        id: ownerId,
        name: ownerId,
        period: period as 'day' | 'month',
        limitCents: counter.limit,
        usedCents: usedCents(counter),
      }
    })
  }

  /** With `isUse: false` only the amount counts, for a later part of a payment that is already a use. */
  reserve(
    cause: PostingCause,
    subjects: readonly string[],
    amount: Cents,
    term: Date | null,
    { isUse = true } = {},
  ): void {
    if (this.#reservations.has(causeKey(cause))) throw new Error(`${causeKey(cause)}: reserved twice`)
    const day = utcDay(this.#now)
    const ofTerm = isUse ? term : NO_COUNTER_TERM
    const reservation = {
      ...cause,
      subjects,
      day,
      term: ofTerm,
      amount,
      reserved: NO_CENTS,
      spent: NO_CENTS,
      made: false,
    }
    this.#reservations.set(causeKey(cause), reservation)
    for (const subject of subjects) {
      const all = this.#counter(subject, 'all')
      const ofSubject = counterTerm(subject, term)
      if (!isSameTerm(all, ofSubject)) Object.assign(all, { term: ofSubject, uses: 0, reservedUses: 0 })
      if (!all.lastSpendAt || all.lastSpendAt < this.#now) all.lastSpendAt = this.#now
    }
    this.#change(reservation, { reserved: amount, spent: NO_CENTS })
  }

  /** Turns reserved into spent. The first time, it counts as a use, and its merchant may be the agent's first. */
  spend(cause: PostingCause, amount: Cents, merchant: string): void {
    const reservation = this.#reservation(cause)
    const used = amount < reservation.reserved ? amount : reservation.reserved
    this.#change(reservation, { reserved: negateCents(used), spent: amount }, true)
    for (const subject of reservation.subjects) this.#counter(subject, 'all').firstMerchant ??= merchant
  }

  /** Releases the rest of a reservation, and returns it. Returns zero if it was released before. */
  release(cause: PostingCause): Cents {
    return this.releasePart(cause, this.reservationOf(cause)?.reserved ?? NO_CENTS)
  }

  releasePart(cause: PostingCause, amount: Cents): Cents {
    const reservation = this.#reservations.get(causeKey(cause))
    const left = reservation && reservation.reserved < amount ? reservation.reserved : amount
    if (!reservation || left === 0n) return NO_CENTS
    this.#change(reservation, { reserved: negateCents(left), spent: NO_CENTS })
    return left
  }

  /**
   * Subtracts a refunded amount; the payment stays a use. A subject without any paid merchant no longer has a
   * first merchant.
   */
  giveBack(cause: PostingCause, amount: Cents): void {
    const reservation = this.#reservation(cause)
    if (amount > reservation.spent) throw new Error(`${causeKey(cause)}: the refund exceeds what was spent`)
    this.#change(reservation, { reserved: NO_CENTS, spent: negateCents(amount) }, reservation.made)
    for (const subject of reservation.subjects) {
      const all = this.#counter(subject, 'all')
      if (all.spent === 0n) all.firstMerchant = null
    }
  }

  /** Corrects whether the reservation was paid, if that does not follow from the amounts. */
  noteUse(cause: PostingCause, made: boolean): void {
    const reservation = this.#reservation(cause)
    if (reservation.made !== made) this.#change(reservation, { reserved: NO_CENTS, spent: NO_CENTS }, made)
  }

  async write(sql: Sql): Promise<void> {
    if (this.#changedCounters.size === 0) return
    const { ownerId, mode } = this.#tenant
    const counters = [...this.#changedCounters].map(({ limit: _, mandate: __, ...counter }) => ({
      ...counter,
      ...{ reserved: bigintAsText(counter.reserved), spent: bigintAsText(counter.spent) },
    }))
    const reservations = [...this.#changedReservations].map(
      ({ amount, reserved, spent, ...reservation }) => ({
        ...reservation,
        ...{ amount: bigintAsText(amount), reserved: bigintAsText(reserved), spent: bigintAsText(spent) },
      }),
    )
    await sql(WRITE, [ownerId, mode, JSON.stringify(counters), JSON.stringify(reservations)])
  }

  #change(
    reservation: BudgetReservation,
    { reserved, spent }: Pick<BudgetCounter, 'reserved' | 'spent'>,
    made = reservation.made,
  ): void {
    const before = reservationUseState(reservation)
    reservation.reserved = addCents(reservation.reserved, reserved)
    reservation.spent = addCents(reservation.spent, spent)
    reservation.made = made
    this.#changedReservations.add(reservation)
    const after = reservationUseState(reservation)
    for (const counter of this.#countersFor(reservation)) {
      counter.reserved = addCents(counter.reserved, reserved)
      counter.spent = addCents(counter.spent, spent)
      this.#changedCounters.add(counter)
    }
    for (const subject of reservation.subjects) {
      const all = this.#counter(subject, 'all')
      if (isSameTerm(all, counterTerm(subject, reservation.term))) updateUseCounts(all, before, after)
    }
  }

  reservationOf(cause: PostingCause): Pick<BudgetReservation, 'subjects' | 'reserved' | 'spent'> | undefined {
    return this.#reservations.get(causeKey(cause))
  }

  /**
   * Every counter to which a reservation adds. The owner's counter is the sum of the agents', so a card's
   * subject adds nothing to it. A new owner's budget counts earlier reservations, too.
   */
  #countersFor({ subjects, day }: BudgetReservation): BudgetCounter[] {
    const countsForOwner = this.#hasOwnerBudget && subjects.some(subject => subject.startsWith('agent_'))
    const all = countsForOwner ? [...subjects, this.#tenant.ownerId] : subjects
    return all.flatMap(subject => counterPeriods(day).map(period => this.#counter(subject, period)))
  }

  #reservation(cause: PostingCause): BudgetReservation {
    const reservation = this.#reservations.get(causeKey(cause))
    if (!reservation) throw new Error(`nothing is reserved for ${causeKey(cause)}`)
    return reservation
  }

  #counter(subject: string, period: string): BudgetCounter {
    const counter = this.#counters.get(`${subject} ${period}`)
    if (!counter) throw new Error(`${subject} ${period}: the counters were opened without this one`)
    return counter
  }

  today = (subject: string) =>
    counterPeriods(utcDay(this.#now)).map(period => this.#counter(subject, period)) as [
      BudgetCounter,
      BudgetCounter,
      BudgetCounter,
    ]
}
