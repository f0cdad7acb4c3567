import type { Context } from '../../kernel/contract/context.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { Person } from '../people/index.ts'
import { type ConsoleSession, standingOf } from './session.ts'

type ResponseContext = Pick<Context, 'records' | 'actor'>

/** A session as the API shows it, with its person and how it stands. */
export const sessionResponse = (
  session: ConsoleSession,
  { name, role }: Pick<Person, 'name' | 'role'>,
  currentId: string | undefined,
) =>
  withMembers(session, {
    ...standingOf(session, clock.real()),
    personName: name,
    role,
    isCurrent: session.id === currentId,
  })

/** Sessions as the API shows them, with one statement for the people of all. */
export async function sessionResponses(
  sessions: readonly ConsoleSession[],
  { records, actor }: ResponseContext,
) {
  const people = await records.find(Person, { id: { $in: sessions.map(({ personId }) => personId) } })
  const byId = new Map(people.map(person => [person.id, person]))
  return sessions.map(session =>
    sessionResponse(session, byId.get(session.personId) as Person, actor.sessionId),
  )
}

export const sessionEvent = ({ id, personId, passkeyId }: ConsoleSession) => ({
  sessionId: id,
  personId,
  passkeyId,
})
