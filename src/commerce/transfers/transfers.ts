import { tokenPayments } from '../../control/agent-tokens/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { FindIntentPayments, IntentPayment } from '../../kernel/contract/payables.ts'
import { answerTo } from '../../kernel/contract/question.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import {
  deadlineInRows,
  hasDeadlineCondition,
  idsWithDeadlineSql,
  openRecordsInRows,
  statusCondition,
} from '../../kernel/database/deadline-rows.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { readClockOffset } from '../../kernel/database/tenant-clock.ts'
import { describePostings, narrativeOfRow } from '../../money/ledger/index.ts'
import { walletsById } from '../../money/wallets/index.ts'
import { clock, utcDay } from '../../values/clock.ts'
import { type Cents, remainderOf } from '../../values/money.ts'
import { splitTransferApi, transferChallengeApi, transferLimitsApi, transfersApi } from './api.ts'
import { readTransferLimits, setTransferLimits, type TransferLimits, transferredOnDay } from './limits.ts'
import { createTransfer } from './pay.ts'
import { transferProcess } from './process.ts'
import { simulateSepaApi, transferSteps } from './sepa/api.ts'
import { cancelUnsubmittedReactions } from './sepa/cancel-unsubmitted.ts'
import { confirmPayee } from './sepa/confirm-payee.ts'
import { simulateBankNotices } from './sepa/notices.ts'
import {
  cancelTransfer,
  lockTransfer,
  nextInquiryAt,
  updateTransfer,
  writeTransfer,
} from './sepa/sepa-transfer.ts'
import { createTransferChallenge } from './signed-payment.ts'
import { splitTransfer } from './split.ts'
import { bookTransferRefund, transferRefundApi, transferRefundReactions } from './take-back.ts'
import {
  awaitsPayeeConfirmation,
  Transfer,
  transferMachine,
  transferResponse,
  transfersPersonalAdditions,
  transfersPersonalData,
} from './transfer.ts'

/** Each transfer that is under way has a deadline. */
const byStatus = (status: Transfer['status'] | undefined, tenant: Tenant) =>
  statusCondition(status, {
    exceptional: ['rejected', 'cancelled', 'returned'],
    open: ['created', 'verifying', 'submitted'],
    isOpen: hasDeadlineCondition('transfers', tenant),
  })

/** `awaitsPayeeConfirmation` as SQL. */
const PAYEE_TO_CONFIRM_SQL =
  "payee_confirmed_at is null and status in ('verifying', 'submitted') and (payee_check->>'result' in ('close_match', 'no_match') or (payee_check->>'result' = 'not_possible' and payee_check->>'code' is not null))"

/** SQL, with the owner as `$1` and the mode as `$2`. */
export const TRANSFERS_TO_CONFIRM_SQL = `transfers where (owner_id, mode) = ($1, $2)
  and id = any(${idsWithDeadlineSql('transfers', ['$1', '$2'])}) and ${PAYEE_TO_CONFIRM_SQL}`

const transfers = bindHandlers(transfersApi, {
  create: createTransfer,

  async list({ query: { from, to, status, waitsFor, cursor: _cursor, limit: _limit, ...filters } }, context) {
    const created = await createdWithinCondition('transfer', { from, to }, context)
    const page = await context.page(Transfer, {
      ...definedOnly({ ...filters, ...created }),
      ...byStatus(status, context.tenant),
      ...(waitsFor && {
        ...hasDeadlineCondition('transfers', context.tenant),
        ...sqlCondition(PAYEE_TO_CONFIRM_SQL),
      }),
    })
    return { ...page, data: page.data.map(transferResponse) }
  },

  get: getRecordAs(Transfer, 'transfer_not_found', transferResponse),

  /** The payment order as its rail writes it. Before the submission, it is written as of now. */
  async pain001({ params }, context) {
    const { em, sql, tenant, now, systems, refuse } = context
    const transfer = await em.findOne(Transfer, { id: params.id })
    if (!transfer) return refuse('transfer_not_found')
    const { scheme, endToEndId, payee, amountCents, reference, fromWalletId } = transfer
    if (!scheme || !endToEndId || !payee) return refuse('transfer_not_by_sepa')
    const rail = systems.sepaRail(tenant.mode)
    const madeAt = transfer.submittedAt ?? now
    const { executeOn } = rail.nextFile(scheme, madeAt)
    const payerIban = (await walletsById(sql, tenant, [fromWalletId])).get(fromWalletId)?.iban ?? null
    const paid = { endToEndId, amountCents, reference, payerIban, payee: { ...payee, name: payee.sepaName } }
    const order = { messageId: endToEndId, madeAt, executeOn, scheme, payments: [paid] }
    return { type: 'application/xml', content: rail.message(order) }
  },

  async cancel({ params, body }, context) {
    const locked = await lockTransfer(params.id, context)
    if (!locked) return context.refuse('transfer_not_found')
    const reason = body.comment ? { code: 'cancelled', message: body.comment } : null
    if (!cancelTransfer(locked, reason, context))
      return context.refuse('transfer_not_cancellable', notCancellable(locked.transfer))
    await writeTransfer(locked, context)
    return transferResponse(locked.transfer)
  },

  confirmPayee,

  async recall({ params, body }, context) {
    const { now, refuse } = context
    const locked = await lockTransfer(params.id, context)
    if (!locked) return refuse('transfer_not_found')
    const { transfer } = locked
    const { status, kind, recall } = transfer
    if (kind !== 'sepa' || (status !== 'submitted' && status !== 'completed'))
      return refuse('transfer_not_recallable')
    if (recall?.status === 'requested') return refuse('recall_under_way')
    const request = {
      status: 'requested',
      at: now.toISOString(),
      reason: body.reason,
      answeredAt: null,
      answer: null,
    } as const
    updateTransfer(transfer, { recall: request, dueAt: nextInquiryAt(transfer, now), inquiries: 0 }, context)
    return transferResponse(transfer)
  },
})

const notCancellable = ({ kind, status }: Transfer): string | undefined =>
  kind === 'sepa' && (status === 'submitted' || status === 'completed')
    ? undefined
    : `The transfer is already ${status}.`

/** Reads the tenant's clock again, since the request's time may be a moment old, and a new day may have begun. */
async function limitsResponse({ single, daily }: TransferLimits, tenant: Tenant, sql: Sql) {
  const day = utcDay(clock.tenant(await readClockOffset(sql, tenant)))
  const used = await transferredOnDay(sql, tenant, day)
  return {
    ...tenant,
    singleCents: single,
    dailyCents: daily,
    day,
    usedCents: used,
    remainingCents: remainderOf(daily, used),
  }
}

const ownerLimits = bindHandlers(transferLimitsApi, {
  async limits(_, { sql, tenant: { ownerId, mode } }) {
    const limits = await readTransferLimits(sql, { ownerId, mode })
    if (!limits) throw new Error(`${ownerId}: a key without a customer`)
    return limitsResponse(limits, { ownerId, mode }, sql)
  },

  async setLimits({ params, body }, { sql, now, switchTenant, emit, refuse }) {
    const tenant = { ownerId: params.id, mode: body.mode }
    if (!(await readTransferLimits(sql, tenant))) return refuse('customer_not_found')
    switchTenant(tenant)
    await setTransferLimits(sql, tenant, { single: body.singleCents, daily: body.dailyCents }, now)
    const limits = (await readTransferLimits(sql, tenant)) as TransferLimits
    emit('transfer.limits_changed', { ...tenant, singleCents: limits.single, dailyCents: limits.daily })
    return limitsResponse(limits, tenant, sql)
  },
})

const all = bindHandlers(
  {
    ...transferLimitsApi,
    ...transfersApi,
    ...splitTransferApi,
    ...transferChallengeApi,
    ...simulateSepaApi,
    ...transferRefundApi,
  },
  {
    ...ownerLimits.handlers,
    ...transfers.handlers,
    ...{ split: splitTransfer, challenge: createTransferChallenge },
    ...simulateBankNotices.handlers,
    ...bookTransferRefund.handlers,
  },
)

type PaymentRow = Row &
  Pick<Transfer, 'status' | 'reason' | 'payee' | 'payeeCheck'> & {
    readonly id: string
    readonly intentId: string
    readonly amountCents: Transfer['amountCents']
    readonly updatedAt: Date
    readonly payeeConfirmedAt: Date | null
  }

/** A failed payment can be made again, so an intent may have many: the newest are listed. */
const MAX_PAYMENTS = 20

/** The lateral join makes PostgreSQL use the index for each intent, regardless of its statistics. */
const FIND_PAYMENTS = `
select t.* from unnest($3::text[]) as w (id)
cross join lateral (
  select id, intent_id as "intentId", status, amount_cents as "amountCents", reason, payee, payee_check as "payeeCheck",
    payee_confirmed_at as "payeeConfirmedAt", updated_at as "updatedAt"
  from transfers where (owner_id, mode, intent_id) = ($1, $2, w.id) order by id desc limit ${MAX_PAYMENTS}
) t
order by t.id desc`

const paymentsOnIntents: FindIntentPayments = async (intentIds, { ownerId, mode }, sql) => {
  const rows = await sql<PaymentRow>(FIND_PAYMENTS, [ownerId, mode, intentIds])
  return rows.map(row => ({
    intentId: row.intentId,
    type: 'transfer',
    id: row.id,
    status: row.status,
    amountCents: row.amountCents,
    original: null,
    reason: row.reason ?? unconfirmedPayee(row),
    updatedAt: row.updatedAt,
  }))
}

function unconfirmedPayee(row: PaymentRow): IntentPayment['reason'] {
  const { id, status, payee, payeeCheck } = row
  if (!payeeCheck || !awaitsPayeeConfirmation(row)) return null
  const { result, suggestedName } = payeeCheck
  const refusal = result === 'not_possible' ? 'cannot verify the name' : 'does not know the name'
  const answer = suggestedName ? `knows the account as ${suggestedName}` : refusal
  const otherwise = status === 'verifying' ? 'cancel the transfer' : 'have the bank cancel the order'
  return {
    code: result,
    message: `The bank of ${payee?.name} ${answer}: confirm the payee (POST /transfers/${id}/confirm-payee) or ${otherwise}.`,
  }
}

/** How the postings of a transfer are described in a statement: those within the owner by their wallets alone. */
const transferNarratives = describePostings(
  'transfer',
  `select id, payee ->> 'name' as name, payee ->> 'iban' as iban, reference, end_to_end_id as "endToEndId"
from transfers where owner_id = $1 and mode = $2 and id = any($3::text[])`,
  narrativeOfRow,
)

/** Only transfers without an intent have a `token_id`. Rejected, cancelled and returned ones do not count. */
const PAID_BY_TOKENS = `
select token_id as id,
  coalesce(sum(amount_cents) filter (where status in ('created', 'verifying')), 0)::bigint as "heldCents",
  coalesce(sum(amount_cents) filter (where status in ('submitted', 'completed')), 0)::bigint as "spentCents"
from transfers where owner_id = $1 and mode = $2 and token_id = any($3::text[]) group by token_id`

interface TokenPayments extends Row {
  readonly id: string
  readonly heldCents: Cents
  readonly spentCents: Cents
}

const paymentsOfTokens = answerTo(tokenPayments, (ids, { sql, tenant: { ownerId, mode } }) =>
  sql<TokenPayments>(PAID_BY_TOKENS, [ownerId, mode, ids]),
)

export const transfersArea = area(
  'Transfers',
  'Transfers between an owner’s wallets, one to one or one to many, and by SEPA.',
  all,
  {
    aliases: { transfers: 'payments' },
    personal: transfersPersonalData,
    personalAdditions: transfersPersonalAdditions,
    steps: transferSteps,
    entities: [Transfer],
    machines: [transferMachine],
    reactions: { ...cancelUnsubmittedReactions, ...transferRefundReactions },
    findPayments: paymentsOnIntents,
    answers: [transferNarratives, paymentsOfTokens],
    openRecords: [
      {
        process: transferProcess,
        select: openRecordsInRows('transfers'),
      },
    ],
    deadlines: [
      {
        process: transferProcess,
        ...deadlineInRows('transfers', { isFollowed: true }),
        // `cancelUnconfirmed` calls no bank, so it comes before what waits for one.
        activities: ['cancelUnconfirmed', 'verifyPayee', 'submitPayment', 'askRail'],
      },
    ],
  },
)
