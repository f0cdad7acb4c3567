import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { EmitContext, SqlContext } from '../../kernel/contract/context.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { LockedBook } from '../../money/ledger/index.ts'
import { type Cents, formatMoney } from '../../values/money.ts'
import { BudgetCounters } from '../budgets/index.ts'
import { ExhaustedMandates, mandateExhaustedEvent } from '../mandates/index.ts'
import { isSameMerchant, normalizeMerchant } from '../merchants/index.ts'
import type { SpendingAgent } from '../policies/index.ts'
import {
  type IntentRow,
  intentCause,
  intentMachine,
  type intentReceiptStates,
  lockIntents,
  updateIntents,
} from './intent.ts'
import { intentProcess } from './process.ts'
import { intentEvent } from './response.ts'
import { IntentEvent } from './schemas.ts'

export const intentPaidEvents = {
  'intent.completed': declareEvent('An intent has been paid.', IntentEvent),
  ...mandateExhaustedEvent,
}

export type IntentSubmissionBlocker = 'agent_not_active' | 'intent_other_merchant'

type PaymentBlocker = 'intent_not_approved' | 'intent_being_paid' | 'intent_expired' | IntentSubmissionBlocker

/** What payments need of the locked rows: those that are only cancelled change no limit. */
interface OpenedForPayments {
  readonly agents?: ReadonlyMap<string, SpendingAgent>
  readonly counters?: BudgetCounters
  readonly intents?: ReadonlyMap<string, IntentRow>
}

/**
 * Intents that are being paid. An intent has one payment, of at most the amount held for it; that payment
 * releases the rest of the money and of the limits.
 */
export class IntentPayments {
  readonly #tenantNow: TenantNow
  readonly #agents: ReadonlyMap<string, SpendingAgent>
  readonly #changed = new Set<IntentRow>()
  readonly #exhausted: ExhaustedMandates
  readonly #intents: ReadonlyMap<string, IntentRow>
  readonly counters: BudgetCounters

  constructor(tenantNow: TenantNow, { agents, counters, intents }: OpenedForPayments = {}) {
    this.#intents = intents ?? new Map()
    this.#tenantNow = tenantNow
    this.#exhausted = new ExhaustedMandates(tenantNow)
    this.#agents = agents ?? new Map()
    this.counters = counters ?? new BudgetCounters(tenantNow.tenant, tenantNow.now, [], [])
  }

  find(id: string | null | undefined): IntentRow | undefined {
    return id ? this.#intents.get(id) : undefined
  }

  walletFor({ agentId }: IntentRow): string | undefined {
    return this.#agents.get(agentId)?.walletId
  }

  blockerOf(intent: IntentRow): PaymentBlocker | undefined {
    const { status, paymentId, expiresAt } = intent
    if (status !== 'approved') return 'intent_not_approved'
    if (paymentId) return 'intent_being_paid'
    return expiresAt <= this.#tenantNow.now ? 'intent_expired' : this.submissionBlockerOf(intent)
  }

  /**
   * Why a pending payment must not be submitted any more; undefined if it may. Intents for two merchants can
   * be approved before the agent has paid its first one, and from then on only that merchant is paid.
   */
  submissionBlockerOf({ agentId, merchant }: IntentRow): IntentSubmissionBlocker | undefined {
    const agent = this.#agents.get(agentId)
    if (agent?.status !== 'active') return 'agent_not_active'
    const first = agent.policy.terms?.lockToFirstMerchant ? this.counters.firstMerchantOf(agentId) : null
    return first === null || isSameMerchant(first, merchant) ? undefined : 'intent_other_merchant'
  }

  /** A payment is pending, so held money stays held until it ends. */
  begin(intent: IntentRow, paymentId: string): void {
    this.#change(intent, { paymentId })
  }

  /** The payment was cancelled before its submission, so the intent can be paid again, or ends. */
  cancel(intent: IntentRow, { wake }: EmitContext): void {
    this.#change(intent, { paymentId: null })
    if (intent.workflowId) wake(intentProcess, intent)
  }

  complete(intent: IntentRow, transactionId: string, context: EmitContext<typeof intentPaidEvents>): void {
    if (!intentMachine.move(intent, 'completed')) throw new Error(`${intent.id} cannot be paid`)
    this.#change(intent, { transactionId, paymentId: null })
    context.emit('intent.completed', intentEvent(intent))
    if (intent.workflowId) context.wake(intentProcess, intent)
    this.#endMandateOf(intent, context)
  }

  #endMandateOf({ decidedBy }: IntentRow, context: EmitContext<typeof intentPaidEvents>): void {
    if (decidedBy?.type === 'mandate' && decidedBy.id)
      this.#exhausted.endIfUsedUp(decidedBy.id, this.counters, context)
  }

  releaseRest(intent: IntentRow, book: LockedBook, context: EmitContext<typeof intentPaidEvents>): void {
    book.release(intentCause(intent))
    this.counters.release(intentCause(intent))
    this.#endMandateOf(intent, context)
  }

  async write(sql: Sql): Promise<void> {
    await Promise.all([
      updateIntents(sql, this.#tenantNow.tenant, [...this.#changed]),
      this.counters.write(sql),
      this.#exhausted.write(sql),
    ])
  }

  #change(intent: IntentRow, members: Partial<Pick<IntentRow, 'paymentId' | 'transactionId'>>): void {
    Object.assign(intent, members, { updatedAt: this.#tenantNow.now })
    this.#changed.add(intent)
  }
}

/** Compares the name, and the IBAN if it was known at the approval. */
export const isApprovedPayee = (
  { merchant, payeeIban }: Pick<IntentRow, 'merchant' | 'payeeIban'>,
  { name, iban }: { readonly name: string; readonly iban: string | null },
): boolean =>
  normalizeMerchant(merchant) === normalizeMerchant(name) && (payeeIban === null || payeeIban === iban)

export const aboveHeldAmountMessage = (amount: Cents, held: Cents): string =>
  `The payment asks for ${formatMoney(amount)}, but only ${formatMoney(held)} is held for the intent.`

type Status = (typeof intentReceiptStates)[number] | null

const NOTE = 'update intents set receipt_status = $4 where owner_id = $1 and mode = $2 and id = $3'

/** Reads under the intent's lock, so that the receipts do not change meanwhile. */
export async function updateIntentReceiptState(
  intentId: string,
  read: () => Promise<Status>,
  { sql, tenant }: SqlContext,
): Promise<void> {
  await lockIntents(sql, tenant, [intentId])
  await sql(NOTE, [tenant.ownerId, tenant.mode, intentId, await read()])
}
