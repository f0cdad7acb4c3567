import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { MAX_PEOPLE, personMachine, personRoles } from '../customers/index.ts'
import { passkeyEvents } from '../passkeys/index.ts'
import { recoveryMachine } from './recovery.ts'

export const personRoleSchema = z.enum(personRoles).meta({
  description:
    '`owner` may do everything, `approver` reads and approves, `viewer` reads. See /docs for what each may do.',
})
export const personStatusSchema = z.enum(personMachine.states).meta({
  description: '`invited` until the person opens the link; a `removed` person has no access.',
})

const RecoveryRecord = z.object({
  id: id('recovery'),
  status: z.enum(recoveryMachine.states).meta({
    description: '`waiting` for 24 hours; `ready` once the operator can make a link.',
  }),
  startedAt: instant,
  readyAt: instant.meta({ description: 'The time until which the recovery can only be stopped.' }),
  expiresAt: instant.meta({ description: 'The time at which the recovery expires.' }),
  workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
})

export const PersonRecord = z
  .object({
    ...recordHead('person'),
    name: z.string(),
    email: z.string().nullable().meta({ description: 'Null if unknown, and once the person is removed.' }),
    role: personRoleSchema,
    status: personStatusSchema,
    joinedAt: instant.nullable(),
    removedAt: instant.nullable(),
    recovery: RecoveryRecord.nullable().meta({
      description:
        'The current recovery, which any key or person of the account can stop: `DELETE /people/{id}/recovery`.',
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'Person' })

/** Contains no email address, since events leave the service and the name is enough for people. */
const PersonEvent = z.object({
  personId: id('person'),
  name: z.string().max(200),
  role: z.enum(personRoles),
  status: z.enum(personMachine.states),
})

const RecoveryEvent = PersonEvent.extend({ recoveryId: id('recovery'), readyAt: instant })

export const personEvents = {
  'person.invited': declareEvent('A person was invited.', PersonEvent),
  'person.joined': declareEvent('A person has opened the link of the invitation.', PersonEvent),
  'person.updated': declareEvent(
    'The name, email or role of a person has changed, or there is a new link, or a recovery has progressed.',
    PersonEvent.extend({
      changed: z.array(z.string().max(20)).max(10).meta({
        description: 'The changed fields; `link`: there is a new one; `recovery`: it has progressed.',
      }),
    }),
  ),
  'person.removed': declareEvent(
    'A person has been removed: the passkeys, sessions and links of that person have ended.',
    PersonEvent,
  ),
  'person.link_emailed': declareEvent(
    'A link was sent to the email address on record of a person.',
    PersonEvent.extend({ linkId: id('consolelink') }),
  ),
  'person.recovery_started': declareEvent(
    'The operator started the recovery of a person without a passkey. Until `readyAt` anyone of the account can stop it.',
    RecoveryEvent,
  ),
  'person.recovery_stopped': declareEvent(
    'A recovery was stopped, or has expired.',
    RecoveryEvent.extend({ reason: z.enum(['stopped', 'expired', 'removed']) }),
  ),
}

export const personRefusals = {
  person_not_found: notFound('person'),
  email_taken: [
    400,
    'email: another person has it. Change that one with PATCH /people/{id}, or use another email.',
  ],
  too_many_people: [400, `There are already ${MAX_PEOPLE} people. Remove one first.`],
  last_owner: [
    400,
    'The account would have no owner who can approve. Make another person with a passkey an owner first.',
  ],
} as const satisfies Record<string, RefusalSpec>

export const newLinkRemedy = 'Run agentpay login in the sandbox, or ask an owner.'

export const personLinkRefusals = {
  link_unknown: [404, `This link is unknown, or its person was removed. ${newLinkRemedy}`],
  link_used: [410, `The link was already used. ${newLinkRemedy}`],
  link_expired: [410, `The link has expired, or was replaced by a newer one. ${newLinkRemedy}`],
} as const satisfies Record<string, RefusalSpec>

/** Events of opening a link. A recovery's link revokes the passkeys that the person lost. */
export const personLinkEvents = {
  'person.joined': personEvents['person.joined'],
  'person.updated': personEvents['person.updated'],
  'passkey.revoked': passkeyEvents['passkey.revoked'],
}
