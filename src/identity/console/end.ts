import type { Context } from '../../kernel/contract/context.ts'
import type { Condition } from '../../kernel/contract/records.ts'
import { clock } from '../../values/clock.ts'
import { sessionEvent } from './response.ts'
import type { consoleEvents } from './schemas.ts'
import { ConsoleSession, type Ending } from './session.ts'

type EndContext = Pick<Context<never, Pick<typeof consoleEvents, 'console.signed_out'>>, 'records' | 'emit'>

/** Ends a session that is locked and has not ended. */
export function endSession(
  session: ConsoleSession,
  because: Ending,
  { emit }: Pick<EndContext, 'emit'>,
): void {
  Object.assign(session, { revokedAt: clock.real(), revokedBecause: because })
  emit('console.signed_out', { ...sessionEvent(session), because })
}

/** Ends the matching sessions that have not ended. */
export async function endSessions(
  condition: Condition<ConsoleSession>,
  because: Ending,
  { records, emit }: EndContext,
): Promise<void> {
  const open = { revokedAt: null, expiresAt: { $gt: clock.real() } }
  const sessions = await records.find(
    ConsoleSession,
    { $and: [condition, open] },
    { orderBy: { id: 'asc' }, lock: true },
  )
  for (const session of sessions) endSession(session, because, { emit })
}
