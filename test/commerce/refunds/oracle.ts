/** What one payment by card can come to: steps of the owner, of the agent, of the merchant and of the network. */
export type Step =
  | { readonly kind: 'clear' | 'cancel' | 'withdraw' | 'delete' }
  | { readonly kind: 'ask'; readonly cents: number }
  | { readonly kind: 'credit'; readonly cents: number; readonly isNamed: boolean }
  | { readonly kind: 'dispute'; readonly cents: number; readonly isUnauthorized: boolean }
  | { readonly kind: 'says'; readonly says: 'credited' | 'won' | 'lost' }

interface Awaited {
  readonly cents: number
  arrived: number
}

interface Disputed {
  readonly cents: number
  readonly isUnauthorized: boolean
  /** What had come back before without being asked for. */
  readonly before: number
  readonly said: ('credited' | 'won' | 'lost' | 'withdrawn')[]
}

/** What should stand after these steps, by the rules as the documents tell them, with nothing but sums. */
export class Oracle {
  isCleared = false
  /** What the network has credited: of the payment, and above or beside it. */
  back = 0
  beside = 0
  /** What of it has come for refunds that were asked for. */
  #askedBack = 0
  #early = 0
  readonly #awaited: Awaited[] = []
  readonly #disputes: Disputed[] = []
  readonly #paid: number

  constructor(paid: number) {
    this.#paid = paid
  }

  /** Takes the step; false where it is refused, or there is nothing to take it on. */
  take(step: Step): boolean {
    switch (step.kind) {
      case 'clear':
        return this.#clear()
      case 'ask':
        return this.#ask(step.cents)
      case 'cancel':
        return this.#awaited.pop() !== undefined
      case 'credit':
        return this.#credit(step.cents, step.isNamed)
      case 'dispute':
        return this.#dispute(step.cents, step.isUnauthorized)
      case 'withdraw':
        return this.#withdraw()
      case 'says':
        this.#disputes.at(-1)?.said.push(step.says)
        return this.#disputes.length > 0
      case 'delete':
        return this.isCleared
    }
  }

  /** What the owner has of disputes. */
  get credited(): number {
    return total(this.#disputes.map(one => this.#creditedOf(one)))
  }

  /** What of that is theirs for good: the dispute has ended. */
  get kept(): number {
    return total(this.#disputes.map(one => (this.#isOpen(one) ? 0 : this.#creditedOf(one))))
  }

  get #awaitedCents(): number {
    return total(this.#awaited.map(({ cents, arrived }) => cents - arrived))
  }

  get #left(): number {
    const counted = this.#disputes.map(one => (this.#isOpen(one) ? this.#leftOf(one) : this.#creditedOf(one)))
    return Math.max(0, this.#paid - this.back - this.#awaitedCents - total(counted))
  }

  /** What was credited before the payment was known counts for it now. */
  #clear(): boolean {
    if (this.isCleared) return false
    this.isCleared = true
    const early = this.#early
    this.#early = 0
    if (early > 0) this.#arrive(early)
    return true
  }

  #ask(cents: number): boolean {
    if (!this.isCleared || cents > this.#left) return false
    this.#awaited.push({ cents, arrived: 0 })
    return true
  }

  #credit(cents: number, isNamed: boolean): boolean {
    const isOfPayment = isNamed || this.#awaited.some(one => one.cents - one.arrived === cents)
    if (!isOfPayment) this.beside += cents
    else if (this.isCleared) this.#arrive(cents)
    else this.#early += cents
    return true
  }

  /** As far as it is of the payment, it is first what was asked for: the same amount, then the oldest. */
  #arrive(cents: number): void {
    const ofPayment = Math.min(cents, this.#paid - this.back)
    this.back += ofPayment
    this.beside += cents - ofPayment
    const isExact = ({ cents: asked, arrived }: Awaited): number => Number(asked - arrived === ofPayment)
    let rest = ofPayment
    for (const one of this.#awaited.toSorted((a, b) => isExact(b) - isExact(a))) {
      const part = Math.min(one.cents - one.arrived, rest)
      one.arrived += part
      rest -= part
      this.#askedBack += part
    }
    const open = this.#awaited.filter(one => one.arrived < one.cents)
    this.#awaited.splice(0, this.#awaited.length, ...open)
  }

  #dispute(cents: number, isUnauthorized: boolean): boolean {
    const isBarred = this.#disputes.some(one => this.#isOpen(one) || this.#decisionOf(one) !== 'withdrawn')
    if (!this.isCleared || isBarred || cents > this.#left) return false
    this.#disputes.push({ cents, isUnauthorized, before: this.back - this.#askedBack, said: [] })
    return true
  }

  #withdraw(): boolean {
    const last = this.#disputes.at(-1)
    if (!last || !this.#isOpen(last)) return false
    last.said.push('withdrawn')
    return true
  }

  /** What comes without being asked for makes the dispute smaller. */
  #leftOf({ cents, before }: Disputed): number {
    const since = Math.max(0, this.back - this.#askedBack - before)
    return cents - Math.min(cents, since)
  }

  #decisionOf(one: Disputed): 'won' | 'lost' | 'withdrawn' | undefined {
    const decided = one.said.findLast(says => says === 'won' || says === 'lost')
    if (one.said.includes('withdrawn')) return decided === 'won' ? 'won' : 'withdrawn'
    if (this.#leftOf(one) === 0) return 'won'
    return decided as 'won' | 'lost' | undefined
  }

  #isOpen = (one: Disputed): boolean => this.#decisionOf(one) === undefined

  /** The last word counts; what nobody has authorized is the owner's, unless they have withdrawn it. */
  #creditedOf(one: Disputed): number {
    const word = one.said.at(-1)
    const isPaid = word === 'credited' || word === 'won'
    const isOwners = one.isUnauthorized && this.#decisionOf(one) !== 'withdrawn'
    return isPaid || isOwners ? this.#leftOf(one) : 0
  }
}

const total = (amounts: readonly number[]): number => amounts.reduce((sum, one) => sum + one, 0)
