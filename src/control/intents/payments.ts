import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { event } from '../../kernel/contract/events.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Book, Cause } from '../../money/ledger/index.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { openTally, type Tally } from '../budgets/index.ts'
import { foldMerchant, isSameMerchant } from '../merchants/index.ts'
import { lockSpendersOfIntents, type Spender } from '../policies/index.ts'
import { intentEvent } from './events.ts'
import { heldFor, intentMachine } from './intent.ts'
import { type IntentRow, lockIntents, updateIntents } from './intent-rows.ts'
import { intentProcess } from './process.ts'
import { IntentEvent } from './schemas.ts'

/** What whoever pays on intents declares. */
export const paidEvents = { 'intent.completed': event('What an intent was for has been paid.', IntentEvent) }

type Doing = Pick<Context<never, typeof paidEvents>, 'emit' | 'wake'>

/** What has come between an approval and its payment, by the name of a refusal. */
export type Bar = 'agent_not_active' | 'intent_other_merchant'

/** Why nothing can be paid on an intent now. */
type Hindrance = 'intent_not_approved' | 'intent_being_paid' | 'intent_expired' | Bar

/** What is paid, out of what is held for an intent. */
interface Paid {
  readonly kind: Parameters<Book['capture']>[0]
  readonly to: string
  readonly amountEuros: Euros
  readonly cause: Cause
  readonly transactionId: string
}

/**
 * Intents that somebody pays on. An intent has one payment: it takes no more than is held, and what is left of the
 * money and of the limits is given back with it.
 */
export class Payments {
  readonly #opening: TenantNow
  readonly #agents: ReadonlyMap<string, Spender>
  readonly #tally: Tally | undefined
  readonly #changed = new Set<IntentRow>()
  #intents: ReadonlyMap<string, IntentRow> = new Map()
  /** What the ledger's book is to be opened with. */
  readonly holds: readonly Cause[]

  constructor(
    opening: TenantNow,
    ids: readonly string[],
    { agents, tally }: { agents?: ReadonlyMap<string, Spender>; tally?: Tally } = {},
  ) {
    this.#opening = opening
    this.#agents = agents ?? new Map()
    this.#tally = tally
    this.holds = ids.map(id => heldFor({ id }))
  }

  /** Once the accounts are held. */
  async lock(sql: Sql): Promise<void> {
    const ids = this.holds.map(({ id }) => id)
    if (ids.length > 0) this.#intents = await lockIntents(sql, this.#opening.tenant, ids)
  }

  find(id: string | null | undefined): IntentRow | undefined {
    return id ? this.#intents.get(id) : undefined
  }

  /** The wallet that an intent is paid from. */
  walletFor({ agentId }: IntentRow): string | undefined {
    return this.#agents.get(agentId)?.walletId
  }

  hindrance(intent: IntentRow): Hindrance | undefined {
    const { status, paymentId, expiresAt } = intent
    if (status !== 'approved') return 'intent_not_approved'
    if (paymentId) return 'intent_being_paid'
    return expiresAt <= this.#opening.now ? 'intent_expired' : this.barTo(intent)
  }

  /** Two merchants can be approved before one of them is paid: from then on the other one is not. */
  barTo({ agentId, merchant }: IntentRow): Bar | undefined {
    const agent = this.#agents.get(agentId)
    if (agent?.status !== 'active') return 'agent_not_active'
    const first = agent.policy.terms?.lockToFirstMerchant ? this.#counted.firstMerchantOf(agentId) : null
    return first === null || isSameMerchant(first, merchant) ? undefined : 'intent_other_merchant'
  }

  /** The payment is under way: what is held stays held until it is known how it ends. */
  begin(intent: IntentRow, paymentId: string): void {
    this.#change(intent, { paymentId })
  }

  /** It came to nothing before anything had left: the intent can be paid otherwise, or ends. */
  end(intent: IntentRow, { wake }: Pick<Doing, 'wake'>): void {
    this.#change(intent, { paymentId: null })
    if (intent.workflowId) wake(intentProcess, intent)
  }

  /** It leaves, and with it the intent is completed. */
  complete(
    intent: IntentRow,
    { kind, to, amountEuros, cause, transactionId }: Paid,
    book: Book,
    doing: Doing,
  ): void {
    if (!intentMachine.move(intent, 'completed')) throw new Error(`${intent.id} cannot be paid`)
    this.#change(intent, { transactionId, paymentId: null })
    const held = heldFor(intent)
    book.capture(kind, held, to, amountEuros, cause)
    book.release(held)
    this.#counted.spend(held, amountEuros, intent.merchant)
    this.#counted.giveBack(held)
    doing.emit('intent.completed', intentEvent(intent))
    if (intent.workflowId) doing.wake(intentProcess, intent)
  }

  /** What had left came back: it counts towards no limit any more. The intent stays completed, by that one payment. */
  undo(intent: IntentRow, amount: Euros): void {
    this.#counted.undo(heldFor(intent), amount)
  }

  async write(sql: Sql): Promise<void> {
    await updateIntents(sql, [...this.#changed])
    await this.#tally?.write(sql)
  }

  get #counted(): Tally {
    if (!this.#tally) throw new Error('no intent was opened')
    return this.#tally
  }

  #change(intent: IntentRow, members: Partial<Pick<IntentRow, 'paymentId' | 'transactionId'>>): void {
    Object.assign(intent, members, { updatedAt: this.#opening.now })
    this.#changed.add(intent)
  }
}

/** The agents of these intents and what they have taken of their limits; before any account is locked. */
export async function openPayments(
  sql: Sql,
  opening: TenantNow,
  wanted: readonly string[],
): Promise<Payments> {
  const ids = [...new Set(wanted)]
  if (ids.length === 0) return new Payments(opening, ids)
  const agents = await lockSpendersOfIntents(sql, opening.tenant, ids)
  const causes = ids.map(id => heldFor({ id }))
  const tally = await openTally(sql, opening, { causes, agents: [...agents.keys()] })
  return new Payments(opening, ids, { agents, tally })
}

/** Whether a record still is whom the intent was approved for: by its name and, from when that is known, its account. */
export const isApprovedPayee = (
  { merchant, payeeIban }: Pick<IntentRow, 'merchant' | 'payeeIban'>,
  { name, iban }: { readonly name: string; readonly iban: string | null },
): boolean => foldMerchant(merchant) === foldMerchant(name) && (payeeIban === null || payeeIban === iban)

/** The same for payments that come to nothing: that touches no limit, and so neither agents nor counters are held. */
export const openPaymentsToEnd = (opening: TenantNow, wanted: readonly string[]): Payments =>
  new Payments(opening, [...new Set(wanted)])

/** In words, where more is asked for than is held. */
export const aboveHeld = (amount: Euros, held: Euros): string =>
  `${formatEuros(amount)} are asked for, ${formatEuros(held)} are held for the intent.`
