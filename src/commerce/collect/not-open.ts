import type { Context } from '../../kernel/contract/context.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { paymentEvents } from './events.ts'
import { type LockedRequest, paymentUnderWay, waitOn, writeRequests } from './payments.ts'
import type { openFails } from './schemas.ts'

type Asking = Pick<
  Context<keyof typeof openFails, Pick<typeof paymentEvents, 'claim.request.expired'>>,
  'sql' | 'tenant' | 'now' | 'emit' | 'wake' | 'sendAlong' | 'refuse'
>

/**
 * The refusal of what needs an open request that nobody is paying just now; undefined where it is one. A request that is
 * overdue expires here.
 */
export function refusalOfNotOpen(locked: LockedRequest, context: Asking): Refusal | undefined {
  const { sql, tenant, sendAlong, refuse } = context
  if (paymentUnderWay(locked)) return refuse('payment_under_way')
  waitOn(locked, context)
  if (locked.request.status === 'open') return undefined
  sendAlong(writeRequests(sql, tenant, [locked]))
  return refuse('request_not_open', `The request is ${locked.request.status} already.`)
}
