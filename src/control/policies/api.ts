import { z } from 'zod'
import { bySeveral, stepRefusals } from '../../identity/approvals/index.ts'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { emptyBody, notFound, notFoundOrDeleted } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { PolicyCreate } from '../rules/index.ts'
import { policyToggles } from './policy.ts'
import {
  PolicyDetail,
  PolicyEvent,
  PolicyExpiredEvent,
  PolicyPresetRecord,
  PolicyRecord,
  PolicyReplaceBody,
} from './schemas.ts'

const VersionRecord = z
  .object({
    id: id('policyversion'),
    policyId: id('policy'),
    version: z.int(),
    rules: z
      .record(z.string(), z.unknown())
      .meta({ examples: [{ name: 'Research budget', dailyLimitEuros: 200 }] }),
    changes: z
      .array(
        z.object({
          field: z.string().meta({ examples: ['dailyLimitEuros'] }),
          from: z.unknown().meta({ examples: [50] }),
          to: z.unknown().meta({ examples: [70] }),
          text: z.string().meta({ examples: ['Daily limit: € 50.00 → € 70.00'] }),
        }),
      )
      .meta({ description: 'The changes in this version. Empty in the first one.' }),
    changedByType: z.string().meta({ examples: ['key'] }),
    changedById: z.string().nullable(),
    createdAt: instant,
  })
  .meta({ id: 'PolicyVersion' })

const fails = { policy_not_found: notFound('policy'), agent_not_found: notFoundOrDeleted('agent') }

const notAssigned = 'The agent has no policy. Give it one with PUT /policies/agent/{agentId}.'

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'policies:read' })
const writers = operationsFor({ callers: ['key'], scope: 'policies:write' })

export const policiesApi = {
  create: writers.post('/policies', {
    summary: 'Create a spending policy template',
    limits: { bodyKiB: 256 },
    body: PolicyCreate,
    defaultsSince070: ['approval'],
    example: {
      name: 'Research budget',
      maxTransactionEuros: 50,
      dailyLimitEuros: 200,
      autoApproveLimitEuros: 10,
    },
    returns: [201, PolicyRecord],
    fails: stepRefusals,
    emits: { 'policy.created': declareEvent('A policy template has been created.', PolicyEvent) },
  }),
  list: readers.list('/policies', {
    summary: 'List policies',
    description: 'Templates and the agents’ own policies, newest first.',
    filters: {
      kind: z
        .enum(['template', 'agent'])
        .optional()
        .meta({ description: 'Only templates, or only agents’ own policies.' }),
      templateId: id('policy')
        .optional()
        .meta({ description: 'Only agents’ policies that are copies of this template.' }),
    },
    item: PolicyDetail,
  }),
  presets: readers.list('/policies/presets', {
    summary: 'List the built-in presets',
    item: PolicyPresetRecord,
  }),
  preset: readers.getOne('/policies/presets/{presetId}', 'a built-in preset', PolicyPresetRecord, {
    preset_not_found: [404, 'No such preset. GET /policies/presets lists them.'],
  }),
  get: readers.getOne('/policies/{id}', 'a policy', PolicyDetail, {
    policy_not_found: fails.policy_not_found,
  }),
  replace: writers.put('/policies/{id}', {
    summary: 'Replace the rules of a policy',
    description:
      'Rules that you leave out are removed. Agents with a copy of a template keep theirs until `POST /policies/{id}/apply`. Changes to an agent’s own policy apply only to that agent: see `overrides`.',
    limits: { bodyKiB: 256 },
    body: PolicyReplaceBody,
    example: { name: 'Research budget', dailyLimitEuros: 300 },
    returns: [200, PolicyDetail],
    accepted: bySeveral.accepted,
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...bySeveral.fails,
      ...stepRefusals,
      policy_not_found: fails.policy_not_found,
      version_conflict: [409, 'version: the policy has changed since you read it. Read it again.'],
    },
    emits: {
      ...widening.emits,
      ...bySeveral.emits,
      'policy.updated': declareEvent('The rules of a policy have changed.', PolicyEvent),
    },
  }),
  delete: writers.del('/policies/{id}', {
    summary: 'Delete a policy template',
    description: 'Agents that got a copy keep it. Its versions stay readable.',
    returns: [204, emptyBody],
    fails: {
      policy_not_found: fails.policy_not_found,
      policy_assigned: [
        400,
        'This is an agent’s own policy. Assign another one to the agent, or delete the agent.',
      ],
    },
    emits: {
      'policy.deleted': declareEvent(
        'A policy template has been deleted, or a policy with its agent.',
        PolicyEvent,
      ),
    },
  }),
  versions: readers.list('/policies/{id}/versions', {
    summary: 'List the versions of a policy',
    description:
      'Every state that the policy has had, newest first, each with its changes. A deleted policy keeps its versions.',
    item: VersionRecord,
    fails: { policy_not_found: fails.policy_not_found },
  }),
  apply: writers.post('/policies/{id}/apply', {
    summary: 'Apply a changed template to its agents',
    description:
      'Every agent whose policy is a copy of this template gets its current rules. Rules that were set only for one agent stay: `kept` lists them.',
    body: z.strictObject(widening.members),
    returns: [
      200,
      z.object({
        policyId: id('policy'),
        version: z.int(),
        agentIds: z.array(id('agent')),
        agents: z.array(
          z.object({
            agentId: id('agent'),
            kept: z.array(z.string()).meta({
              description: 'Rules that were set only for this agent and stay as they are.',
              examples: [['requireIntent']],
            }),
          }),
        ),
      }),
    ],
    accepted: bySeveral.accepted,
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...bySeveral.fails,
      ...stepRefusals,
      policy_not_found: fails.policy_not_found,
      not_a_template: [400, 'This is an agent’s own policy; only a template can be applied.'],
    },
    emits: {
      ...widening.emits,
      ...bySeveral.emits,
      'policy.applied': declareEvent('A changed template has been applied to its agents.', PolicyEvent),
      'policy.updated': PolicyEvent,
    },
  }),
  assign: writers.put('/policies/agent/{agentId}', {
    summary: 'Give an agent a policy',
    description:
      'The agent gets its own copy of the policy. If its own template is assigned again, rules that were set only for the agent stay. With another template, rules that `toggle` has switched on stay. `overrides` lists them.',
    body: z.strictObject({
      policyId: id('policy').meta({
        description: 'A template of yours, or a preset by its name: `standard`, `travel`, …',
      }),
      ...widening.members,
    }),
    example: { policyId: 'policy_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [200, PolicyDetail],
    accepted: bySeveral.accepted,
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...bySeveral.fails,
      ...stepRefusals,
      ...fails,
      not_a_template: [400, 'policyId: this is an agent’s own policy; name a template.'],
    },
    emits: {
      ...widening.emits,
      ...bySeveral.emits,
      'policy.assigned': declareEvent('An agent has been given its copy of a policy.', PolicyEvent),
    },
  }),
  effective: readers.get('/policies/agent/{agentId}', {
    summary: 'Get the policy an agent spends under',
    tool: {
      name: 'get_policy',
      isCommon: true,
      use: 'Use it to read the rules for the agent: limits, merchants, times, and the amount above which a person must approve.',
    },
    returns: [200, PolicyDetail],
    fails: { agent_not_found: notFound('agent'), no_policy_assigned: [404, notAssigned] },
  }),
  toggle: writers.patch('/policies/agent/{agentId}/toggle', {
    summary: 'Switch one rule of an agent’s effective policy',
    description:
      'Changes the rule for this agent only. It stays when the template is applied or assigned again; switched on, also under another template.',
    body: z.strictObject({
      field: z.enum(policyToggles),
      value: z.boolean(),
      ...widening.members,
    }),
    example: { field: 'requireIntent', value: true },
    returns: [200, PolicyRecord],
    accepted: bySeveral.accepted,
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...bySeveral.fails,
      ...stepRefusals,
      agent_not_found: fails.agent_not_found,
      no_policy_assigned: [400, notAssigned],
    },
    emits: { ...widening.emits, ...bySeveral.emits, 'policy.updated': PolicyEvent },
  }),
}

export const policySteps = {
  /** Does nothing before the policy is due, or once it has ended. */
  expire: step('policies.expire', {
    summary: 'End an agent’s policy',
    emits: { 'policy.expired': declareEvent('An agent’s policy has ended.', PolicyExpiredEvent) },
  }),
}
