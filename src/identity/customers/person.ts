import { defineEntity, p } from '@mikro-orm/core'
import type { SqlContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { PersonRole } from '../../kernel/contract/scopes.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'

export const personMachine = stateMachine('person', {
  invited: ['active', 'removed'],
  active: ['removed'],
  removed: [],
})

export const personRoles = ['owner', 'approver', 'viewer'] as const satisfies readonly PersonRole[]

export const MAX_PEOPLE = 200

const schema = defineEntity({
  ...tenantTable('Person', 'people'),
  ...personalTable({
    about: { person: ['id'] },
    keptWhile: { where: 't.joined_at is not null', words: 'the person has joined, and could decide' },
  }),
  properties: {
    ...recordColumns('person'),
    name: personal(p.text(), 'name', 'payments', 'word'),
    /** Links are sent here. Erased when the person is removed; the name stays with their decisions. */
    email: personal(nullable.string(), 'contact', 'contract', 'null'),
    /** Null if it is the one that the person was invited with. */
    emailChangedAt: nullable.instant(),
    role: plain(p.enum(personRoles)),
    status: p.enum(personMachine.states).onCreate(() => personMachine.initial),
    joinedAt: nullable.instant(),
    removedAt: nullable.instant(),
  },
})

export class Person extends schema.class {}
schema.setClass(Person)

export const personEvent = ({ id, name, role, status }: Person) => ({ personId: id, name, role, status })

interface ReachedPerson extends Row, Pick<Person, 'id' | 'name' | 'email' | 'role' | 'status'> {}

const REACHED = 'select id, name, email, role, status from people where (owner_id, mode) = ($1, $2)'

/** Undefined for a removed person. */
export async function readPerson(
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<ReachedPerson | undefined> {
  const text = `${REACHED} and id = $3 and status <> 'removed'`
  return (await sql<ReachedPerson>(text, [ownerId, mode, id]))[0]
}

export const readActivePeople = ({ sql, tenant: { ownerId, mode } }: SqlContext): Promise<ReachedPerson[]> =>
  sql<ReachedPerson>(`${REACHED} and status = 'active'`, [ownerId, mode])
