import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { bigintAsText } from '../../kernel/database/bulk-sql.ts'
import { newId } from '../../values/ids.ts'
import { addCents, type Cents, NO_CENTS, negateCents, subtractCents, sumOf } from '../../values/money.ts'
import { type LedgerAccountKind, ledgerAccountKinds } from './account.ts'
import { type HoldMovement, type PostingTemplate, postingTemplates } from './templates.ts'

export interface LockedLedgerAccount extends Row {
  readonly id: string
  readonly kind: LedgerAccountKind
  readonly walletId: string | null
  posted: Cents
  held: Cents
  /** A frozen account can be neither debited nor held. */
  readonly frozen: boolean
}

export interface OpenLedgerHold extends Row {
  readonly id: string
  readonly accountId: string
  readonly referenceType: string
  readonly referenceId: string
  remaining: Cents
}

interface TransferRow {
  readonly id: string
  readonly currency: 'EUR'
  readonly kind: PostingTemplate | HoldMovement
  readonly referenceType: string
  readonly referenceId: string
  readonly valueDate: string | null
}

interface EntryRow {
  readonly transferId: string
  readonly accountId: string
  readonly amount: Cents
  readonly holdId: string | null
  readonly hold: Cents
}

/** Names an account in a book by the wallet's id, or by its kind if the tenant has only one of it. */
export type LedgerAccountKey = string

/** The record for which money moves. It is the idempotency key, since each template posts once for the same cause. */
export interface PostingCause {
  readonly type: string
  readonly id: string
  readonly valueDate?: string
}

const POST = 'select ledger_post($1, $2, $3, $4, $5)'

const causeKey = ({ type, id }: PostingCause): string => `${type}/${id}`

/**
 * A tenant's locked accounts in memory. Postings change the balances here at once and are written together by
 * `post`. Ask `canPay` first: the database refuses a posting that overdraws an account, as a defect.
 */
export class LockedBook {
  readonly #tenant: Tenant
  readonly #now: Date
  readonly #accounts: ReadonlyMap<LedgerAccountKey, LockedLedgerAccount>
  readonly #holds: Map<string, OpenLedgerHold>
  readonly #transfers: TransferRow[] = []
  readonly #entries: EntryRow[] = []

  constructor(
    tenant: Tenant,
    now: Date,
    accounts: readonly LockedLedgerAccount[],
    holds: readonly OpenLedgerHold[],
  ) {
    this.#tenant = tenant
    this.#now = now
    this.#accounts = new Map(accounts.map(account => [account.walletId ?? account.kind, account]))
    this.#holds = new Map(
      holds.map(hold => [causeKey({ type: hold.referenceType, id: hold.referenceId }), hold]),
    )
  }

  isFrozen(place: LedgerAccountKey): boolean {
    return this.#account(place).frozen
  }

  available(place: LedgerAccountKey): Cents {
    const { posted, held, kind } = this.#account(place)
    return subtractCents(ledgerAccountKinds[kind].normal === 'credit' ? posted : negateCents(posted), held)
  }

  canPay(place: LedgerAccountKey, amount: Cents): boolean {
    const { minimum } = ledgerAccountKinds[this.#account(place).kind]
    return minimum === null || this.available(place) - amount >= minimum
  }

  balance(place: LedgerAccountKey): { posted: Cents; held: Cents } {
    const { posted, held } = this.#account(place)
    return { posted, held }
  }

  heldFor(cause: PostingCause): Cents {
    return this.#holds.get(causeKey(cause))?.remaining ?? NO_CENTS
  }

  /** Whether anything was ever held for a cause, since each cause holds only once. */
  hasHeld(cause: PostingCause): boolean {
    return this.#holds.has(causeKey(cause))
  }

  move(
    kind: PostingTemplate,
    from: LedgerAccountKey,
    to: LedgerAccountKey,
    amount: Cents,
    cause: PostingCause,
  ): void {
    const transferId = this.#addTransfer(kind, cause)
    this.#addEntry(transferId, this.#accountOfKind(from, postingTemplates[kind][0]), negateCents(amount))
    this.#addEntry(transferId, this.#accountOfKind(to, postingTemplates[kind][1]), amount)
  }

  /**
   * Debits a wallet even beyond what is available, for facts such as a chargeback. Holds stay; the platform
   * advances the missing part, which the owner then owes. Returns that part.
   */
  forceDebit(
    kind: PostingTemplate,
    from: LedgerAccountKey,
    to: LedgerAccountKey,
    amount: Cents,
    cause: PostingCause,
  ): Cents {
    const available = this.available(from)
    const taken = amount < available ? amount : available
    const missing = subtractCents(amount, taken)
    if (missing > 0n) this.move('advance', 'bank', 'advance', missing, cause)
    const transferId = this.#addTransfer(kind, cause)
    // An empty wallet gets no entry, since it may be closed, and a closed account accepts none.
    if (taken > 0n)
      this.#addEntry(transferId, this.#accountOfKind(from, postingTemplates[kind][0]), negateCents(taken))
    if (missing > 0n) this.#addEntry(transferId, this.#account('receivable'), negateCents(missing))
    this.#addEntry(transferId, this.#accountOfKind(to, postingTemplates[kind][1]), amount)
    return missing
  }

  /** Pays the owner's debt out of money just credited to a wallet. Returns how much was taken. */
  repayDebt(from: LedgerAccountKey, credited: Cents, cause: PostingCause): Cents {
    const debt = this.#accounts.get('receivable')
    const owed = debt ? negateCents(debt.posted) : NO_CENTS
    const paid = owed < credited ? owed : credited
    if (paid === 0n) return NO_CENTS
    this.move('recovery', from, 'receivable', paid, cause)
    this.move('advance_return', 'advance', 'bank', paid, cause)
    return paid
  }

  split(
    kind: PostingTemplate,
    from: LedgerAccountKey,
    parts: readonly { readonly walletId: string; readonly amountCents: Cents }[],
    cause: PostingCause,
  ): void {
    const transferId = this.#addTransfer(kind, cause)
    const amount = sumOf(parts.map(({ amountCents }) => amountCents))
    this.#addEntry(transferId, this.#accountOfKind(from, postingTemplates[kind][0]), negateCents(amount))
    for (const { walletId, amountCents } of parts)
      this.#addEntry(transferId, this.#accountOfKind(walletId, postingTemplates[kind][1]), amountCents)
  }

  hold(place: LedgerAccountKey, amount: Cents, cause: PostingCause): void {
    const account = this.#account(place)
    const held: OpenLedgerHold = {
      id: newId('hold'),
      accountId: account.id,
      referenceType: cause.type,
      referenceId: cause.id,
      remaining: amount,
    }
    this.#holds.set(causeKey(cause), held)
    this.#addEntry(this.#addTransfer('hold', cause), account, NO_CENTS, { held, change: amount })
  }

  /** Returns the held rest. A second release returns zero. */
  release(cause: PostingCause): Cents {
    return this.releasePart(cause, this.heldFor(cause), cause)
  }

  /** Releases at most the held rest. Each part has a cause of its own. */
  releasePart(of: PostingCause, amount: Cents, cause: PostingCause): Cents {
    const held = this.#holds.get(causeKey(of))
    const left = held && held.remaining < amount ? held.remaining : amount
    if (!held || left === 0n) return NO_CENTS
    held.remaining = subtractCents(held.remaining, left)
    const change = { held, change: negateCents(left) }
    this.#addEntry(this.#addTransfer('release', cause), this.#accountById(held.accountId), NO_CENTS, change)
    return left
  }

  /** Keeps the rest of the hold. An amount above the hold comes from the available money. */
  capture(
    kind: PostingTemplate,
    of: PostingCause,
    to: LedgerAccountKey,
    amount: Cents,
    cause: PostingCause,
  ): void {
    const held = this.#holds.get(causeKey(of))
    if (!held) throw new Error(`nothing is held for ${causeKey(of)}`)
    const used = amount < held.remaining ? amount : held.remaining
    held.remaining = subtractCents(held.remaining, used)
    const transferId = this.#addTransfer(kind, cause)
    this.#addEntry(transferId, this.#accountById(held.accountId), negateCents(amount), {
      held,
      change: negateCents(used),
    })
    this.#addEntry(transferId, this.#accountOfKind(to, postingTemplates[kind][1]), amount)
  }

  async post(sql: Sql): Promise<void> {
    if (this.#transfers.length === 0) return
    const { ownerId, mode } = this.#tenant
    const [transfers, entries] = [this.#transfers, this.#entries].map(rows =>
      JSON.stringify(rows, (_, value) => bigintAsText(value)),
    )
    await sql(POST, [ownerId, mode, this.#now, transfers, entries])
  }

  #account(place: LedgerAccountKey): LockedLedgerAccount {
    const account = this.#accounts.get(place)
    if (!account) throw new Error(`${place}: the book was opened without this account`)
    return account
  }

  #accountOfKind(place: LedgerAccountKey, kind: LedgerAccountKind): LockedLedgerAccount {
    const account = this.#account(place)
    if (account.kind !== kind) throw new Error(`${place}: ${account.kind}, and ${kind} is asked for`)
    return account
  }

  #accountById(id: string): LockedLedgerAccount {
    const account = [...this.#accounts.values()].find(account => account.id === id)
    if (!account) throw new Error(`${id}: the book was opened without this account`)
    return account
  }

  #addTransfer(kind: PostingTemplate | HoldMovement, { type, id, valueDate }: PostingCause): string {
    const transferId = newId('posting')
    this.#transfers.push({
      id: transferId,
      currency: 'EUR',
      kind,
      referenceType: type,
      referenceId: id,
      valueDate: valueDate ?? null,
    })
    return transferId
  }

  #addEntry(
    transferId: string,
    account: LockedLedgerAccount,
    amount: Cents,
    holdChange?: { readonly held: OpenLedgerHold; readonly change: Cents },
  ): void {
    const hold = holdChange?.change ?? NO_CENTS
    account.posted = addCents(account.posted, amount)
    account.held = addCents(account.held, hold)
    this.#entries.push({
      transferId,
      accountId: account.id,
      amount,
      holdId: holdChange && hold !== 0n ? holdChange.held.id : null,
      hold,
    })
  }
}
