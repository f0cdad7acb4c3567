import type { ApprovalStep } from '../../../src/values/approval-steps.ts'

export type Role = 'owner' | 'approver'

/** What happens to a request. A person who gets no role has left, or may no longer approve. */
export type Happening =
  | { readonly kind: 'approve' | 'deny'; readonly person: string }
  | { readonly kind: 'role'; readonly person: string; readonly role: Role | undefined }
  | { readonly kind: 'deputy'; readonly person: string; readonly deputy: string; readonly isNamed: boolean }
  | { readonly kind: 'amount'; readonly amount: number }
  | { readonly kind: 'freeze' | 'expire' }

interface Signature {
  readonly signer: string
  /** The person whose approval it is: the signer's own, or that of a person whose deputy the signer is. */
  readonly seat: string
}

interface AskedStep {
  readonly need: number
  /** Its own people, and those of each step that its open approvals were passed to. */
  readonly groups: readonly ApprovalStep['of'][]
}

export const areAsked = (steps: readonly ApprovalStep[], amount: number): boolean =>
  steps.some(({ aboveCents }) => amount > Number(aboveCents))

/** The expected course, from the documented words. It tries every way to count approvals in steps. */
export class StepsOracle {
  outcome: 'open' | 'approved' | 'denied' | 'expired' = 'open'
  #place = 0
  #minute = 0
  #endsAt = 0
  #amount: number
  #signatures: readonly Signature[] = []
  readonly #deputies = new Set<string>()
  /** The step whose time runs, and those that were passed on to its people. */
  #current: readonly AskedStep[] = []
  /** Those that were complete before: their people stay the same. */
  #earlier: readonly AskedStep[] = []
  readonly #steps: readonly ApprovalStep[]
  readonly #people: Map<string, Role>
  readonly #requesters: readonly string[]

  constructor(
    steps: readonly ApprovalStep[],
    people: Readonly<Record<string, Role>>,
    { amount, requesters }: { readonly amount: number; readonly requesters: readonly string[] },
  ) {
    this.#steps = steps
    this.#people = new Map(Object.entries(people))
    this.#amount = amount
    this.#requesters = requesters
    this.#start()
  }

  get state(): string {
    const [given, needed] = [this.#most(this.#seats), this.#needed]
    const people = this.outcome === 'open' ? `, asked: ${this.#asked().sort().join(', ')}` : ''
    return `${this.outcome} at step ${this.#place}, ${given} of ${needed} given${people}`
  }

  get signatures(): string {
    return this.#signatures
      .map(({ signer, seat }) => (signer === seat ? signer : `${signer} for ${seat}`))
      .join(', ')
  }

  wait(count: number): void {
    this.#minute += count
    this.#goOn()
  }

  take(happening: Happening): void {
    if (happening.kind === 'approve') this.#approve(happening.person)
    else if (happening.kind === 'role') this.#setRole(happening.person, happening.role)
    else if (happening.kind === 'deputy') this.#setDeputy(happening)
    else if (happening.kind === 'deny') {
      if (this.#people.has(happening.person)) this.outcome = 'denied'
    } else if (happening.kind === 'expire') {
      this.#signatures = []
      this.outcome = 'expired'
    } else {
      if (happening.kind === 'amount') this.#amount = happening.amount
      this.#start()
    }
  }

  #start(): void {
    this.#signatures = []
    this.#earlier = []
    this.#run(0, [])
    this.#goOn()
  }

  #approve(person: string): void {
    const seat = this.#seatOf(person)
    if (seat === undefined) return
    this.#signatures = [...this.#signatures, { signer: person, seat }]
    this.#goOn()
  }

  #setDeputy({ person, deputy, isNamed }: Extract<Happening, { kind: 'deputy' }>): void {
    if (isNamed) this.#deputies.add(`${deputy} for ${person}`)
    else this.#deputies.delete(`${deputy} for ${person}`)
  }

  #setRole(person: string, role: Role | undefined): void {
    if (role) this.#people.set(person, role)
    else this.#people.delete(person)
    const able = this.#signatures.filter(
      ({ signer, seat }) => this.#people.has(signer) && this.#people.has(seat),
    )
    this.#signatures = []
    for (const one of able)
      if (this.#most([...this.#seats, one.seat]) > this.#seats.length)
        this.#signatures = [...this.#signatures, one]
    this.#goOn()
  }

  #goOn(): void {
    while (this.outcome === 'open') {
      const next = this.#steps[this.#place + 1]
      const isInTime = this.#minute < this.#endsAt
      if (this.#most(this.#seats) === this.#needed) {
        if (!next || !this.#isAbove(next)) this.outcome = 'approved'
        else {
          this.#earlier = [...this.#earlier, ...this.#current]
          this.#run(this.#place + 1, [])
        }
      } else if (isInTime && this.#most(this.#able()) === this.#needed) return
      else if (this.#steps[this.#place]?.then === 'deny') this.outcome = 'denied'
      else this.#run(this.#place + 1, this.#current)
    }
  }

  /** The time of a step begins, and its people may give what is passed to them. */
  #run(place: number, passed: readonly AskedStep[]): void {
    const step = this.#steps[place]
    if (!step) throw new Error(`there is no step ${place}`)
    const own = this.#isAbove(step) ? [{ need: step.need, groups: [step.of] }] : []
    this.#place = place
    this.#current = [...passed.map(one => ({ ...one, groups: [...one.groups, step.of] })), ...own]
    this.#endsAt = this.#minute + step.withinMinutes
  }

  get #needed(): number {
    return [...this.#earlier, ...this.#current].reduce((sum, { need }) => sum + need, 0)
  }

  #isAbove = ({ aboveCents }: ApprovalStep): boolean => this.#amount > Number(aboveCents)

  #countingPeople(): string[] {
    return [...this.#people.keys()].filter(person => !this.#requesters.includes(person))
  }

  /** The people whose approvals are given, and those who have signed none. */
  #able(): string[] {
    const seats = this.#seats
    return this.#countingPeople().filter(
      person => seats.includes(person) || !this.#signatures.some(({ signer }) => signer === person),
    )
  }

  get #seats(): string[] {
    return this.#signatures.map(({ seat }) => seat)
  }

  #asked(): string[] {
    return this.#countingPeople().filter(person => this.#seatOf(person) !== undefined)
  }

  /** A person signs once, and counts for themselves if they are asked, else for one whose deputy they are. */
  #seatOf(signer: string): string | undefined {
    const counting = this.#countingPeople()
    const hasSigned = this.#signatures.some(one => one.signer === signer)
    if (hasSigned || !counting.includes(signer)) return undefined
    const seats = this.#seats
    const most = this.#most(seats)
    const others = counting.filter(one => this.#deputies.has(`${signer} for ${one}`)).sort()
    return [signer, ...others].find(
      seat =>
        !seats.includes(seat) &&
        !this.#signatures.some(one => one.signer === seat) &&
        this.#most([...seats, seat]) > most,
    )
  }

  #isOf(group: ApprovalStep['of'], person: string): boolean {
    const role = this.#people.get(person)
    if (group === 'owners') return role === 'owner'
    return role !== undefined && (group === 'approvers' || group.includes(person))
  }

  /** How many approvals these people can give at most: each of them counts in one step, or in none. */
  #most(
    people: readonly string[],
    left: readonly AskedStep[] = [...this.#earlier, ...this.#current],
  ): number {
    const [person, ...others] = people
    if (person === undefined) return 0
    let most = this.#most(others, left)
    for (const step of left) {
      if (step.need === 0 || !step.groups.some(group => this.#isOf(group, person))) continue
      const rest = left.map(one => (one === step ? { ...one, need: one.need - 1 } : one))
      most = Math.max(most, 1 + this.#most(others, rest))
    }
    return most
  }
}
