import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { get, list, notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { freeTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { ApprovalProgressRecord, approverRefusals } from '../approvals/index.ts'
import { policyChangeMachine } from './policy-change.ts'
import { PolicyEvent } from './schemas.ts'

const operations = ['policies.replace', 'policies.apply', 'policies.assign', 'policies.toggle'] as const

export const PolicyChangeRecord = z
  .object({
    ...recordHead('policychange'),
    status: z.enum([...policyChangeMachine.states, 'expired']).meta({
      description:
        '`outdated`: the policy was no longer as people had signed. `expired`: too few approved within three days.',
    }),
    operation: z.enum(operations).meta({ description: 'The operation that is carried out.' }),
    policyId: id('policy').nullable(),
    agentId: id('agent').nullable(),
    changes: z
      .array(
        z.object({
          of: z.string().meta({ examples: ['agent'] }),
          id: z.string().meta({ examples: ['agent_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
          name: z.string().nullable(),
          field: z.string().meta({ examples: ['Daily limit'] }),
          from: z.string().meta({ examples: ['€ 50.00'] }),
          to: z.string().meta({ examples: ['€ 70.00'] }),
        }),
      )
      .meta({ description: 'People sign exactly this.' }),
    approval: ApprovalProgressRecord,
    proposedBy: z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
    reason: z.string().nullable().meta({ description: 'Why it was rejected, or could not be carried out.' }),
    expiresAt: instant,
    ...recordTimestamps,
  })
  .meta({ id: 'PolicyChange' })

const PolicyChangeEvent = z.object({
  changeId: id('policychange'),
  policyId: id('policy').nullable(),
  agentId: id('agent').nullable(),
  operation: z.enum(operations),
  status: z.enum(policyChangeMachine.states),
  given: z.int().meta({ description: 'How many approvals were given.' }),
  needed: z.int().meta({ description: 'How many are needed.' }),
})

/** What an operation adds to its contract whose change may need several people. */
export const proposing = {
  accepted: PolicyChangeRecord,
  fails: {
    too_many_changes: [
      400,
      'Twenty changes wait already. Approve or reject some first: GET /policies/changes.',
    ],
  },
  emits: {
    'policy.change_proposed': declareEvent(
      'A change of a policy with steps waits for several people.',
      PolicyChangeEvent,
    ),
  },
} as const satisfies { readonly fails: Record<string, RefusalSpec> } & Record<string, unknown>

const ended = {
  'policy.change_ended': declareEvent(
    'A change of a policy that waited was carried out, rejected or outdated.',
    PolicyChangeEvent,
  ),
}

const policy_change_not_found = notFound('policy change')
const policy_change_over: RefusalSpec = [400, 'The change is no longer waiting. Make it again.']

export const policyChangesApi = {
  changes: list('/policies/changes', {
    summary: 'List changes of policies that several people approve',
    description: 'Newest first.',
    callers: ['key'],
    scope: 'policies:read',
    readsClock: true,
    filters: {
      status: z.enum(policyChangeMachine.states).optional(),
      agentId: id('agent').optional(),
    },
    item: PolicyChangeRecord,
  }),
  change: get('/policies/changes/{id}', {
    summary: 'Get a change of a policy that several people approve',
    callers: ['key'],
    scope: 'policies:read',
    readsClock: true,
    returns: [200, PolicyChangeRecord],
    fails: { policy_change_not_found },
  }),
  approveChange: post('/policies/changes/{id}/approve', {
    summary: 'Approve a change of a policy',
    description:
      'A person who is asked signs the `challenge` of the refusal `assertion_required`. With the last approval the change is carried out, if the policy is still as people have signed.',
    callers: ['key'],
    scope: 'intents:approve',
    body: z.strictObject({
      ...widening.members,
      personId: id('person').optional().meta({
        description: 'With a key: who must sign. Left out: any of those who are asked.',
      }),
    }),
    example: {},
    returns: [200, PolicyChangeRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...approverRefusals,
      policy_change_not_found,
      person_not_found: notFound('person'),
      policy_change_over,
      policy_change_outdated: [409, 'The policy or agent has changed since. Make the change again.'],
    },
    emits: {
      ...widening.emits,
      ...ended,
      'policy.change_approved': declareEvent(
        'A person has approved a change of a policy, which waits for others.',
        PolicyChangeEvent,
      ),
      'policy.updated': PolicyEvent,
      'policy.assigned': PolicyEvent,
      'policy.applied': PolicyEvent,
    },
  }),
  rejectChange: post('/policies/changes/{id}/reject', {
    summary: 'Reject a change of a policy',
    callers: ['key'],
    scope: 'intents:approve',
    body: z.strictObject({ reason: freeTextSchema.min(1) }),
    example: { reason: 'The limit is high enough.' },
    returns: [200, PolicyChangeRecord],
    fails: { policy_change_not_found, policy_change_over },
    emits: ended,
  }),
}
