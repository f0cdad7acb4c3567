import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { payWithCredit, simulateCredit } from '../../money/incoming/index.ts'
import { BETWEEN_OWNERS, openBook } from '../../money/ledger/index.ts'
import { walletsById } from '../../money/wallets/index.ts'
import type { settleApi } from './api.ts'
import { addPayment, type LockedRequest, lockRequest, refusalOfNotOpen, writeRequests } from './payments.ts'
import { dueEuros, PaymentRequest } from './request.ts'
import { requestResponse } from './request-rows.ts'

type Settling = ContextOf<typeof settleApi.settle>

/** The payer of the sandbox bank. */
const SANDBOX_PAYER = { senderName: 'Sandbox Payer', senderIban: 'DE02120300000000202051' }

/** Settles by a credit that has come without the reference; in test mode, where none is named, the sandbox bank pays. */
export const settle: HandlerOf<typeof settleApi.settle> = async ({ params, body }, context) => {
  const { records, tenant, refuse } = context
  const request = await records.findOne(PaymentRequest, { id: params.id })
  if (!request) return refuse('request_not_found')
  if (body.creditId !== undefined) return settleByCredit(request.id, body.creditId, context)
  return tenant.mode === 'test' ? paySandbox(request, context) : refuse('credit_required')
}

async function settleByCredit(id: string, creditId: string, context: Settling) {
  const { sql, tenant, sendAlong, refuse } = context
  const locked = await lockKnown(id, context)
  const refusal = refusalOfNotOpen(locked, context)
  if (refusal) return refusal
  const { request } = locked
  const payable = { type: 'request', id } as const
  const credit = await payWithCredit(creditId, { walletId: request.walletId, payable }, context)
  if (typeof credit === 'string') return refuse(credit)
  addPayment(locked, { way: 'sepa', amountEuros: credit.amountEuros, sourceId: credit.id }, context)
  sendAlong(writeRequests(sql, tenant, [locked]))
  return requestResponse(request, context)
}

/** Lets what is due come in as any credit does: the request is paid by the reaction to it. */
async function paySandbox({ id, walletId }: PaymentRequest, context: Settling) {
  const { sql, tenant } = context
  const [, wallets, locked] = await Promise.all([
    openBook(sql, context, { wallets: [walletId], ...BETWEEN_OWNERS }),
    walletsById(sql, tenant, [walletId]),
    lockKnown(id, context),
  ])
  const refusal = refusalOfNotOpen(locked, context)
  if (refusal) return refusal
  const { request } = locked
  const iban = wallets.get(walletId)?.iban ?? null
  const sent = { ...SANDBOX_PAYER, iban, reference: request.reference, endToEndId: null }
  await simulateCredit({ ...sent, amountEuros: dueEuros(request) }, context)
  await context.react()
  return requestResponse((await lockKnown(id, context)).request, context)
}

async function lockKnown(id: string, context: Settling): Promise<LockedRequest> {
  const locked = await lockRequest(id, context)
  if (!locked) throw new Error(`${id}: a request that has gone`)
  return locked
}
