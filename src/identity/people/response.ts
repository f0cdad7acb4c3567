import type { Records } from '../../kernel/contract/records.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import type { Person } from './person.ts'
import { Recovery } from './recovery.ts'

/** A person as the API shows one: with the recovery that is under way. */
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

/** The people as the API shows them, with one statement for the recoveries of all. */
export async function peopleResponse(people: readonly Person[], records: Records) {
  const personIds = people.map(({ id }) => id)
  const open = await records.find(Recovery, {
    personId: { $in: personIds },
    status: { $in: ['waiting', 'ready'] },
  })
  const byPerson = new Map(open.map(recovery => [recovery.personId, recovery]))
  return people.map(person => personResponse(person, byPerson.get(person.id) ?? null))
}

export const personEvent = ({ id, name, role, status }: Person) => ({ personId: id, name, role, status })
