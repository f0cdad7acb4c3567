/** Steps of the owner, the agent, the merchant and the network on one payment by card. */
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
  /** Refunded before without a request. */
  readonly before: number
  readonly said: ('credited' | 'won' | 'lost' | 'withdrawn')[]
}

/** The expected result, computed from the documented rules with nothing but sums. */
export class Oracle {
  isCleared = false
  /** Credits of the network: of the payment, and in excess of it. */
  back = 0
  beside = 0
  /** Received for requested refunds. */
  #askedBack = 0
  #early = 0
  readonly #awaited: Awaited[] = []
  readonly #disputes: Disputed[] = []
  readonly #paid: number

  constructor(paid: number) {
    this.#paid = paid
  }

  /** False if the step is refused, or does not apply. */
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

  get credited(): number {
    return total(this.#disputes.map(one => this.#creditedOf(one)))
  }

  /** Final, as the dispute has ended. */
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

  /** Credits before the clearing count for the payment now. */
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

  /** A credit first fulfils requested refunds: the one of the same amount, then the oldest. */
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

  /** Refunds without a request reduce the dispute. The payment comes back once: as refunds, then by the earlier dispute. */
  #leftOf(one: Disputed): number {
    const since = Math.max(0, this.back - this.#askedBack - one.before)
    const earlier = this.#disputes.slice(0, this.#disputes.indexOf(one)).map(other => this.#creditedOf(other))
    return Math.max(0, Math.min(one.cents - since, this.#paid - this.back - total(earlier)))
  }

  #decisionOf(one: Disputed): 'won' | 'lost' | 'withdrawn' | undefined {
    const decided = one.said.findLast(says => says === 'won' || says === 'lost')
    if (one.said.includes('withdrawn')) return decided === 'won' ? 'won' : 'withdrawn'
    if (this.#leftOf(one) === 0) return 'won'
    return decided as 'won' | 'lost' | undefined
  }

  #isOpen = (one: Disputed): boolean => this.#decisionOf(one) === undefined

  /** The last report counts. An unauthorized payment is credited, unless the owner withdrew. */
  #creditedOf(one: Disputed): number {
    const word = one.said.at(-1)
    const isPaid = word === 'credited' || word === 'won'
    const isOwners = one.isUnauthorized && this.#decisionOf(one) !== 'withdrawn'
    return isPaid || isOwners ? this.#leftOf(one) : 0
  }
}

const total = (amounts: readonly number[]): number => amounts.reduce((sum, one) => sum + one, 0)
