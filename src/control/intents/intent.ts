import { hash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { ApprovalProgress } from '../../identity/approvals/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { EntityManager, EntityReader } from '../../kernel/contract/entity-manager.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { insertIntoBoth, lockedRowsById, rowsById, updateOf } from '../../kernel/database/bulk-sql.ts'
import {
  booleanColumn,
  centsColumn,
  FOR_UPDATE,
  FOR_UPDATE_BY_ID,
  mayUseRecord,
  metadataColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { minutes } from '../../values/clock.ts'
import { ID_AND_NAME } from '../../values/personal.ts'
import {
  type DecisionSummary,
  decisionOfRecordSql,
  decisionTable,
  FORGOTTEN_RULING,
} from '../decisions/index.ts'
import { normalizeMerchant } from '../merchants/index.ts'
import { type PolicyDecision, spenderLock } from '../policies/index.ts'
import { endedUnpaidSql } from './retention.ts'

export const intentMachine = stateMachine('intent', {
  created: ['approved', 'denied', 'cancelled', 'expired'],
  approved: ['completed', 'cancelled', 'expired'],
  denied: [],
  cancelled: [],
  expired: [],
  completed: [],
})

export const intentDeciders = ['policy', 'key', 'console', 'operator', 'mandate'] as const

export const intentReceiptStates = ['matched', 'mismatch'] as const

export interface IntentDecider {
  type: (typeof intentDeciders)[number]
  id: string | null
  name: string | null
}

const schema = defineEntity({
  ...tenantTable('Intent', 'intents', 'agentId', 'delegationId'),
  ...personalTable({
    about: { person: ["decided_by ->> 'id'"], beneficiary: ['beneficiary_id'] },
    keptWhile: { where: `not (${endedUnpaidSql('t')})`, words: 'it was paid, or can still be' },
  }),
  properties: {
    ...recordColumns('intent'),
    agentId: p.text(),
    status: p.enum(intentMachine.states).onCreate(() => intentMachine.initial),
    amountCents: centsColumn('amount_cents'),
    currency: p.enum(['EUR'] as const).onCreate(() => 'EUR' as const),
    merchant: personal(p.text(), 'payment', 'payments', 'word'),
    payeeIban: personal(nullable.string(), 'account', 'payments', 'word'),
    mcc: plain(nullable.string()),
    country: plain(nullable.string()),
    purpose: personal(p.text(), 'words', 'payments', 'word'),
    beneficiaryId: nullable.string(),
    walletId: nullable.string(),
    requestId: nullable.string(),
    /** The token alone names the wallet that is paid. */
    paymentTokenId: plain(nullable.string()),
    cardId: nullable.string(),
    runId: nullable.string(),
    delegationId: nullable.string(),
    tokenId: nullable.string(),
    clientIntentId: personal(nullable.string(), 'words', 'payments', 'pseudonym'),
    possibleDuplicateOf: plain(nullable.string()),
    /** A payment of the card network finds the intent by this key; null in intents of earlier versions. */
    merchantKey: personal(nullable.string(), 'payment', 'payments', 'word'),
    holdCents: nullable.cents('hold_cents'),
    fingerprint: personal(nullable.string().name('likeness'), 'payment', 'payments', 'word'),
    expiresAt: timestampColumn(),
    decidedAt: nullable.instant(),
    decidedBy: personal(nullable.json<IntentDecider>(), 'name', 'payments', ID_AND_NAME),
    comment: personal(nullable.string(), 'words', 'payments', 'word'),
    decision: p.json<PolicyDecision>().formula((_, { alias }) => decisionOfRecordSql(alias)),
    decisionSummary: personal(
      p.json<DecisionSummary>().name('decision'),
      'payment',
      'payments',
      FORGOTTEN_RULING,
    ),
    transactionId: nullable.string(),
    /** The pending payment. Until it ends, the intent can neither be cancelled nor expire. */
    paymentId: plain(nullable.string()),
    workflowId: nullable.string(),
    receiptStatus: plain(nullable.enum(intentReceiptStates)),
    /** A payment waits for the approval: what decides the intent tells it. */
    paymentWaits: booleanColumn(),
    /** The person who asked for it, in the console or with a credential that the person made. */
    requesterId: plain(nullable.string()),
    /**
     * How far the approvals have come, if the policy asks several people. Its salt would let a guesser try out the names
     * that were signed.
     */
    approval: personal(nullable.json<ApprovalProgress>(), 'payment', 'payments', { members: '{"salt":""}' }),
    approvalDueAt: nullable.instant(),
    metadata: personal(metadataColumn(), 'words', 'payments', 'empty'),
  },
})

export class Intent extends schema.class {}
schema.setClass(Intent)

export const intentCause = ({ id }: { readonly id: string }) => ({ type: 'intent', id })

/** True if the payee is a record that this service's own rails pay, so that no card can pay it. */
export const hasPayeeRecord = ({
  beneficiaryId,
  walletId,
  requestId,
  paymentTokenId,
}: Pick<Intent, 'beneficiaryId' | 'walletId' | 'requestId' | 'paymentTokenId'>): boolean =>
  [beneficiaryId, walletId, requestId, paymentTokenId].some(one => one !== null)

export const INTENT_TOKEN_TTL_MS = minutes(15)

/** Within this time, a second intent with the same fingerprint may be a repetition by mistake. */
export const DUPLICATE_WINDOW_MS = minutes(10)

/**
 * Equal for intents of one run with the same amount and the same merchant, however its name is spelled. Null
 * outside a run, since an agent may pay the same amount a hundred times a day on purpose.
 */
export const duplicateFingerprint = ({
  merchant,
  amountCents,
  runId,
}: Pick<Intent, 'merchant' | 'amountCents' | 'runId'>) =>
  runId && hash('sha256', `${amountCents} ${runId} ${normalizeMerchant(merchant)}`, 'base64url').slice(0, 22)

export type IntentRow = RowOf<Intent>

const intentTable = tableOf(Intent)

export const insertIntents = insertIntoBoth(intentTable, decisionTable)
export const updateIntents = updateOf(intentTable, [
  'status',
  'updatedAt',
  'decidedAt',
  'decidedBy',
  'comment',
  'decisionSummary',
  'transactionId',
  'paymentId',
  'holdCents',
  'expiresAt',
  'payeeIban',
  'approval',
  'approvalDueAt',
])

const MARK_WAITED_FOR = `
update intents set payment_waits = true where (owner_id, mode) = ($1, $2) and id = any($3::text[]) and not payment_waits`

/** The caller has locked them. */
export async function markPaymentWaits(
  ids: readonly string[],
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<void> {
  if (ids.length > 0) await sql(MARK_WAITED_FOR, [ownerId, mode, ids])
}

export const lockIntents = lockedRowsById(intentTable)

export const lockSpendingAgentsOfIntents = spenderLock(
  'array(select agent_id from intents where owner_id = $1 and mode = $2 and id = any($3::text[]))',
)

export const findIntents = rowsById(intentTable)

/** For an operation that changes nothing else. */
export const lockIntent = (em: EntityManager, id: string): Promise<Intent | null> =>
  em.findOne(Intent, { id }, FOR_UPDATE)

/** The intents of an agent that wait for several people, the oldest first. */
export const lockWithSteps = (em: EntityManager, agentId: string, limit?: number): Promise<Intent[]> =>
  em.find(
    Intent,
    { agentId, status: 'created', approvalDueAt: { $ne: null } },
    { ...FOR_UPDATE_BY_ID, ...(limit !== undefined && { limit }) },
  )

export const findIntent = (em: EntityReader, id: string): Promise<Intent | null> => em.findOne(Intent, { id })

export async function findIntentsById(
  em: EntityReader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Intent>> {
  const intents = await em.find(Intent, { id: { $in: [...new Set(ids)] } })
  return new Map(intents.map(intent => [intent.id, intent]))
}

/**
 * Why this caller may not pay the intent. An assistant pays what it declared itself. A session of the console pays what
 * a person has approved with a passkey, since everything else could be paid by the thief of a session.
 */
export function intentPaymentProblem(
  actor: Actor,
  { tokenId, status, decidedBy }: Pick<Intent, 'tokenId' | 'status' | 'decidedBy'>,
): 'intent_other_token' | 'intent_unsigned' | undefined {
  if (!mayUseRecord(actor, { tokenId })) return 'intent_other_token'
  const isUnsigned = status === 'approved' && decidedBy?.type !== 'console'
  return actor.type === 'console' && isUnsigned ? 'intent_unsigned' : undefined
}

export function unpayableIntentReason(
  { status, paymentId, transactionId, expiresAt }: Intent,
  now: Date,
): 'intent_not_approved' | 'intent_being_paid' | 'intent_expired' | undefined {
  if (status !== 'approved') return 'intent_not_approved'
  if (paymentId || transactionId) return 'intent_being_paid'
  return expiresAt <= now ? 'intent_expired' : undefined
}
