import { z } from 'zod'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { expirationActions, PolicyCreate, policyRuleFields, policyRuleNames } from '../rules/index.ts'

const { allowedMccs, blockedMccs, attestationWindowMinutes, ...contractRules } = policyRuleFields

const agentId = id('agent')

export const PolicyRecord = z
  .object({
    id: id('policy'),
    agentId: agentId.optional().meta({ description: 'Left out for a template, which is of no agent.' }),
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
    templateId: id('policy').nullable().meta({ description: 'The template it was copied from.' }),
    version: z.int().min(1),
    ...policyRuleFields,
    overrides: z
      .array(z.string())
      .max(policyRuleNames.length)
      .meta({
        description:
          'The rules that were set for this agent alone, by `toggle` or `PUT /policies/{id}`. They stay when the template is applied or assigned again, until they are set back to the template’s values.',
        examples: [['requireIntent']],
      }),
    assignedAt: instant.nullable(),
    expiresAt: instant.nullable().meta({ description: 'When the policy ends, by `expiresAfterMinutes`.' }),
    expiredAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'PolicyDetail' })

const ignored = { description: 'Ignored: accepted so that a policy can be written back as it was read.' }
const readOnly = z.string().max(128).nullable().optional().meta(ignored)

export const PolicyReplaceBody = PolicyCreate.extend({
  version: z.int().min(1).optional().meta({
    description:
      'The version that you read. If it is given and the policy has another one now, the answer is a 409.',
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
}).meta({ id: 'PolicyReplaceRequest' })

export const PolicyPresetRecord = z
  .object({
    id: z.string().meta({ examples: ['standard'] }),
    name: z.string().meta({ examples: ['Standard'] }),
    summary: z.string().meta({
      description: 'For which agents the preset is meant.',
      examples: ['A working agent with everyday purchases.'],
    }),
    explanation: z.record(z.string(), z.string()).meta({ description: 'Each rule that it sets, in words.' }),
    policy: PolicyCreate.meta({ id: 'PresetPolicy', description: 'Post it to `/policies` as it is.' }),
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
