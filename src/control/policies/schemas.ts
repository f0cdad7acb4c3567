import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { expirationActions, PolicyCreate, policyRuleFields, policyRuleNames } from '../rules/index.ts'

const {
  approval,
  allowedMccs,
  blockedMccs,
  attestationWindowMinutes,
  conversionMarginPercent,
  mppMethods,
  ...contractRules
} = policyRuleFields

const agentId = id('agent')

export const PolicyRecord = z
  .object({
    id: id('policy'),
    agentId: agentId.optional().meta({ description: 'Missing in a template, which belongs to no agent.' }),
    ownerId: id('customer'),
    ...contractRules,
    updatedAt: instant,
  })
  .meta({ id: 'Policy' })

/** The record with all members that can be read, so that a caller can write back what it has read without loss. */
export const PolicyDetail = z
  .object({
    ...recordHead('policy'),
    agentId: agentId
      .nullable()
      .meta({ description: 'The agent whose own policy this is; null for a template.' }),
    templateId: id('policy').nullable().meta({ description: 'The template that the policy is a copy of.' }),
    version: z.int().min(1),
    ...policyRuleFields,
    overrides: z
      .array(z.string())
      .max(policyRuleNames.length)
      .meta({
        description:
          'Rules that were set only for this agent, by `toggle` or `PUT /policies/{id}`. They stay when the template is applied or assigned again, until they are set back to the template’s values.',
        examples: [['requireIntent']],
      }),
    assignedAt: instant.nullable(),
    expiresAt: instant
      .nullable()
      .meta({ description: 'The time at which the policy expires (`expiresAfterMinutes`).' }),
    expiredAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'PolicyDetail' })

const ignored = { description: 'Ignored. Accepted so that you can send back a policy as you read it.' }
const readOnly = z.string().max(128).nullable().optional().meta(ignored)

export const PolicyReplaceBody = PolicyCreate.extend({
  version: z.int().min(1).optional().meta({
    description: 'The version that you read. If the policy has another version now, the answer is a 409.',
  }),
  ...Object.fromEntries(
    [
      'id',
      'ownerId',
      'mode',
      'agentId',
      'templateId',
      'assignedAt',
      'expiresAt',
      'expiredAt',
      'createdAt',
      'updatedAt',
    ].map(name => [name, readOnly]),
  ),
  overrides: z.array(z.string().max(64)).max(policyRuleNames.length).optional().meta(ignored),
  ...widening.members,
}).meta({ id: 'PolicyReplaceRequest' })

export const PolicyPresetRecord = z
  .object({
    id: z.string().meta({ examples: ['standard'] }),
    name: z.string().meta({ examples: ['Standard'] }),
    summary: z.string().meta({
      description: 'The kind of agent that the preset is for.',
      examples: ['A working agent with everyday purchases.'],
    }),
    explanation: z.record(z.string(), z.string()).meta({ description: 'Each rule of the preset, in words.' }),
    policy: PolicyCreate.meta({ id: 'PresetPolicy', description: 'The body to send to `POST /policies`.' }),
  })
  .meta({ id: 'PolicyPreset' })

export const PolicyEvent = z.object({
  policyId: id('policy'),
  agentId: agentId.nullable(),
  templateId: id('policy').nullable(),
  name: z.string().max(200),
  version: z.int(),
})

/** The cards of the agent react to it by freezing or closing. */
export const PolicyExpiredEvent = PolicyEvent.extend({ action: z.enum(expirationActions) })
