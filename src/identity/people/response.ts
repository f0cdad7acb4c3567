import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import type { PersonalData } from '../../values/personal.ts'
import type { Person } from '../customers/index.ts'
import { Recovery } from './recovery.ts'

export const peoplePersonalData = {
  people: {
    personal: {
      name: { kind: 'name', ground: 'payments', forget: 'word' },
      email: { kind: 'contact', ground: 'contract', forget: 'null' },
    },
    plain: ['role'],
    keptWhile: { where: 't.joined_at is not null', words: 'the person has joined, and could decide' },
    about: { person: ['id'] },
  },
  person_links: {
    personal: {},
    plain: ['kind', 'recovery_id', 'from_operator'],
    secret: ['hash', 'url'],
  },
  recoveries: {
    personal: {
      stopped_by: { kind: 'name', ground: 'security', forget: { members: '{"id":null,"name":null}' } },
      reason: { kind: 'words', ground: 'security', forget: 'word' },
    },
    plain: [],
    about: { person: ['person_id', "stopped_by ->> 'id'"] },
  },
} as const satisfies PersonalData

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
