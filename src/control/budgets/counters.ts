import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Cause } from '../../money/ledger/index.ts'
import { exact } from '../../record-store/index.ts'
import { dayOf } from '../../values/clock.ts'
import { type Cents, NO_CENTS, negated, plus } from '../../values/money.ts'
import type { Budget, Counters } from '../rules/index.ts'
import {
  type Counter,
  causeKey,
  countUses,
  isInTerm,
  NO_TERM,
  periodsOf,
  type Reservation,
  termOf,
  usedOf,
  useStateOf,
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
  readonly #counters: ReadonlyMap<string, Counter>
  readonly #reservations: Map<string, Reservation>
  readonly #hasOwnerBudget: boolean
  readonly #changedCounters = new Set<Counter>()
  readonly #changedReservations = new Set<Reservation>()

  constructor(tenant: Tenant, now: Date, counters: readonly Counter[], reservations: readonly Reservation[]) {
    this.#tenant = tenant
    this.#now = now
    this.#counters = new Map(counters.map(counter => [`${counter.subject} ${counter.period}`, counter]))
    this.#hasOwnerBudget = counters.some(({ subject }) => subject === tenant.ownerId)
    this.#reservations = new Map(reservations.map(reservation => [causeKey(reservation), reservation]))
  }

  snapshotOf(subject: string, term: Date | null): Counters {
    const [all, day, month] = this.today(subject)
    return {
      dayCents: usedOf(day),
      monthCents: usedOf(month),
      uses: isInTerm(all, term) ? all.reservedUses + all.uses : 0,
      openUses: isInTerm(all, term) ? all.reservedUses : 0,
      lastSpendAt: all.lastSpendAt,
      firstMerchant: all.firstMerchant,
    }
  }

  /** Everything reserved and spent since the subject was created, which its budget limits. */
  totalUsed(subject: string): Cents {
    return usedOf(this.#counter(subject, 'all'))
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
  ownerCounters(): { readonly day: Counter; readonly month: Counter } | undefined {
    if (!this.#hasOwnerBudget) return undefined
    const [, day, month] = this.today(this.#tenant.ownerId)
    return { day, month }
  }

  ownerBudgets(): Budget[] {
    const { ownerId } = this.#tenant
    return Object.entries(this.ownerCounters() ?? {}).flatMap(([period, counter]) => {
      if (counter.limit === null) return []
      return {
        level: 'owner',
        id: ownerId,
        name: ownerId,
        period: period as 'day' | 'month',
        limitCents: counter.limit,
        usedCents: usedOf(counter),
      }
    })
  }

  /** With `isUse: false` only the amount counts, for a later part of a payment that is already a use. */
  reserve(
    cause: Cause,
    subjects: readonly string[],
    amount: Cents,
    term: Date | null,
    { isUse = true } = {},
  ): void {
    if (this.#reservations.has(causeKey(cause))) throw new Error(`${causeKey(cause)}: reserved twice`)
    const day = dayOf(this.#now)
    const ofTerm = isUse ? term : NO_TERM
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
      const ofSubject = termOf(subject, term)
      if (!isInTerm(all, ofSubject)) Object.assign(all, { term: ofSubject, uses: 0, reservedUses: 0 })
      if (!all.lastSpendAt || all.lastSpendAt < this.#now) all.lastSpendAt = this.#now
    }
    this.#change(reservation, { reserved: amount, spent: NO_CENTS })
  }

  /** Turns reserved into spent. The first time, it counts as a use, and its merchant may be the agent's first. */
  spend(cause: Cause, amount: Cents, merchant: string): void {
    const reservation = this.#reservation(cause)
    const used = amount < reservation.reserved ? amount : reservation.reserved
    this.#change(reservation, { reserved: negated(used), spent: amount }, true)
    for (const subject of reservation.subjects) this.#counter(subject, 'all').firstMerchant ??= merchant
  }

  /** Releases the rest of a reservation, and returns it. Returns zero if it was released before. */
  release(cause: Cause): Cents {
    return this.releasePart(cause, this.reservationOf(cause)?.reserved ?? NO_CENTS)
  }

  releasePart(cause: Cause, amount: Cents): Cents {
    const reservation = this.#reservations.get(causeKey(cause))
    const left = reservation && reservation.reserved < amount ? reservation.reserved : amount
    if (!reservation || left === 0n) return NO_CENTS
    this.#change(reservation, { reserved: negated(left), spent: NO_CENTS })
    return left
  }

  /**
   * Subtracts a refunded amount; the payment stays a use. A subject without any paid merchant no longer has a
   * first merchant.
   */
  giveBack(cause: Cause, amount: Cents): void {
    const reservation = this.#reservation(cause)
    if (amount > reservation.spent) throw new Error(`${causeKey(cause)}: the refund exceeds what was spent`)
    this.#change(reservation, { reserved: NO_CENTS, spent: negated(amount) }, reservation.made)
    for (const subject of reservation.subjects) {
      const all = this.#counter(subject, 'all')
      if (all.spent === 0n) all.firstMerchant = null
    }
  }

  /** Corrects whether the reservation was paid, if that does not follow from the amounts. */
  noteUse(cause: Cause, made: boolean): void {
    const reservation = this.#reservation(cause)
    if (reservation.made !== made) this.#change(reservation, { reserved: NO_CENTS, spent: NO_CENTS }, made)
  }

  async write(sql: Sql): Promise<void> {
    if (this.#changedCounters.size === 0) return
    const { ownerId, mode } = this.#tenant
    const counters = [...this.#changedCounters].map(({ limit: _, mandate: __, ...counter }) => ({
      ...counter,
      ...{ reserved: exact(counter.reserved), spent: exact(counter.spent) },
    }))
    const reservations = [...this.#changedReservations].map(
      ({ amount, reserved, spent, ...reservation }) => ({
        ...reservation,
        ...{ amount: exact(amount), reserved: exact(reserved), spent: exact(spent) },
      }),
    )
    await sql(WRITE, [ownerId, mode, JSON.stringify(counters), JSON.stringify(reservations)])
  }

  #change(
    reservation: Reservation,
    { reserved, spent }: Pick<Counter, 'reserved' | 'spent'>,
    made = reservation.made,
  ): void {
    const before = useStateOf(reservation)
    reservation.reserved = plus(reservation.reserved, reserved)
    reservation.spent = plus(reservation.spent, spent)
    reservation.made = made
    this.#changedReservations.add(reservation)
    const after = useStateOf(reservation)
    for (const counter of this.#countersFor(reservation)) {
      counter.reserved = plus(counter.reserved, reserved)
      counter.spent = plus(counter.spent, spent)
      this.#changedCounters.add(counter)
    }
    for (const subject of reservation.subjects) {
      const all = this.#counter(subject, 'all')
      if (isInTerm(all, termOf(subject, reservation.term))) countUses(all, before, after)
    }
  }

  reservationOf(cause: Cause): Pick<Reservation, 'reserved' | 'spent'> | undefined {
    return this.#reservations.get(causeKey(cause))
  }

  /**
   * Every counter to which a reservation adds. The owner's counter is the sum of the agents', so a card's
   * subject adds nothing to it. A new owner's budget counts earlier reservations, too.
   */
  #countersFor({ subjects, day }: Reservation): Counter[] {
    const countsForOwner = this.#hasOwnerBudget && subjects.some(subject => subject.startsWith('agent_'))
    const all = countsForOwner ? [...subjects, this.#tenant.ownerId] : subjects
    return all.flatMap(subject => periodsOf(day).map(period => this.#counter(subject, period)))
  }

  #reservation(cause: Cause): Reservation {
    const reservation = this.#reservations.get(causeKey(cause))
    if (!reservation) throw new Error(`nothing is reserved for ${causeKey(cause)}`)
    return reservation
  }

  #counter(subject: string, period: string): Counter {
    const counter = this.#counters.get(`${subject} ${period}`)
    if (!counter) throw new Error(`${subject} ${period}: the counters were opened without this one`)
    return counter
  }

  today = (subject: string) =>
    periodsOf(dayOf(this.#now)).map(period => this.#counter(subject, period)) as [Counter, Counter, Counter]
}
