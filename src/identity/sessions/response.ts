import type { Context } from '../../kernel/contract/context.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { findKeys, type Key } from '../keys/index.ts'
import type { SessionRow } from './find.ts'
import { sessionMachine } from './session.ts'

type KeyTimes = Pick<Key, 'endsAt' | 'lastUsedAt'>

/** A session as the API shows it, with what its key says of its time. */
export function sessionResponse(session: SessionRow, key: KeyTimes | null) {
  const isOver = sessionMachine.isFinal(session.status)
  const endsAt = isOver ? session.endedAt : key?.endsAt
  return withMembers(session, { endsAt: endsAt ?? session.endsAt, lastUsedAt: key?.lastUsedAt ?? null })
}

/** Sessions as the API shows them, with one statement for the keys of all. */
export async function sessionResponses(sessions: readonly SessionRow[], context: Pick<Context, 'records'>) {
  const keys = await findKeys(
    sessions.flatMap(({ keyId }) => keyId ?? []),
    context,
  )
  const byId = new Map(keys.map(key => [key.id, key]))
  return sessions.map(session => sessionResponse(session, byId.get(session.keyId ?? '') ?? null))
}
