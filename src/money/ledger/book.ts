import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { exact } from '../../kernel/database/bulk-sql.ts'
import { newId } from '../../values/ids.ts'
import type { Euros } from '../../values/money.ts'
import { type AccountKind, accountKinds } from './account.ts'
import { type Keeping, type Template, templates } from './templates.ts'

/** The wallet's id, or the kind of which the tenant has one. */
export type Place = string

/** For what money moves. The same cause is posted once for each template. */
export interface Cause {
  readonly type: string
  readonly id: string
  readonly valueDate?: string
}

/** An account as it stands, locked until the transaction ends. */
export interface Standing extends Row {
  readonly id: string
  readonly kind: AccountKind
  readonly walletId: string | null
  posted: Euros
  held: Euros
  /** Nothing leaves it, and nothing in it is kept for anything. */
  readonly frozen: boolean
}

/** What is left of a hold. */
export interface Held extends Row {
  readonly id: string
  readonly accountId: string
  readonly referenceType: string
  readonly referenceId: string
  remaining: Euros
}

interface TransferRow {
  readonly id: string
  readonly currency: 'EUR'
  readonly kind: Template | Keeping
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

const nameOf = ({ type, id }: Cause): string => `${type}/${id}`

/**
 * A tenant's accounts, open before whoever decides: each posting is seen by the next one, and all are written
 * together. That there is enough is for the caller to ask before: a posting that overdraws an account is a defect.
 */
export class Book {
  readonly #tenant: Tenant
  readonly #now: Date
  readonly #accounts: ReadonlyMap<Place, Standing>
  readonly #holds: Map<string, Held>
  readonly #transfers: TransferRow[] = []
  readonly #entries: EntryRow[] = []

  constructor(tenant: Tenant, now: Date, accounts: readonly Standing[], holds: readonly Held[]) {
    this.#tenant = tenant
    this.#now = now
    this.#accounts = new Map(accounts.map(one => [one.walletId ?? one.kind, one]))
    this.#holds = new Map(holds.map(one => [nameOf({ type: one.referenceType, id: one.referenceId }), one]))
  }

  isFrozen(place: Place): boolean {
    return this.#at(place).frozen
  }

  /** What can still be spent. */
  available(place: Place): Euros {
    const { posted, held, kind } = this.#at(place)
    return (accountKinds[kind].normal === 'credit' ? posted : -posted) - held
  }

  canPay(place: Place, amount: Euros): boolean {
    const { minimum } = accountKinds[this.#at(place).kind]
    return minimum === null || this.available(place) - amount >= minimum
  }

  balance(place: Place): { posted: Euros; held: Euros } {
    const { posted, held } = this.#at(place)
    return { posted, held }
  }

  /** What is still held for this; nothing where no hold is open. */
  heldFor(cause: Cause): Euros {
    return this.#holds.get(nameOf(cause))?.remaining ?? 0n
  }

  move(kind: Template, from: Place, to: Place, amount: Euros, cause: Cause): void {
    const transferId = this.#transfer(kind, cause)
    this.#enter(transferId, this.#ofKind(from, templates[kind][0]), -amount)
    this.#enter(transferId, this.#ofKind(to, templates[kind][1]), amount)
  }

  /**
   * A fact: it is recorded whatever the wallet holds. What is held for payments stays held; what is missing we lay out,
   * and the owner owes it to us. How much that is of this amount.
   */
  force(kind: Template, from: Place, to: Place, amount: Euros, cause: Cause): Euros {
    const available = this.available(from)
    const taken = amount < available ? amount : available
    const missing = amount - taken
    if (missing > 0n) this.move('advance', 'bank', 'advance', missing, cause)
    const transferId = this.#transfer(kind, cause)
    // Nothing is entered on a wallet that gives nothing: it may be closed.
    if (taken > 0n) this.#enter(transferId, this.#ofKind(from, templates[kind][0]), -taken)
    if (missing > 0n) this.#enter(transferId, this.#at('receivable'), -missing)
    this.#enter(transferId, this.#ofKind(to, templates[kind][1]), amount)
    return missing
  }

  /** What the owner owes us is paid first out of what has just come in. How much of it went there. */
  recover(from: Place, credited: Euros, cause: Cause): Euros {
    const debt = this.#accounts.get('receivable')
    const owed = debt ? -debt.posted : 0n
    const paid = owed < credited ? owed : credited
    if (paid === 0n) return 0n
    this.move('recovery', from, 'receivable', paid, cause)
    this.move('advance_return', 'advance', 'bank', paid, cause)
    return paid
  }

  /** One posting with many payees: all of them or none. */
  spread(
    kind: Template,
    from: Place,
    parts: readonly { readonly walletId: string; readonly amountEuros: Euros }[],
    cause: Cause,
  ): void {
    const transferId = this.#transfer(kind, cause)
    const amount = parts.reduce((sum, part) => sum + part.amountEuros, 0n)
    this.#enter(transferId, this.#ofKind(from, templates[kind][0]), -amount)
    for (const { walletId, amountEuros } of parts)
      this.#enter(transferId, this.#ofKind(walletId, templates[kind][1]), amountEuros)
  }

  hold(place: Place, amount: Euros, cause: Cause): void {
    const account = this.#at(place)
    const held: Held = {
      id: newId('hold'),
      accountId: account.id,
      referenceType: cause.type,
      referenceId: cause.id,
      remaining: amount,
    }
    this.#holds.set(nameOf(cause), held)
    this.#enter(this.#transfer('hold', cause), account, 0n, { held, change: amount })
  }

  /** Gives back what is left of a hold; whoever comes second finds nothing to give back. */
  release(cause: Cause): Euros {
    const held = this.#holds.get(nameOf(cause))
    const left = held?.remaining ?? 0n
    if (!held || left === 0n) return 0n
    const change = -left
    held.remaining = 0n
    this.#enter(this.#transfer('release', cause), this.#withId(held.accountId), 0n, { held, change })
    return left
  }

  /** Takes held money: what is held for it is used first, and what is left of the hold stays held. */
  capture(kind: Template, of: Cause, to: Place, amount: Euros, cause: Cause): void {
    const held = this.#holds.get(nameOf(of))
    if (!held) throw new Error(`nothing is held for ${nameOf(of)}`)
    const used = amount < held.remaining ? amount : held.remaining
    held.remaining -= used
    const transferId = this.#transfer(kind, cause)
    this.#enter(transferId, this.#withId(held.accountId), -amount, { held, change: -used })
    this.#enter(transferId, this.#ofKind(to, templates[kind][1]), amount)
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

  #at(place: Place): Standing {
    const account = this.#accounts.get(place)
    if (!account) throw new Error(`${place}: the book was opened without this account`)
    return account
  }

  #ofKind(place: Place, kind: AccountKind): Standing {
    const account = this.#at(place)
    if (account.kind !== kind) throw new Error(`${place}: ${account.kind}, and ${kind} is asked for`)
    return account
  }

  #withId(id: string): Standing {
    const account = [...this.#accounts.values()].find(one => one.id === id)
    if (!account) throw new Error(`${id}: the book was opened without this account`)
    return account
  }

  #transfer(kind: Template | Keeping, { type, id, valueDate }: Cause): string {
    const transferId = newId('posting')
    const about = { kind, referenceType: type, referenceId: id, valueDate: valueDate ?? null }
    this.#transfers.push({ id: transferId, currency: 'EUR', ...about })
    return transferId
  }

  #enter(
    transferId: string,
    account: Standing,
    amount: Euros,
    kept?: { readonly held: Held; readonly change: Euros },
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
