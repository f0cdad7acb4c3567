import type { Euros } from '../../values/money.ts'
import { dayOf } from '../budgets/index.ts'
import { parseCounters, parseRequest, type RecordedDecision } from '../decisions/index.ts'
import {
  type Budget,
  type Compiled,
  type Counters,
  decide,
  type Ruling,
  type SpendRequest,
  type Verdict,
  verdictOf,
} from '../rules/index.ts'

/** What was decided, what would be, and by which ruling; none where that was settled with its declaration. */
export interface Replayed {
  readonly was: Verdict
  readonly now: Verdict
  readonly ruling: Ruling | null
}

/** An agent has so many intents at most that wait for a person at once; of more, the oldest are forgotten. */
const MOST_WAITING = 10_000

const notBelowZero = (amount: Euros): Euros => (amount > 0n ? amount : 0n)

/**
 * One agent's decisions under another policy. The record tells what was held, captured and given back; this is how far
 * the counters have drifted from it, by what would have been decided otherwise.
 */
export class Drift {
  readonly #policy: Compiled
  #day = ''
  #dayEuros: Euros = 0n
  #monthEuros: Euros = 0n
  #allEuros: Euros = 0n
  #uses = 0
  /** Known by itself from the first difference on. */
  #hasParted = false
  #lastSpendAt: Date | null | undefined
  readonly #budgets = new Map<string, Euros>()
  /** Of what waited for a person and would not have: what would be held for it; null where it would be denied. */
  readonly #settled = new Map<string, Euros | null>()

  constructor(policy: Compiled) {
    this.#policy = policy
  }

  /** The next one, in the order of time. */
  replay(one: RecordedDecision): Replayed {
    const request = parseRequest(one.request)
    const isApproval = request.approval !== null
    const was = verdictOf(one, isApproval)
    this.#turnTo(dayOf(one.at))
    const settled = isApproval ? this.#settled.get(one.subjectId) : undefined
    if (settled !== undefined) return this.#follow(one, request, was, settled)
    const counters = parseCounters(one.counters)
    if (this.#lastSpendAt === undefined) this.#lastSpendAt = counters.lastSpendAt
    const ruling = decide(this.#policy, this.#asked(request), this.#counted(counters))
    const now = verdictOf(ruling, isApproval)
    if (now !== was) this.#part(one, request, { was, now, ruling })
    if (now === 'allowed' || (was === 'allowed' && now === 'person')) this.#lastSpendAt = one.at
    return { was, now, ruling }
  }

  /** Decided otherwise: the counters are no longer those of the record. */
  #part(
    { subjectId, usedEuros }: RecordedDecision,
    request: SpendRequest,
    { was, now, ruling }: Replayed & { ruling: Ruling },
  ): void {
    this.#hasParted = true
    // A person may still come, or come again.
    const mayCome = was === 'person' || (was === 'denied' && request.approval !== null)
    if (mayCome && now !== 'person') this.#settle(subjectId, now === 'allowed' ? ruling.holdEuros : null)
    if (now === 'allowed') this.#take(request, ruling.holdEuros, 1)
    else if (now === 'denied' && was === 'allowed' && usedEuros > 0n) this.#take(request, -usedEuros, -1)
  }

  /** A person approves what this policy had denied, or let through, when it was declared. */
  #follow(
    { subjectId, usedEuros }: RecordedDecision,
    request: SpendRequest,
    was: Verdict,
    early: Euros | null,
  ): Replayed {
    const now = early === null ? 'denied' : 'allowed'
    if (was !== 'allowed') return { was, now, ruling: null }
    this.#settled.delete(subjectId)
    // From here on it is in the record, and this policy has it from its declaration, or not at all.
    if (early !== null) this.#take(request, -early, -1)
    else if (usedEuros > 0n) this.#take(request, -usedEuros, -1)
    return { was, now, ruling: null }
  }

  #settle(subjectId: string, held: Euros | null): void {
    this.#settled.set(subjectId, held)
    const [oldest] = this.#settled.keys()
    if (this.#settled.size > MOST_WAITING && oldest) this.#settled.delete(oldest)
  }

  #take({ budgets }: SpendRequest, amount: Euros, uses: number): void {
    this.#dayEuros += amount
    this.#monthEuros += amount
    this.#allEuros += amount
    this.#uses += uses
    for (const { id, period } of budgets)
      if (!period) this.#budgets.set(id, (this.#budgets.get(id) ?? 0n) + amount)
  }

  #turnTo(day: string): void {
    if (day === this.#day) return
    if (day.slice(0, 7) !== this.#day.slice(0, 7)) this.#monthEuros = 0n
    this.#dayEuros = 0n
    this.#day = day
  }

  #asked(request: SpendRequest): SpendRequest {
    if (!this.#hasParted) return request
    const { availableEuros, budgets } = request
    return {
      ...request,
      availableEuros: availableEuros === null ? null : notBelowZero(availableEuros - this.#allEuros),
      budgets: budgets.map(budget => this.#budget(budget)),
    }
  }

  #budget(budget: Budget): Budget {
    return { ...budget, usedEuros: notBelowZero(budget.usedEuros + this.#takenOf(budget)) }
  }

  /** Of a day or a month it is what this agent has taken otherwise of that; what others did stays as recorded. */
  #takenOf({ id, period }: Budget): Euros {
    if (period === 'day') return this.#dayEuros
    return period === 'month' ? this.#monthEuros : (this.#budgets.get(id) ?? 0n)
  }

  #counted(counters: Counters): Counters {
    if (!this.#hasParted) return counters
    return {
      ...counters,
      dayEuros: notBelowZero(counters.dayEuros + this.#dayEuros),
      monthEuros: notBelowZero(counters.monthEuros + this.#monthEuros),
      uses: Math.max(counters.uses + this.#uses, 0),
      // Which of them would still be open nobody knows.
      openUses: undefined,
      lastSpendAt: this.#lastSpendAt ?? null,
    }
  }
}
