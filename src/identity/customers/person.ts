import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { PersonRole } from '../../kernel/contract/scopes.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'

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

export const personEvent = ({ id, name, role, status }: Person) => ({ personId: id, name, role, status })
