import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import type { Person } from '../customers/index.ts'
import { Recovery } from './recovery.ts'

export const personResponse = (person: Person, recovery: Recovery | null) =>
  withMembers(person, {
    recovery: recovery && {
      id: recovery.id,
      status: recovery.status,
      startedAt: recovery.createdAt,
      readyAt: recovery.readyAt,
      expiresAt: recovery.expiresAt,
      workflowId: recovery.workflowId,
    },
  })

export async function peopleResponse(people: readonly Person[], em: EntityReader) {
  const personIds = people.map(({ id }) => id)
  const open = await em.find(Recovery, {
    personId: { $in: personIds },
    status: { $in: ['waiting', 'ready'] },
  })
  const byPerson = new Map(open.map(recovery => [recovery.personId, recovery]))
  return people.map(person => personResponse(person, byPerson.get(person.id) ?? null))
}
