import { z } from 'zod'
import { internal, operationsFor, operator } from '../../kernel/contract/callers.ts'
import { del, doneSchema, notFound } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { emailSchema, freeTextSchema, labelSchema } from '../../values/schemas.ts'
import { bySeveral } from '../approvals/index.ts'
import {
  assertionEvents,
  assertionRefusals,
  passkeyEvents,
  scopeNotHeldRefusal,
  webauthnAssertionSchema,
} from '../passkeys/index.ts'
import { personLinkKinds } from './link.ts'
import { linkEmailRefusals } from './link-email.ts'
import {
  PersonRecord,
  personEvents,
  personRefusals,
  personRoleSchema,
  personStatusSchema,
} from './schemas.ts'

const readers = operationsFor({ callers: ['key'], scope: 'people:read' })
const writers = operationsFor({ callers: ['key'], scope: 'people:write' })

const url = shownOnceSchema('https://pay.example.com/join#lnk_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ')

const CreatedPerson = PersonRecord.extend({
  joinUrl: url,
  joinUrlExpiresAt: instant.meta({ description: 'The link expires after seven days.' }),
}).meta({ id: 'CreatedPerson' })

const Link = z
  .object({
    id: id('consolelink'),
    personId: id('person'),
    kind: z.enum(personLinkKinds),
    url,
    expiresAt: instant,
  })
  .meta({ id: 'PersonLink' })

/** Once the account has had a passkey, a key alone cannot invite, since its holder could create an approver. */
const consent = webauthnAssertionSchema.optional().meta({
  description:
    'An owner’s consent to exactly this (`POST /passkeys/challenge`, purpose `invitation`). Required once the account has had a passkey.',
})

const invitation = (subject: Readonly<Record<string, string>>) => ({
  challenge: '/passkeys/challenge',
  asks: { purpose: 'invitation', subject },
})

const send = z.enum(['email']).optional().meta({
  description:
    'Also sends the link to the email address of the person’s record, if it has been there for 24 hours before this was asked for. The address in an invitation counts at once.',
})

const { person_not_found, email_taken, too_many_people, last_owner } = personRefusals

export const peopleApi = {
  create: writers.post('/people', {
    summary: 'Invite a person',
    description:
      'Give the person `joinUrl`, which is in this response only and works once, within seven days: the person who opens it joins and enrols the first passkey. The token is after the `#`, so no log and no mail scanner uses it up.',
    signature: invitation({ name: '$name', email: '$email', role: '$role' }),
    body: z.strictObject({
      name: labelSchema.meta({ examples: ['Grace Hopper'] }),
      email: emailSchema.nullable().default(null).meta({
        description:
          'The link is sent to it only with `send`. A person whom your identity provider signs in with it may join without the link.',
      }),
      role: personRoleSchema,
      send,
      webauthnAssertion: consent,
    }),
    example: { name: 'Grace Hopper', email: 'grace@example.com', role: 'approver' },
    returns: [201, CreatedPerson],
    accepted: bySeveral.accepted,
    fails: {
      ...assertionRefusals,
      ...bySeveral.fails,
      ...linkEmailRefusals,
      email_taken,
      too_many_people,
      scope_not_held: scopeNotHeldRefusal,
    },
    emits: {
      ...assertionEvents,
      ...bySeveral.emits,
      'person.invited': personEvents['person.invited'],
      'person.link_emailed': personEvents['person.link_emailed'],
    },
  }),
  list: readers.list('/people', {
    summary: 'List people',
    description: 'Newest first, including removed ones.',
    filters: { status: personStatusSchema.optional(), role: personRoleSchema.optional() },
    item: PersonRecord,
  }),
  get: readers.getOne('/people/{id}', 'a person', PersonRecord, { person_not_found }),
  update: writers.patch('/people/{id}', {
    summary: 'Change the name, email or role of a person',
    description:
      'A new role applies at once, also in open sessions. With a key, or if it has more rights than the old one, it requires an owner’s assertion once the account has had a passkey. The last owner with a passkey must stay one. A new email ends an open invitation: create a new link.',
    signature: invitation({ personId: '$id', role: '$role' }),
    body: z
      .strictObject({
        name: labelSchema,
        email: emailSchema.nullable(),
        role: personRoleSchema,
        webauthnAssertion: webauthnAssertionSchema,
      })
      .partial(),
    example: { name: 'Grace Brewster Hopper' },
    returns: [200, PersonRecord],
    accepted: bySeveral.accepted,
    fails: {
      ...assertionRefusals,
      ...bySeveral.fails,
      person_not_found,
      email_taken,
      last_owner,
      scope_not_held: scopeNotHeldRefusal,
    },
    emits: { ...assertionEvents, ...bySeveral.emits, 'person.updated': personEvents['person.updated'] },
  }),
  remove: writers.del('/people/{id}', {
    summary: 'Remove a person',
    description:
      'The person’s sessions, passkeys, links and recovery end at once. The email is erased; the name stays with the person’s decisions.',
    returns: [200, PersonRecord],
    fails: { person_not_found, last_owner },
    emits: {
      'person.removed': personEvents['person.removed'],
      'passkey.revoked': passkeyEvents['passkey.revoked'],
      'person.recovery_stopped': personEvents['person.recovery_stopped'],
    },
  }),
  link: writers.post('/people/{id}/link', {
    summary: 'Create a new link for a person',
    description:
      'The new link replaces an earlier one, is in this response only, and works once, within seven days. For a recovery that is `ready`, the operator creates the link, which works for a day.',
    callers: ['key', 'dash'],
    signature: invitation({ personId: '$id' }),
    body: z.strictObject({ send, webauthnAssertion: consent }),
    example: {},
    returns: [201, Link],
    accepted: bySeveral.accepted,
    fails: {
      ...assertionRefusals,
      ...bySeveral.fails,
      ...linkEmailRefusals,
      scope_not_held: scopeNotHeldRefusal,
      person_not_found,
      recovery_not_ready: [
        400,
        'No recovery of this person is ready. Start one with POST /people/{id}/recover, and wait for 24 hours.',
      ],
    },
    emits: {
      ...assertionEvents,
      ...bySeveral.emits,
      'person.updated': personEvents['person.updated'],
      'person.link_emailed': personEvents['person.link_emailed'],
    },
  }),
}

const recovery_not_found = notFound('recovery')

const ends = {
  'person.recovery_stopped': personEvents['person.recovery_stopped'],
  'person.updated': personEvents['person.updated'],
}

export const recoveryApi = {
  recover: operator.post('/people/{id}/recover', {
    summary: 'Start the recovery of a person without a passkey',
    description:
      'For 24 hours, the account is only notified: by `person.recovery_started`, by push, and in `GET /people`. Any key or person of the account can stop the recovery. After that, `POST /people/{id}/link` gives the operator a link, for seven days. Verify the person’s identity before you start it.',
    returns: [201, PersonRecord],
    fails: {
      person_not_found,
      recovery_under_way: [400, 'A recovery of this person is already in progress. See GET /people/{id}.'],
    },
    emits: { 'person.recovery_started': personEvents['person.recovery_started'] },
  }),
  stopRecovery: del('/people/{id}/recovery', {
    summary: 'Stop the recovery of a person',
    description:
      'Any key or person of the account can do this, with any scope or role, so that everyone can stop an unexpected recovery. An operator’s link stops working.',
    callers: ['key'],
    returns: [200, PersonRecord],
    fails: {
      person_not_found,
      recovery_not_found: [404, 'No recovery of this person is in progress.'],
    },
    emits: ends,
  }),
  cancelRecovery: internal.post('/recoveries/{id}/cancel', {
    summary: 'Stop a recovery by its ID',
    body: z.strictObject({ comment: freeTextSchema.optional() }),
    returns: [200, doneSchema],
    fails: { recovery_not_found, recovery_ended: [400, 'The recovery has already ended.'] },
    emits: ends,
  }),
}

export const recoverySteps = {
  /** Does nothing before the tenant's clock reaches the due time. */
  advance: step('people.advanceRecovery', { summary: 'Make a recovery ready, or expire it', emits: ends }),
}
