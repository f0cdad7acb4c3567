import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { newReference } from '../../money/references/index.ts'
import { isPurse, walletsById } from '../../money/wallets/index.ts'
import { after, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import type { collectApi } from './api.ts'
import { requestEvent } from './events.ts'
import { collectProcess } from './process.ts'
import { PaymentRequest } from './request.ts'
import { requestResponse } from './response.ts'

/** Makes a request with a creditor reference of its own, by which the register leads a SEPA credit to it. */
export const create: HandlerOf<typeof collectApi.create> = async ({ body }, context) => {
  const { records, sql, tenant, actor, now, emit, wake, refuse } = context
  const { walletId, expiresInHours, ...members } = body
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  const isReached = wallet && (!actor.agentId || actor.agentId === wallet.agentId)
  if (!isReached) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  const id = newId('request')
  const expiresAt = after(now, minutes(60 * expiresInHours))
  const request = records.create(PaymentRequest, {
    ...members,
    id,
    walletId,
    agentId: wallet.agentId,
    delegationId: actor.delegationId ?? null,
    reference: await newReference(context, { walletId, payable: { type: 'request', id } }),
    expiresAt,
    dueAt: expiresAt,
    workflowId: workflowIdOf(collectProcess, id),
  })
  emit('claim.request.created', requestEvent(request))
  wake(collectProcess, request)
  return requestResponse(request, context)
}
