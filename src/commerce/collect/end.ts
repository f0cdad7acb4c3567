import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { reaches } from '../../kernel/database/entity.ts'
import type { collectApi } from './api.ts'
import { requestEvent, type requestEvents } from './events.ts'
import { refusalOfNotOpen } from './not-open.ts'
import { type LockedRequest, lockRequest, waitOn, writeRequests } from './payments.ts'
import { collectProcess } from './process.ts'
import { requestMachine } from './request.ts'
import { requestResponse } from './response.ts'

/** Ends an open request that nobody is paying just now. */
export function cancelRequest(
  { request }: LockedRequest,
  comment: string | null,
  {
    now,
    emit,
    wake,
  }: Pick<Context<never, Pick<typeof requestEvents, 'claim.request.cancelled'>>, 'now' | 'emit' | 'wake'>,
): void {
  if (!requestMachine.move(request, 'cancelled')) return
  Object.assign(request, { comment, dueAt: null, updatedAt: now })
  emit('claim.request.cancelled', requestEvent(request))
  wake(collectProcess, request)
}

/** A request whose deadline has passed expires in place of being cancelled. */
export const cancel: HandlerOf<typeof collectApi.cancel> = async ({ params, body }, context) => {
  const { sql, tenant, actor, sendAlong, refuse } = context
  const locked = await lockRequest(params.id, context)
  if (!locked || !reaches(actor, locked.request)) return refuse('request_not_found')
  const refusal = refusalOfNotOpen(locked, context)
  if (refusal) return refusal
  cancelRequest(locked, body.comment, context)
  sendAlong(writeRequests(sql, tenant, [locked]))
  return requestResponse(locked.request, context)
}

/** Ends what is overdue. A payment that is under way is waited for: its end lets the request expire. */
export const expire: HandlerOf<typeof collectApi.expire> = async ({ params }, context) => {
  const { sql, tenant, now, refuse } = context
  const locked = await lockRequest(params.id, context)
  if (!locked) return refuse('request_not_found')
  if (locked.request.expiresAt <= now) waitOn(locked, context)
  await writeRequests(sql, tenant, [locked])
  return { done: true }
}
