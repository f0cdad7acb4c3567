import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { del, type Failure, list, missing, nothing, post } from '../../kernel/contract/operation.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { id } from '../../values/ids.ts'
import { freeText, recordHead, recordTail } from '../../values/schemas.ts'
import { MOST_RULES, ruleTypes } from './protect-rule.ts'

const type = z.enum(ruleTypes).meta({
  description: '`deny` comes before `allow`; where there is an allow rule, only what is allowed is paid.',
})

const RuleRecord = z
  .object({
    ...recordHead('protectrule'),
    type,
    merchant: z.string().meta({ examples: ['*.example.com'] }),
    agentId: id('agent').nullable().meta({ description: 'Null = every agent.' }),
    reason: z.string().nullable(),
    ...recordTail,
  })
  .meta({ id: 'ProtectRule' })

const RuleEvent = z.object({
  protectRuleId: id('protectrule'),
  type,
  merchant: z.string(),
  agentId: id('agent').nullable(),
})

const merchant_unclear: Failure = [
  400,
  'merchant: name a host (shop.example.com), all hosts below a domain (*.example.com) or an origin (https://shop.example.com:8443).',
]

export const protectApi = {
  protect: post('/mpp/protect', {
    summary: 'Add a rule on whom machine payments may go to',
    description:
      'Rules read the address that is asked, before the first request and once more before anything is minted: a host, all hosts below a domain, or an origin. A deny rule wins over allow rules; where an agent has allow rules, of its own or for every agent, nothing else is paid.',
    callers: ['key'],
    scope: 'mpp:protect',
    body: withoutCardNumbers(
      z.strictObject({
        type,
        merchant: z
          .string()
          .trim()
          .min(1)
          .max(300)
          .meta({ examples: ['*.example.com'] }),
        agentId: id('agent')
          .optional()
          .meta({ description: 'For this agent only; left out, for every agent.' }),
        reason: freeText.optional(),
      }),
    ),
    example: { type: 'deny', merchant: '*.example.com', reason: 'Charges twice.' },
    returns: [201, RuleRecord],
    fails: {
      merchant_unclear,
      agent_not_found: [404, 'agentId: no such agent.'],
      rule_exists: [400, 'There is such a rule already.'],
      too_many_rules: [400, `There are ${MOST_RULES.toLocaleString('en')} rules already. Delete one.`],
    },
    emits: {
      'mpp.protect_rule.created': event(
        'An owner has said whom machine payments may go to, or must not.',
        RuleEvent,
      ),
    },
  }),
  rules: list('/mpp/protect', {
    summary: 'List the rules on whom machine payments may go to',
    description: 'Newest first. An agent sees its own rules and those for every agent.',
    callers: ['key', 'agent'],
    scope: 'mpp:read',
    filters: { type: z.enum(ruleTypes).optional(), agentId: id('agent').optional() },
    item: RuleRecord,
  }),
  unprotect: del('/mpp/protect/{id}', {
    summary: 'Delete a rule on whom machine payments may go to',
    callers: ['key'],
    scope: 'mpp:protect',
    returns: [204, nothing],
    fails: { protect_rule_not_found: missing('protect rule') },
    emits: {
      'mpp.protect_rule.deleted': event('A rule on machine payments holds no longer.', RuleEvent),
    },
  }),
}
