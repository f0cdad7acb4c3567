import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import { Person, personMachine } from '../customers/index.ts'
import { peopleApi, recoveryApi, recoverySteps } from './api.ts'
import { removePerson, updatePerson } from './change.ts'
import { createPersonLink, invitePerson } from './invite.ts'
import { PersonLink } from './link.ts'
import { recoveryProcess } from './process.ts'
import { cancelRecovery, startPersonRecovery, stopRecovery } from './recover.ts'
import { findOpenRecovery } from './recoveries.ts'
import { OPEN_RECOVERY_SQL, Recovery, recoveryMachine } from './recovery.ts'
import { peopleResponse, personResponse } from './response.ts'
import { personEvents } from './schemas.ts'

export const findPerson = (id: string, { em }: ReadContext): Promise<Person | null> =>
  em.findOne(Person, { id })

const people = bindHandlers(
  { ...peopleApi, ...recoveryApi },
  {
    create: invitePerson,
    update: updatePerson,
    remove: removePerson,
    link: createPersonLink,
    recover: startPersonRecovery,
    stopRecovery,
    cancelRecovery,

    async list({ query: { status, role } }, { page, em }) {
      const { data, ...rest } = await page(Person, definedOnly({ status, role }))
      return { ...rest, data: await peopleResponse(data, em) }
    },

    async get({ params }, context) {
      const person = await findPerson(params.id, context)
      if (!person) return context.refuse('person_not_found')
      return personResponse(person, await findOpenRecovery(person.id, context))
    },
  },
)

export const peopleArea = area(
  'People',
  'People who sign in for an account: invitations, roles and recovery.',
  people,
  {
    steps: recoverySteps,
    entities: [Person, PersonLink, Recovery],
    machines: [personMachine, recoveryMachine],
    announces: personEvents,
    // Used and expired links are kept for a month, so that opening one shows a clear error.
    expiring: [{ table: 'person_links', column: 'expires_at', keptMs: days(30) }],
    deadlines: [
      {
        process: recoveryProcess,
        table: 'recoveries',
        open: OPEN_RECOVERY_SQL,
        waits: 'true',
        activities: ['advanceRecovery'],
      },
    ],
    openRecords: [
      {
        process: recoveryProcess,
        select: `select id, owner_id, mode, null::text as agent_id, person_id as about from recoveries where ${OPEN_RECOVERY_SQL}`,
      },
    ],
  },
)
