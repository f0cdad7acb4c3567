import { utcDay } from '../../values/clock.ts'
import {
  addCents,
  atLeastZero,
  type Cents,
  NO_CENTS,
  negateCents,
  subtractCents,
} from '../../values/money.ts'
import { decodeDecisionCounters, decodeDecisionRequest, type RecordedDecision } from '../decisions/index.ts'
import {
  type BudgetUsage,
  type CompiledPolicy,
  decideSpendByRules,
  type MandateUsage,
  type SpendCounters,
  type SpendRequest,
  type SpendRuling,
  type SpendVerdict,
  spendVerdict,
} from '../rules/index.ts'

interface Difference {
  readonly all: Cents
  readonly month: Cents
  readonly day: Cents
  readonly uses: number
}

const NONE: Difference = { all: NO_CENTS, month: NO_CENTS, day: NO_CENTS, uses: 0 }

/** How far the use of mandates differs from the record, because another policy needs them more or less often. */
class MandateDiff {
  readonly #byId = new Map<string, Difference>()

  /** Differences of an earlier day or month do not count in the new one. */
  startDay(isNewMonth: boolean): void {
    for (const [id, difference] of this.#byId)
      this.#byId.set(id, { ...difference, day: NO_CENTS, month: isNewMonth ? NO_CENTS : difference.month })
  }

  add(id: string, amount: Cents, uses: number): void {
    const { all, month, day, uses: before } = this.#byId.get(id) ?? NONE
    this.#byId.set(id, {
      all: addCents(all, amount),
      month: addCents(month, amount),
      day: addCents(day, amount),
      uses: before + uses,
    })
  }

  /** The mandate as it would be now. Which of several mandates applies stays as recorded. */
  adjust(mandate: MandateUsage): MandateUsage {
    const difference = this.#byId.get(mandate.id)
    if (!difference) return mandate
    const { limits, count } = mandate
    return {
      ...mandate,
      limits: limits.map(limit => ({
        ...limit,
        usedCents: atLeastZero(addCents(limit.usedCents, difference[limit.period])),
      })),
      count: count && { limit: count.limit, used: Math.max(count.used + difference.uses, 0) },
    }
  }
}

export interface ReplayedDecision {
  readonly was: SpendVerdict
  readonly now: SpendVerdict
  /**
   * Null for the approval of a spend that this policy settled at its declaration, so that there was nothing
   * to decide.
   */
  readonly ruling: SpendRuling | null
}

/**
 * Bounds the settled spends remembered for one agent, as many as intents can wait at once. The oldest are
 * forgotten first.
 */
const MAX_SETTLED = 10_000

/**
 * Replays one agent's decisions under another policy. The record contains held, captured and refunded
 * amounts; this class adds up how far the counters differ from it because of other decisions.
 */
export class DecisionReplay {
  readonly #policy: CompiledPolicy
  #day = ''
  #dayCents: Cents = NO_CENTS
  #monthCents: Cents = NO_CENTS
  #totalCents: Cents = NO_CENTS
  #uses = 0
  readonly #budgets = new Map<string, Cents>()
  readonly #mandates = new MandateDiff()
  /** Until a decision differs, request and counters are those of the record. */
  #differs = false
  #lastSpendAt: Date | null | undefined
  /**
   * Spends that waited for a person, or may do so again, and that this policy settles at once, with the
   * amount that it holds for each; null if it denies the spend.
   */
  readonly #settled = new Map<string, Cents | null>()

  constructor(policy: CompiledPolicy) {
    this.#policy = policy
  }

  replay(recorded: RecordedDecision): ReplayedDecision {
    const request = decodeDecisionRequest(recorded.request)
    const isApproval = request.approval !== null
    const was = spendVerdict(recorded, isApproval)
    this.#startDay(utcDay(recorded.at))
    const settledHold = isApproval ? this.#settled.get(recorded.subjectId) : undefined
    if (settledHold !== undefined) return this.#replayApproval(recorded, request, was, settledHold)
    const counters = decodeDecisionCounters(recorded.counters)
    if (this.#lastSpendAt === undefined) this.#lastSpendAt = counters.lastSpendAt
    const ruling = decideSpendByRules(
      this.#policy,
      this.#adjustRequest(request),
      this.#adjustCounters(counters),
    )
    const now = spendVerdict(ruling, isApproval)
    if (now !== was) this.#addDifference(recorded, request, { was, now, ruling })
    this.#addMandates(recorded, ruling)
    if (now === 'allowed' || (was === 'allowed' && now === 'person')) this.#lastSpendAt = recorded.at
    return { was, now, ruling }
  }

  #addDifference(
    { subjectId, usedCents }: RecordedDecision,
    request: SpendRequest,
    { was, now, ruling }: ReplayedDecision & { ruling: SpendRuling },
  ): void {
    this.#differs = true
    // A person may still approve it, or try again after a refused approval.
    const mayBeApproved = was === 'person' || (was === 'denied' && request.approval !== null)
    if (mayBeApproved && now !== 'person') {
      this.#settled.set(subjectId, now === 'allowed' ? ruling.holdCents : null)
      const [oldest] = this.#settled.keys()
      if (this.#settled.size > MAX_SETTLED && oldest) this.#settled.delete(oldest)
    }
    if (now === 'allowed') this.#addUse(request, ruling.holdCents, 1)
    else if (now === 'denied' && was === 'allowed' && usedCents > 0n)
      this.#addUse(request, negateCents(usedCents), -1)
  }

  #replayApproval(
    { subjectId, usedCents }: RecordedDecision,
    request: SpendRequest,
    was: SpendVerdict,
    settledHold: Cents | null,
  ): ReplayedDecision {
    const now = settledHold === null ? 'denied' : 'allowed'
    if (was !== 'allowed') return { was, now, ruling: null }
    this.#settled.delete(subjectId)
    // From here on the record counts the spend. This policy has counted it since its declaration, or never
    // counts it.
    if (settledHold !== null) this.#addUse(request, negateCents(settledHold), -1)
    else if (usedCents > 0n) this.#addUse(request, negateCents(usedCents), -1)
    return { was, now, ruling: null }
  }

  #addUse({ budgets }: SpendRequest, amount: Cents, uses: number): void {
    this.#dayCents = addCents(this.#dayCents, amount)
    this.#monthCents = addCents(this.#monthCents, amount)
    this.#totalCents = addCents(this.#totalCents, amount)
    this.#uses += uses
    for (const { id, period } of budgets)
      if (!period) this.#budgets.set(id, addCents(this.#budgets.get(id) ?? NO_CENTS, amount))
  }

  #addMandates({ mandateId, usedCents }: RecordedDecision, { mandate, holdCents }: SpendRuling): void {
    if ((mandate?.id ?? null) === mandateId) return
    this.#differs = true
    if (mandate) this.#mandates.add(mandate.id, holdCents, 1)
    if (mandateId && usedCents > 0n) this.#mandates.add(mandateId, negateCents(usedCents), -1)
  }

  #startDay(day: string): void {
    if (day === this.#day) return
    const isNewMonth = day.slice(0, 7) !== this.#day.slice(0, 7)
    this.#mandates.startDay(isNewMonth)
    if (isNewMonth) this.#monthCents = NO_CENTS
    this.#dayCents = NO_CENTS
    this.#day = day
  }

  #adjustRequest(request: SpendRequest): SpendRequest {
    if (!this.#differs) return request
    const { availableCents, budgets, mandate } = request
    return {
      ...request,
      mandate: mandate && this.#mandates.adjust(mandate),
      availableCents:
        availableCents === null ? null : atLeastZero(subtractCents(availableCents, this.#totalCents)),
      budgets: budgets.map(budget => this.#adjustBudget(budget)),
    }
  }

  /** A budget for a day or a month is shared with other agents, whose part stays as recorded. */
  #adjustBudget(budget: BudgetUsage): BudgetUsage {
    const differences = { day: this.#dayCents, month: this.#monthCents }
    const difference = budget.period ? differences[budget.period] : (this.#budgets.get(budget.id) ?? NO_CENTS)
    return { ...budget, usedCents: atLeastZero(addCents(budget.usedCents, difference)) }
  }

  #adjustCounters(counters: SpendCounters): SpendCounters {
    if (!this.#differs) return counters
    return {
      ...counters,
      dayCents: atLeastZero(addCents(counters.dayCents, this.#dayCents)),
      monthCents: atLeastZero(addCents(counters.monthCents, this.#monthCents)),
      uses: Math.max(counters.uses + this.#uses, 0),
      // Unknown, since the record does not say which of these uses would still be open.
      openUses: undefined,
      lastSpendAt: this.#lastSpendAt ?? null,
    }
  }
}
