import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { exact } from '../../kernel/database/bulk-sql.ts'
import type { Euros } from '../../values/money.ts'
import type { Budget, Counters } from '../rules/index.ts'

/** For what something is reserved: the same that the ledger holds the money for. */
export interface Cause {
  readonly type: string
  readonly id: string
}

/** One subject in one period, locked until the transaction ends. */
export interface Counter extends Row {
  readonly subject: string
  readonly period: string
  reserved: Euros
  spent: Euros
  reservedUses: number
  uses: number
  term: Date | null
  lastSpendAt: Date | null
  firstMerchant: string | null
  /** Of the owner's own counters: the budget of the day or the month. */
  readonly limit: Euros | null
}

/** What one cause has taken, and of what: it stays on the day on which it was reserved. */
export interface Reservation extends Row {
  readonly type: string
  readonly id: string
  readonly subjects: readonly string[]
  readonly day: string
  readonly term: Date | null
  readonly amount: Euros
  reserved: Euros
  spent: Euros
}

const WRITE = 'select counters_write($1, $2, $3, $4)'

/** A day and a month of UTC. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10)
const periodsOf = (day: string): string[] => ['all', `day:${day}`, `month:${day.slice(0, -3)}`]

const nameOf = ({ type, id }: Cause): string => `${type}/${id}`
const usedOf = ({ reserved, spent }: Counter): Euros => reserved + spent

/**
 * A tenant's counters, open before whoever decides, as the ledger's book is: what is reserved is seen by the next
 * decision, and all of it is written together. Whether a limit allows it is decided before, by the rules.
 */
export class Tally {
  readonly #tenant: Tenant
  readonly #now: Date
  readonly #counters: ReadonlyMap<string, Counter>
  readonly #reservations: Map<string, Reservation>
  readonly #hasOwners: boolean
  readonly #changed = new Set<Counter>()
  readonly #taken = new Set<Reservation>()

  constructor(tenant: Tenant, now: Date, counters: readonly Counter[], reservations: readonly Reservation[]) {
    this.#tenant = tenant
    this.#now = now
    this.#counters = new Map(counters.map(one => [`${one.subject} ${one.period}`, one]))
    this.#hasOwners = counters.some(({ subject }) => subject === tenant.ownerId)
    this.#reservations = new Map(reservations.map(one => [nameOf(one), one]))
  }

  /** What decides about a spend of this subject now; its uses are counted since the beginning of the term. */
  countersOf(subject: string, term: Date | null): Counters {
    const [all, day, month] = this.#today(subject)
    return {
      dayEuros: usedOf(day),
      monthEuros: usedOf(month),
      uses: isOfTerm(all, term) ? all.reservedUses + all.uses : 0,
      openUses: isOfTerm(all, term) ? all.reservedUses : 0,
      lastSpendAt: all.lastSpendAt,
      firstMerchant: all.firstMerchant,
    }
  }

  /** What a subject has reserved and spent since it exists, of which its budget is a limit. */
  usedOf(subject: string): Euros {
    return usedOf(this.#at(subject, 'all'))
  }

  /** The merchant that a subject has paid first; null where it has paid none. */
  firstMerchantOf(subject: string): string | null {
    return this.#at(subject, 'all').firstMerchant
  }

  /** The owner's own counters of today and of this month, where there is a budget of which they are counted. */
  owners(): { readonly day: Counter; readonly month: Counter } | undefined {
    if (!this.#hasOwners) return undefined
    const [, day, month] = this.#today(this.#tenant.ownerId)
    return { day, month }
  }

  /** What all agents of the owner may spend together. */
  ownersBudgets(): Budget[] {
    const { ownerId: id } = this.#tenant
    return Object.entries(this.owners() ?? {}).flatMap(([period, counter]) =>
      counter.limit === null
        ? []
        : [
            {
              ...{ level: 'owner', id, name: id, period: period as 'day' | 'month' },
              ...{ limitEuros: counter.limit, usedEuros: usedOf(counter) },
            },
          ],
    )
  }

  reserve(cause: Cause, subjects: readonly string[], amount: Euros, term: Date | null): void {
    if (this.#reservations.has(nameOf(cause))) throw new Error(`${nameOf(cause)}: reserved twice`)
    const day = dayOf(this.#now)
    const taken = { ...cause, subjects, day, term, amount, reserved: 0n, spent: 0n }
    this.#reservations.set(nameOf(cause), taken)
    for (const subject of subjects) {
      const all = this.#at(subject, 'all')
      if (!isOfTerm(all, term)) Object.assign(all, { term, uses: 0, reservedUses: 0 })
      if (!all.lastSpendAt || all.lastSpendAt < this.#now) all.lastSpendAt = this.#now
    }
    this.#change(taken, { reserved: amount, spent: 0n })
  }

  /** What is still reserved for it. */
  reservedFor(cause: Cause): Euros {
    return this.#reservations.get(nameOf(cause))?.reserved ?? 0n
  }

  /** Reserved becomes spent; the first time it is a use, and the merchant may be the agent's first. */
  spend(cause: Cause, amount: Euros, merchant: string): void {
    const taken = this.#of(cause)
    const used = amount < taken.reserved ? amount : taken.reserved
    this.#change(taken, { reserved: -used, spent: amount })
    for (const subject of taken.subjects) this.#at(subject, 'all').firstMerchant ??= merchant
  }

  /** What is left of a reservation; whoever comes second finds nothing to give back. */
  giveBack(cause: Cause): Euros {
    const taken = this.#reservations.get(nameOf(cause))
    const left = taken?.reserved ?? 0n
    if (!taken || left === 0n) return 0n
    this.#change(taken, { reserved: -left, spent: 0n })
    return left
  }

  /** What had been spent has come to nothing; of who has paid nobody then, nobody was the first. */
  undo(cause: Cause, amount: Euros): void {
    const taken = this.#of(cause)
    if (amount > taken.spent) throw new Error(`${nameOf(cause)}: more comes back than was spent`)
    this.#change(taken, { reserved: 0n, spent: -amount })
    for (const subject of taken.subjects) {
      const all = this.#at(subject, 'all')
      if (all.spent === 0n) all.firstMerchant = null
    }
  }

  /** Everything in one call. */
  async write(sql: Sql): Promise<void> {
    if (this.#changed.size === 0) return
    const { ownerId, mode } = this.#tenant
    const [changed, taken] = [[...this.#changed], [...this.#taken]].map(rows =>
      JSON.stringify(rows, (_, value) => exact(value)),
    )
    await sql(WRITE, [ownerId, mode, changed, taken])
  }

  #change(taken: Reservation, { reserved, spent }: Pick<Counter, 'reserved' | 'spent'>): void {
    const before = useOf(taken)
    taken.reserved += reserved
    taken.spent += spent
    this.#taken.add(taken)
    const after = useOf(taken)
    for (const counter of this.#counting(taken)) {
      counter.reserved += reserved
      counter.spent += spent
      this.#changed.add(counter)
    }
    for (const subject of taken.subjects) {
      const all = this.#at(subject, 'all')
      if (isOfTerm(all, taken.term)) countUses(all, before, after)
    }
  }

  /** Where it is counted; for the owner too, where there is a budget, also what was reserved before there was one. */
  #counting({ subjects, day }: Reservation): Counter[] {
    const all = this.#hasOwners ? [...subjects, this.#tenant.ownerId] : subjects
    return all.flatMap(subject => periodsOf(day).map(period => this.#at(subject, period)))
  }

  #of(cause: Cause): Reservation {
    const taken = this.#reservations.get(nameOf(cause))
    if (!taken) throw new Error(`nothing is reserved for ${nameOf(cause)}`)
    return taken
  }

  #at(subject: string, period: string): Counter {
    const counter = this.#counters.get(`${subject} ${period}`)
    if (!counter) throw new Error(`${subject} ${period}: the counters were opened without this one`)
    return counter
  }

  #today = (subject: string) =>
    periodsOf(dayOf(this.#now)).map(period => this.#at(subject, period)) as [Counter, Counter, Counter]
}

type Use = 'none' | 'waiting' | 'made'

/** A reservation is one use, however often it is captured: it waits for as long as nothing is spent. */
const useOf = ({ reserved, spent }: Reservation): Use => {
  if (spent > 0n) return 'made'
  return reserved > 0n ? 'waiting' : 'none'
}

/** Of a term that was begun anew meanwhile nothing is left to be taken back. */
function countUses(counter: Counter, before: Use, after: Use): void {
  const change = (use: Use): number => Number(after === use) - Number(before === use)
  counter.reservedUses = Math.max(counter.reservedUses + change('waiting'), 0)
  counter.uses = Math.max(counter.uses + change('made'), 0)
}

const isOfTerm = ({ term }: Counter, other: Date | null): boolean => term?.getTime() === other?.getTime()
