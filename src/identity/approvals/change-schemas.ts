import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { changeRequestMachine, heldOperations } from './change-request.ts'
import { ApprovalProgressRecord } from './response.ts'

const subjects = {
  policyId: id('policy').nullable(),
  agentId: id('agent').nullable(),
  personId: id('person')
    .nullable()
    .meta({ description: 'Who may approve then, or gets a deputy or a link.' }),
}

const operation = z.enum(heldOperations).meta({ description: 'The operation that is carried out.' })

export const ChangeRequestRecord = z
  .object({
    ...recordHead('changerequest'),
    status: z.enum([...changeRequestMachine.states, 'expired']).meta({
      description:
        '`outdated`: what it changes was no longer as people had signed. `expired`: too few approved within three days.',
    }),
    operation,
    ...subjects,
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
  .meta({ id: 'ChangeRequest' })

export const ChangeRequestEvent = z.object({
  changeRequestId: id('changerequest'),
  ...subjects,
  operation,
  status: z.enum(changeRequestMachine.states),
  given: z.int().meta({ description: 'How many approvals were given.' }),
  needed: z.int().meta({ description: 'How many are needed.' }),
})

/** What an operation adds to its contract whose change several people may have to approve: then it is answered 202. */
export const bySeveral = {
  accepted: ChangeRequestRecord,
  fails: {
    too_many_changes: [
      400,
      'Five changes of one proposer wait already, or ten of all keys. Approve or reject some first: GET /change-requests.',
    ],
    too_few_approvers: [400, 'More people must approve this than can.'],
  },
  emits: {
    'change_request.created': declareEvent(
      'A change waits for several people, as a policy with steps asks.',
      ChangeRequestEvent,
    ),
  },
} as const satisfies { readonly fails: Record<string, RefusalSpec> } & Record<string, unknown>
