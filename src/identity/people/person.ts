import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import type { Role } from '../../kernel/contract/scopes.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

export const personMachine = machine('person', {
  invited: ['active', 'removed'],
  active: ['removed'],
  removed: [],
})

export const roles = ['owner', 'approver', 'viewer'] as const satisfies readonly Role[]

/** The most people of a tenant who are not removed: whoever approves knows the others. */
export const MAX_PEOPLE = 200

const schema = defineEntity({
  ...tenantTable('Person', 'people'),
  properties: {
    ...record('person'),
    name: p.text(),
    /** Where a link can be sent to. It is forgotten when the person is removed; the name stays beside what they decided. */
    email: nullable.string(),
    role: p.enum(roles),
    status: p.enum(personMachine.states).onCreate(() => personMachine.initial),
    joinedAt: nullable.instant(),
    removedAt: nullable.instant(),
  },
})

/** A person who may sign in for the tenant, by the rights of a role. */
export class Person extends schema.class {}
schema.setClass(Person)
