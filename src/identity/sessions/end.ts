import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Condition } from '../../kernel/contract/records.ts'
import { clock } from '../../values/clock.ts'
import { endKeysOf, findKey } from '../keys/index.ts'
import { sessionEvent, type sessionEvents, type sessionsApi } from './api.ts'
import { DeviceSession, sessionMachine, sessionResponses } from './session.ts'

/** Those of the tenant; for a person who is no owner, those that this person has decided about. */
export const visibleTo = ({ actor }: Pick<Context, 'actor'>): Condition<DeviceSession> =>
  actor.type === 'console' && !actor.scopes.has('console:write') ? { personId: String(actor.id) } : {}

type Ending = Pick<Context<never, Pick<typeof sessionEvents, 'session.revoked'>>, 'records' | 'emit'>

/** Ends a session that is locked, with whatever has ended its key; false where it is over already. */
function endSession(session: DeviceSession, { emit }: Pick<Ending, 'emit'>): boolean {
  if (!sessionMachine.move(session, 'revoked')) return false
  session.endedAt = clock.real()
  emit('session.revoked', sessionEvent(session))
  return true
}

export const revoke: HandlerOf<typeof sessionsApi.revoke> = async ({ params }, context) => {
  const { records, actor, refuse } = context
  const visible = await records.findOne(DeviceSession, { $and: [{ id: params.id }, visibleTo(context)] })
  if (!visible) return refuse('session_not_found')
  if (actor.type === 'key' && visible.scopes?.some(scope => !actor.scopes.has(scope)))
    return refuse('scope_not_held')
  // Keys before sessions, as where a key is revoked by itself.
  await endKeysOf(visible.id, context)
  const session = await records.lock(DeviceSession, visible.id)
  if (!session || !endSession(session, context)) return refuse('session_not_open')
  const [response] = await sessionResponses([session], context)
  return response as NonNullable<typeof response>
}

interface EndedKey {
  readonly keyId: string
  readonly sessionId: string | null
}

/** A key that is revoked by itself ends its session. */
export async function onKeyRevoked({ keyId, sessionId }: EndedKey, context: Ending): Promise<void> {
  const session = sessionId && (await context.records.lock(DeviceSession, sessionId))
  if (session && session.keyId === keyId) endSession(session, context)
}

/** The session goes on with the key that has replaced the one before. */
export async function onKeyRotated(
  { keyId, sessionId, replacedById }: EndedKey & { readonly replacedById: string },
  { records }: Pick<Context, 'records'>,
): Promise<void> {
  const session = sessionId && (await records.lock(DeviceSession, sessionId))
  if (session && session.keyId === keyId) session.keyId = replacedById
}

/** Ends a session whose time is over; one whose key was used meanwhile goes on until that ends. */
export const expire: HandlerOf<typeof sessionsApi.expire> = async ({ params }, { records, emit, refuse }) => {
  const session = await records.lock(DeviceSession, params.id)
  if (!session) return refuse('session_not_found')
  const now = clock.real()
  const key = session.keyId ? await findKey(session.keyId, { records }) : null
  if (key?.endsAt && key.endsAt > now) session.endsAt = key.endsAt
  if (session.endsAt > now || !sessionMachine.move(session, 'expired')) return { done: true }
  session.endedAt = now
  emit('session.expired', sessionEvent(session))
  return { done: true }
}
