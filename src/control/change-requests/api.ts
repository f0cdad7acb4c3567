import { z } from 'zod'
import {
  approverRefusals,
  ChangeRequestEvent,
  ChangeRequestRecord,
  changeRequestMachine,
} from '../../identity/approvals/index.ts'
import { deputiesApi } from '../../identity/deputies/index.ts'
import { widening } from '../../identity/passkeys/index.ts'
import { personEvents } from '../../identity/people/index.ts'
import { ssoApi } from '../../identity/sso/index.ts'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { doneSchema, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { id } from '../../values/ids.ts'
import { freeTextSchema } from '../../values/schemas.ts'
import { policiesApi } from '../policies/index.ts'

const ended = {
  'change_request.ended': declareEvent(
    'A change that waited for several people was carried out, rejected or outdated.',
    ChangeRequestEvent,
  ),
}

const change_request_not_found = notFound('change request')
const change_request_over: RefusalSpec = [400, 'The change is no longer waiting. Make it again.']

const joinUrl = shownOnceSchema(
  'https://pay.example.com/join#lnk_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ',
)

const readers = operationsFor({ callers: ['key'], scope: 'policies:read' })
const approvers = operationsFor({ callers: ['key'], scope: 'intents:approve' })

export const changeRequestsApi = {
  list: readers.list('/change-requests', {
    summary: 'List changes that several people approve',
    description: 'Newest first.',
    readsClock: true,
    filters: {
      status: z.enum([...changeRequestMachine.states, 'expired']).optional(),
      agentId: id('agent').optional(),
    },
    item: ChangeRequestRecord,
  }),
  get: readers.get('/change-requests/{id}', {
    summary: 'Get a change that several people approve',
    readsClock: true,
    returns: [200, ChangeRequestRecord],
    fails: { change_request_not_found },
  }),
  approve: approvers.post('/change-requests/{id}/approve', {
    summary: 'Approve a change',
    description:
      'A person who is asked signs the challenge that the refusal `assertion_required` links to. With the last approval the change is carried out, if what it changes is still as people have signed.',
    body: z.strictObject({
      ...widening.members,
      personId: id('person').optional().meta({
        description: 'With a key: who must sign. Left out: any of those who are asked.',
      }),
    }),
    example: {},
    returns: [
      200,
      ChangeRequestRecord.extend({
        joinUrl: joinUrl.meta({
          description:
            'The link of an invitation that takes effect with this approval, if it is not sent by e-mail. Shown once; null in a replay.',
        }),
      }).meta({ id: 'ApprovedChangeRequest' }),
    ],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...approverRefusals,
      change_request_not_found,
      person_not_found: notFound('person'),
      change_request_over,
      change_request_outdated: [
        409,
        'What it changes is no longer as people have signed. Make the change again.',
      ],
    },
    emits: {
      ...widening.emits,
      ...ended,
      'change_request.approved': declareEvent(
        'A person has approved a change, which waits for others.',
        ChangeRequestEvent,
      ),
      'policy.updated': policiesApi.replace.emits['policy.updated'],
      'policy.assigned': policiesApi.assign.emits['policy.assigned'],
      'policy.applied': policiesApi.apply.emits['policy.applied'],
      'person.invited': personEvents['person.invited'],
      'person.updated': personEvents['person.updated'],
      'person.link_emailed': personEvents['person.link_emailed'],
      'person.deputy_named': deputiesApi.create.emits['person.deputy_named'],
      'sso_provider.updated': ssoApi.update.emits['sso_provider.updated'],
    },
  }),
  reject: approvers.post('/change-requests/{id}/reject', {
    summary: 'Reject a change',
    body: z.strictObject({ reason: freeTextSchema.min(1) }),
    example: { reason: 'The limit is high enough.' },
    returns: [200, ChangeRequestRecord],
    fails: { change_request_not_found, change_request_over },
    emits: ended,
  }),
  expire: internal.post('/change-requests/{id}/expire', {
    summary: 'Forget what an expired change would have written',
    returns: [200, doneSchema],
    fails: { change_request_not_found },
  }),
}
