import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { exact } from '../../kernel/database/bulk-sql.ts'
import { newId } from '../../values/ids.ts'
import type { Euros } from '../../values/money.ts'
import { type AccountKind, accountKinds } from './account.ts'
import { type HoldMovement, type Template, templates } from './templates.ts'

/** The wallet's id, or the kind of which the tenant has one. */
export type AccountKey = string

/** For what money moves. The same cause is posted once for each template. */
export interface Cause {
  readonly type: string
  readonly id: string
  readonly valueDate?: string
}

/** An account as it stands, locked until the transaction ends. */
export interface LockedAccount extends Row {
  readonly id: string
  readonly kind: AccountKind
  readonly walletId: string | null
  posted: Euros
  held: Euros
  /** Nothing leaves it, and nothing in it is kept for anything. */
  readonly frozen: boolean
}

/** What is left of a hold. */
export interface OpenHold extends Row {
  readonly id: string
  readonly accountId: string
  readonly referenceType: string
  readonly referenceId: string
  remaining: Euros
}

interface TransferRow {
  readonly id: string
  readonly currency: 'EUR'
  readonly kind: Template | HoldMovement
  readonly referenceType: string
  readonly referenceId: string
  readonly valueDate: string | null
}

interface EntryRow {
  readonly transferId: string
  readonly accountId: string
  readonly amount: Euros
  readonly holdId: string | null
  readonly hold: Euros
}

const POST = 'select ledger_post($1, $2, $3, $4, $5)'

const causeKey = ({ type, id }: Cause): string => `${type}/${id}`

/**
 * A tenant's accounts, open before whoever decides: each posting is seen by the next one, and all are written
 * together. That there is enough is for the caller to ask before: a posting that overdraws an account is a defect.
 */
export class Book {
  readonly #tenant: Tenant
  readonly #now: Date
  readonly #accounts: ReadonlyMap<AccountKey, LockedAccount>
  readonly #holds: Map<string, OpenHold>
  readonly #transfers: TransferRow[] = []
  readonly #entries: EntryRow[] = []

  constructor(tenant: Tenant, now: Date, accounts: readonly LockedAccount[], holds: readonly OpenHold[]) {
    this.#tenant = tenant
    this.#now = now
    this.#accounts = new Map(accounts.map(one => [one.walletId ?? one.kind, one]))
    this.#holds = new Map(holds.map(one => [causeKey({ type: one.referenceType, id: one.referenceId }), one]))
  }

  isFrozen(place: AccountKey): boolean {
    return this.#account(place).frozen
  }

  /** What can still be spent. */
  available(place: AccountKey): Euros {
    const { posted, held, kind } = this.#account(place)
    return (accountKinds[kind].normal === 'credit' ? posted : -posted) - held
  }

  canPay(place: AccountKey, amount: Euros): boolean {
    const { minimum } = accountKinds[this.#account(place).kind]
    return minimum === null || this.available(place) - amount >= minimum
  }

  balance(place: AccountKey): { posted: Euros; held: Euros } {
    const { posted, held } = this.#account(place)
    return { posted, held }
  }

  /** What is still held for this; nothing where no hold is open. */
  heldFor(cause: Cause): Euros {
    return this.#holds.get(causeKey(cause))?.remaining ?? 0n
  }

  move(kind: Template, from: AccountKey, to: AccountKey, amount: Euros, cause: Cause): void {
    const transferId = this.#addTransfer(kind, cause)
    this.#addEntry(transferId, this.#accountOfKind(from, templates[kind][0]), -amount)
    this.#addEntry(transferId, this.#accountOfKind(to, templates[kind][1]), amount)
  }

  /**
   * A fact: it is recorded whatever the wallet holds. What is held for payments stays held; what is missing we lay out,
   * and the owner owes it to us. How much that is of this amount.
   */
  forceDebit(kind: Template, from: AccountKey, to: AccountKey, amount: Euros, cause: Cause): Euros {
    const available = this.available(from)
    const taken = amount < available ? amount : available
    const missing = amount - taken
    if (missing > 0n) this.move('advance', 'bank', 'advance', missing, cause)
    const transferId = this.#addTransfer(kind, cause)
    // Nothing is entered on a wallet that gives nothing: it may be closed.
    if (taken > 0n) this.#addEntry(transferId, this.#accountOfKind(from, templates[kind][0]), -taken)
    if (missing > 0n) this.#addEntry(transferId, this.#account('receivable'), -missing)
    this.#addEntry(transferId, this.#accountOfKind(to, templates[kind][1]), amount)
    return missing
  }

  /** What the owner owes us is paid first out of what has just come in. How much of it went there. */
  repayDebt(from: AccountKey, credited: Euros, cause: Cause): Euros {
    const debt = this.#accounts.get('receivable')
    const owed = debt ? -debt.posted : 0n
    const paid = owed < credited ? owed : credited
    if (paid === 0n) return 0n
    this.move('recovery', from, 'receivable', paid, cause)
    this.move('advance_return', 'advance', 'bank', paid, cause)
    return paid
  }

  /** One posting with many payees: all of them or none. */
  split(
    kind: Template,
    from: AccountKey,
    parts: readonly { readonly walletId: string; readonly amountEuros: Euros }[],
    cause: Cause,
  ): void {
    const transferId = this.#addTransfer(kind, cause)
    const amount = parts.reduce((sum, part) => sum + part.amountEuros, 0n)
    this.#addEntry(transferId, this.#accountOfKind(from, templates[kind][0]), -amount)
    for (const { walletId, amountEuros } of parts)
      this.#addEntry(transferId, this.#accountOfKind(walletId, templates[kind][1]), amountEuros)
  }

  hold(place: AccountKey, amount: Euros, cause: Cause): void {
    const account = this.#account(place)
    const held: OpenHold = {
      id: newId('hold'),
      accountId: account.id,
      referenceType: cause.type,
      referenceId: cause.id,
      remaining: amount,
    }
    this.#holds.set(causeKey(cause), held)
    this.#addEntry(this.#addTransfer('hold', cause), account, 0n, { held, change: amount })
  }

  /** Gives back what is left of a hold; whoever comes second finds nothing to give back. */
  release(cause: Cause): Euros {
    const held = this.#holds.get(causeKey(cause))
    const left = held?.remaining ?? 0n
    if (!held || left === 0n) return 0n
    const change = -left
    held.remaining = 0n
    this.#addEntry(this.#addTransfer('release', cause), this.#accountById(held.accountId), 0n, {
      held,
      change,
    })
    return left
  }

  /** Takes held money: what is held for it is used first, and what is left of the hold stays held. */
  capture(kind: Template, of: Cause, to: AccountKey, amount: Euros, cause: Cause): void {
    const held = this.#holds.get(causeKey(of))
    if (!held) throw new Error(`nothing is held for ${causeKey(of)}`)
    const used = amount < held.remaining ? amount : held.remaining
    held.remaining -= used
    const transferId = this.#addTransfer(kind, cause)
    this.#addEntry(transferId, this.#accountById(held.accountId), -amount, { held, change: -used })
    this.#addEntry(transferId, this.#accountOfKind(to, templates[kind][1]), amount)
  }

  /** Everything in one call. */
  async post(sql: Sql): Promise<void> {
    if (this.#transfers.length === 0) return
    const { ownerId, mode } = this.#tenant
    const [transfers, entries] = [this.#transfers, this.#entries].map(rows =>
      JSON.stringify(rows, (_, value) => exact(value)),
    )
    await sql(POST, [ownerId, mode, this.#now, transfers, entries])
  }

  #account(place: AccountKey): LockedAccount {
    const account = this.#accounts.get(place)
    if (!account) throw new Error(`${place}: the book was opened without this account`)
    return account
  }

  #accountOfKind(place: AccountKey, kind: AccountKind): LockedAccount {
    const account = this.#account(place)
    if (account.kind !== kind) throw new Error(`${place}: ${account.kind}, and ${kind} is asked for`)
    return account
  }

  #accountById(id: string): LockedAccount {
    const account = [...this.#accounts.values()].find(one => one.id === id)
    if (!account) throw new Error(`${id}: the book was opened without this account`)
    return account
  }

  #addTransfer(kind: Template | HoldMovement, { type, id, valueDate }: Cause): string {
    const transferId = newId('posting')
    const about = { kind, referenceType: type, referenceId: id, valueDate: valueDate ?? null }
    this.#transfers.push({ id: transferId, currency: 'EUR', ...about })
    return transferId
  }

  #addEntry(
    transferId: string,
    account: LockedAccount,
    amount: Euros,
    kept?: { readonly held: OpenHold; readonly change: Euros },
  ): void {
    const hold = kept?.change ?? 0n
    account.posted += amount
    account.held += hold
    this.#entries.push({
      transferId,
      accountId: account.id,
      amount,
      holdId: kept && hold !== 0n ? kept.held.id : null,
      hold,
    })
  }
}
