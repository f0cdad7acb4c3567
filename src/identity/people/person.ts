import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { oneOf, type RecordReader } from '../../kernel/contract/records.ts'
import type { PersonRole } from '../../kernel/contract/scopes.ts'
import { nullable, recordColumns, tenantTable, withMembers } from '../../kernel/database/entity.ts'
import type { PersonalData } from '../../values/personal.ts'
import { Recovery } from './recovery.ts'

export const personMachine = stateMachine('person', {
  invited: ['active', 'removed'],
  active: ['removed'],
  removed: [],
})

export const personRoles = ['owner', 'approver', 'viewer'] as const satisfies readonly PersonRole[]

export const MAX_PEOPLE = 200

const schema = defineEntity({
  ...tenantTable('Person', 'people'),
  properties: {
    ...recordColumns('person'),
    name: p.text(),
    /** Links are sent here. Erased when the person is removed; the name stays with their decisions. */
    email: nullable.string(),
    role: p.enum(personRoles),
    status: p.enum(personMachine.states).onCreate(() => personMachine.initial),
    joinedAt: nullable.instant(),
    removedAt: nullable.instant(),
  },
})

export class Person extends schema.class {}
schema.setClass(Person)

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
    secret: ['hash'],
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

export async function peopleResponse(people: readonly Person[], records: RecordReader) {
  const personIds = people.map(({ id }) => id)
  const open = await records.find(Recovery, {
    personId: oneOf(personIds),
    status: oneOf(['waiting', 'ready']),
  })
  const byPerson = new Map(open.map(recovery => [recovery.personId, recovery]))
  return people.map(person => personResponse(person, byPerson.get(person.id) ?? null))
}

export const personEvent = ({ id, name, role, status }: Person) => ({ personId: id, name, role, status })
