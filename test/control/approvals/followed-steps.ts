import {
  type ApprovalOutcome,
  type ApprovalProgress,
  advanceApproval,
  awaitedBy,
  beginApproval,
  countApprovals,
  dropApprovals,
  giveApproval,
  restartApproval,
  whyNotAsked,
} from '../../../src/identity/approvals/progress.ts'
import type { ApprovalStep } from '../../../src/values/approval-steps.ts'
import { addMs, minutes } from '../../../src/values/clock.ts'
import { cents } from '../../../src/values/money.ts'
import type { Happening, Role } from './steps-oracle.ts'

export const NOON = new Date('2026-11-25T12:00:00.000Z')
export const afterNoon = (count: number): Date => addMs(NOON, minutes(count))

export interface StepTerms extends Partial<Omit<ApprovalStep, 'then'>> {
  readonly ending?: ApprovalStep['then']
}

export const stepOf = ({ ending = 'deny', ...terms }: StepTerms = {}): ApprovalStep => ({
  aboveCents: '0',
  of: 'approvers',
  need: 1,
  withinMinutes: 60,
  then: ending,
  ...terms,
})

export interface RequestTerms {
  readonly amount?: number
  readonly requesters?: readonly string[]
}

/** A request from noon on, whose progress goes on after each event. */
export class FollowedSteps {
  progress: ApprovalProgress
  outcome: ApprovalOutcome | 'expired' = 'open'
  hasEscalated = false
  #minute = 0
  #amount: number
  readonly #people: Map<string, Role>
  readonly #standsInFor = new Map<string, ReadonlySet<string>>()

  constructor(
    steps: readonly ApprovalStep[],
    people: Readonly<Record<string, Role>>,
    { amount = 1_000, requesters = [] }: RequestTerms = {},
  ) {
    const progress = beginApproval(steps, cents(amount), { now: NOON, requesters })
    if (!progress) throw new Error('no step is asked')
    this.progress = progress
    this.#amount = amount
    this.#people = new Map(Object.entries(people))
    this.#goOn()
  }

  get approvers() {
    return [...this.#people].map(([id, role]) => {
      const standsInFor = this.#standsInFor.get(id)
      return { id, role, ...(standsInFor && { standsInFor: [...standsInFor].sort() }) }
    })
  }

  /** `open at step 0, 1 of 2 given, asked: ann, ben`. */
  get state(): string {
    const { given, needed } = countApprovals(this.progress, this.approvers)
    const asked = this.approvers
      .map(({ id }) => id)
      .filter(id => whyNotAsked(this.progress, this.approvers, id) === undefined)
    const people = this.outcome === 'open' ? `, asked: ${asked.sort().join(', ')}` : ''
    return `${this.outcome} at step ${this.progress.position}, ${given} of ${needed} given${people}`
  }

  get awaits(): string[] {
    return awaitedBy(this.progress, this.approvers)
  }

  /** `ann, ben for olga`: who has signed, and in place of whom. */
  get signatures(): string {
    return this.progress.given
      .map(({ personId, inPlaceOf }) => (inPlaceOf ? `${personId} for ${inPlaceOf}` : personId))
      .join(', ')
  }

  whyNotAsked(person: string): string | undefined {
    return whyNotAsked(this.progress, this.approvers, person)
  }

  wait(count: number): void {
    this.#minute += count
    this.#goOn()
  }

  approve(person: string): void {
    if (this.whyNotAsked(person)) return
    const now = afterNoon(this.#minute)
    this.progress = giveApproval(this.progress, this.approvers, { personId: person, now })
    this.#goOn()
  }

  setDeputy(person: string, deputy: string, isNamed = true): void {
    const others = new Set(this.#standsInFor.get(deputy))
    if (isNamed) others.add(person)
    else others.delete(person)
    this.#standsInFor.set(deputy, others)
  }

  setRole(person: string, role: Role | undefined): void {
    if (role) this.#people.set(person, role)
    else this.#people.delete(person)
    this.progress = dropApprovals(this.progress, this.approvers)
    this.#goOn()
  }

  restart(amount = this.#amount): void {
    this.#amount = amount
    this.progress = restartApproval(this.progress, cents(amount), afterNoon(this.#minute))
    this.#goOn()
  }

  take(happening: Happening): void {
    if (happening.kind === 'approve') this.approve(happening.person)
    else if (happening.kind === 'role') this.setRole(happening.person, happening.role)
    else if (happening.kind === 'deputy')
      this.setDeputy(happening.person, happening.deputy, happening.isNamed)
    else if (happening.kind === 'deny') {
      if (this.#people.has(happening.person)) this.outcome = 'denied'
    } else if (happening.kind === 'expire') {
      this.outcome = 'expired'
      this.progress = dropApprovals(this.progress, [])
    } else this.restart(happening.kind === 'amount' ? happening.amount : undefined)
  }

  #goOn(): void {
    const circumstances = { approvers: this.approvers, now: afterNoon(this.#minute) }
    const { progress, outcome, hasEscalated } = advanceApproval(
      this.progress,
      cents(this.#amount),
      circumstances,
    )
    this.progress = progress
    this.outcome = outcome
    this.hasEscalated ||= hasEscalated
  }
}
